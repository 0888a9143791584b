"""An agent: an xDSL interpreter whose regions are generators, so that it can wait in any of them.

What an operation means is looked up in a `Language`: most operations compute their results at
once, some run regions or wait for others, and terminators say where control goes next.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter, ReturnedValues, Successor
from xdsl.ir import Block, Operation, Region, SSAValue

from tileas_xdsl.diagnostics.locations import name_of
from tileas_xdsl.interpreters.tile.elementwise import Meaning
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.scheduler import Wait

Values: TypeAlias = tuple[Any, ...]
Steps: TypeAlias = Generator[Wait, None, Values]
"""What may wait on its way to its results."""

Behaviour: TypeAlias = "Callable[[AgentInterpreter, Any, Sequence[Any]], Steps]"
End: TypeAlias = Callable[[Any, Sequence[Any]], ReturnedValues | Successor]


@dataclass(frozen=True)
class Language:
    """What operations mean, by their classes; no class is in two of the tables."""

    meanings: Mapping[type[Operation], Meaning] = field(
        default_factory=dict[type[Operation], Meaning]
    )
    """Operations that neither wait nor have regions."""
    behaviours: Mapping[type[Operation], Behaviour] = field(
        default_factory=dict[type[Operation], Behaviour]
    )
    ends: Mapping[type[Operation], End] = field(default_factory=dict[type[Operation], End])
    """Terminators."""

    def __or__(self, other: Language) -> Language:
        """Both languages; where both know an operation, the one on the right has the word."""
        return Language(
            {**self.meanings, **other.meanings},
            {**self.behaviours, **other.behaviours},
            {**self.ends, **other.ends},
        )


class AgentInterpreter(Interpreter):
    """Runs the operations of one agent.

    A frame holds the values of one call of a function: a loop that runs a block again overwrites
    what the block computed before, as SSA form allows.
    """

    def __init__(self, module: ModuleOp, language: Language, name: str = "agent") -> None:
        super().__init__(module)
        self.name = name
        self.language = language
        self.steps = 0
        """Operations run so far."""
        self._frame: dict[SSAValue, Any] = {}

    def get_values(self, values: Iterable[SSAValue]) -> Values:
        """The values in the frame."""
        frame = self._frame
        return tuple([frame[value] for value in values])

    def set_values(self, pairs: Iterable[tuple[SSAValue, Any]]) -> None:
        """Put values into the frame."""
        self._frame.update(pairs)

    def call(self, callee: str, args: Sequence[Any]) -> Steps:
        """Run the function of this name; its results."""
        function = self.get_op_for_symbol(callee)
        region = function.regions[0]
        expected = len(region.blocks[0].args) if region.blocks else 0
        if not region.blocks:
            raise fault(function, f"@{callee} has no body to run")
        if len(args) != expected:
            raise fault(function, f"@{callee} takes {expected} arguments, but got {len(args)}")
        outer, self._frame = self._frame, {}
        try:
            return (yield from self.run_region(region, args))
        finally:
            self._frame = outer

    def run_region(self, region: Region, args: Sequence[Any] = ()) -> Steps:
        """Run the blocks of a region from its first; what its terminator returns."""
        block: Block | None = region.blocks.first
        while block is not None:
            self.set_values(zip(block.args, args, strict=True))
            end = yield from self._run_block(block)
            if isinstance(end, ReturnedValues):
                return end.values
            block, args = end
        return ()

    def _run_block(self, block: Block) -> Generator[Wait, None, ReturnedValues | Successor]:
        meanings, behaviours = self.language.meanings, self.language.behaviours
        op = block.first_op
        while op is not None:
            inputs = self.get_values(op.operands)
            self.steps += 1
            kind = type(op)
            if (meaning := meanings.get(kind)) is not None:
                results = meaning(op, inputs)
            elif (behaviour := behaviours.get(kind)) is not None:
                results = yield from behaviour(self, op, inputs)
            else:
                return self._end(op, inputs)
            self.set_values(zip(op.results, results, strict=True))
            op = op.next_op
        return ReturnedValues(())

    def _end(self, op: Operation, inputs: Values) -> ReturnedValues | Successor:
        end = self.language.ends.get(type(op))
        if end is None:
            raise fault(op, f"'{name_of(op)}' has no meaning to the interpreter")
        return end(op, inputs)
