"""An agent: an xDSL interpreter whose regions are generators, so that it can wait in any of them.

The semantics of an operation is looked up in a `Language`: most operations compute their results at
once, some run regions or wait for others, and terminators give the next block.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import Any, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter, ReturnedValues, Successor
from xdsl.ir import Block, Operation, Region, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.locations import name_of
from tileas_xdsl.interpreters.tile.execution.scheduler import Process, Wait
from tileas_xdsl.interpreters.tile.faults import RuleBroken, fault, located
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Actor
from tileas_xdsl.interpreters.tile.memory.views import View, as_tile
from tileas_xdsl.interpreters.tile.numerics.element_types import is_array
from tileas_xdsl.interpreters.tile.synchronization.vector_clocks import Clock
from tileas_xdsl.interpreters.tile.tensor_ops.elementwise import Semantics

Values: TypeAlias = tuple[Any, ...]
Steps: TypeAlias = Generator[Wait, None, Values]
"""A generator that yields waits and returns results."""

Effect: TypeAlias = "Callable[[Any, Any, Sequence[Any]], Values]"
"""The agent (an `AgentInterpreter` or a kind of it), the operation and its operands."""

Behaviour: TypeAlias = "Callable[[Any, Any, Sequence[Any]], Steps]"
End: TypeAlias = Callable[[Any, Sequence[Any]], ReturnedValues | Successor]


@dataclass(frozen=True)
class Language:
    """The semantics of operations by class; no class is in two of the tables."""

    pure: Mapping[type[Operation], Semantics] = field(
        default_factory=dict[type[Operation], Semantics]
    )
    """Pure operations: they neither wait nor have regions, and access no memory."""
    effects: Mapping[type[Operation], Effect] = field(default_factory=dict[type[Operation], Effect])
    """Operations that need the agent (its memory, its tokens), but do not wait."""
    behaviours: Mapping[type[Operation], Behaviour] = field(
        default_factory=dict[type[Operation], Behaviour]
    )
    ends: Mapping[type[Operation], End] = field(default_factory=dict[type[Operation], End])
    """Terminators."""

    def __or__(self, other: Language) -> Language:
        """Return the union; for operations of both, the language on the right wins."""
        return Language(
            {**_unless(self.pure, other), **other.pure},
            {**_unless(self.effects, other), **other.effects},
            {**_unless(self.behaviours, other), **other.behaviours},
            {**_unless(self.ends, other), **other.ends},
        )

    def knows(self, kind: type[Operation]) -> bool:
        """Return whether operations of a class have semantics."""
        return any(kind in table for table in (self.pure, self.effects, self.behaviours, self.ends))


T = TypeVar("T")
OpT = TypeVar("OpT", bound=Operation)


def _unless(table: Mapping[type[Operation], T], other: Language) -> Mapping[type[Operation], T]:
    return {kind: entry for kind, entry in table.items() if not other.knows(kind)}


class Kind(Enum):
    """The table of a language that has an operation."""

    PURE = "pure"
    EFFECT = "effect"
    BEHAVIOUR = "behaviour"
    END = "end"


Step: TypeAlias = (
    "tuple[Operation, Kind, Callable[..., Any], Sequence[SSAValue], Sequence[SSAValue]]"
)
"""An operation, its kind, its semantics, its operands and its results."""


class Code:
    """The blocks of a module with the semantics of their operations, looked up once.

    The module must not change while it runs.
    """

    def __init__(self, language: Language) -> None:
        self.language = language
        self._steps: dict[Block, Sequence[Step]] = {}
        self._facts: dict[Operation, Any] = {}

    def fact(self, op: OpT, find: Callable[[OpT], T]) -> T:
        """Return `find(op)`, computed once per operation: one fact per operation."""
        if op not in self._facts:
            self._facts[op] = find(op)
        return self._facts[op]

    def steps(self, block: Block) -> Sequence[Step]:
        """Return the operations of a block with their semantics."""
        if (known := self._steps.get(block)) is None:
            known = self._steps[block] = [self._step(op) for op in block.ops]
        return known

    def _step(self, op: Operation) -> Step:
        kind, means = self._semantics(op)
        return op, kind, means, tuple(op.operands), tuple(op.results)

    def _semantics(self, op: Operation) -> tuple[Kind, Callable[..., Any]]:
        language, of = self.language, type(op)
        if (meaning := language.pure.get(of)) is not None:
            return Kind.PURE, meaning
        if (effect := language.effects.get(of)) is not None:
            return Kind.EFFECT, effect
        if (behaviour := language.behaviours.get(of)) is not None:
            return Kind.BEHAVIOUR, behaviour
        return Kind.END, language.ends.get(of, _unknown)


def _unknown(op: Operation, _: Sequence[Any]) -> ReturnedValues:
    raise fault(op, f"'{name_of(op)}' has no meaning to the interpreter")


class AgentInterpreter(Interpreter):
    """Runs the operations of one agent.

    A frame holds the values of one call of a function: a loop that runs a block again overwrites
    what the block computed before, as SSA form allows.
    """

    def __init__(
        self,
        module: ModuleOp,
        language: Language,
        name: str = "agent",
        frame: Mapping[SSAValue, Any] | None = None,
        code: Code | None = None,
    ) -> None:
        super().__init__(module)
        self.name = name
        self.code = Code(language) if code is None else code
        self.steps = 0
        """Operations run so far."""
        self.process: Process | None = None
        self._frame: dict[SSAValue, Any] = dict(frame or {})
        self._actor: Actor | None = None

    @property
    def clock(self) -> Clock:
        """The vector clock of the agent."""
        assert self.process is not None
        return self.process.clock

    @property
    def frame(self) -> Mapping[SSAValue, Any]:
        """The SSA values of the current call."""
        return self._frame

    def run_as(self, process: Process) -> None:
        """Set the process that runs the agent."""
        self.process = process
        self._actor = Actor(process.name, process.name, process.clock, title=self.name)

    def actor(self, op: Operation) -> Actor:
        """Return the agent as the actor of accesses at `op`."""
        assert self._actor is not None
        self._actor.op = op
        return self._actor

    def spend(self, cycles: int) -> None:
        """Advance the virtual time of the agent."""
        assert self.process is not None
        self.process.time += cycles

    def value_of(self, value: SSAValue) -> Any:
        """Return the run-time value of an SSA value."""
        return self._frame[value]

    def get_values(self, values: Iterable[SSAValue]) -> Values:
        """Return the run-time values of SSA values."""
        frame = self._frame
        return tuple([frame[value] for value in values])

    def set_values(self, pairs: Iterable[tuple[SSAValue, Any]]) -> None:
        """Set the run-time values of SSA values."""
        self._frame.update(pairs)

    def call(self, callee: str, args: Sequence[Any]) -> Steps:
        """Run a function in a frame of its own; return its results."""
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
        """Run the blocks of a region from its first; return what its terminator gives."""
        block: Block | None = region.blocks.first
        while block is not None:
            self.set_values(zip(block.args, args, strict=True))
            end = yield from self._run_block(block)
            if isinstance(end, ReturnedValues):
                return end.values
            block, args = end
        return ()

    def _run_block(self, block: Block) -> Generator[Wait, None, ReturnedValues | Successor]:
        frame, op = self._frame, None
        try:
            for op, kind, means, operands, names in self.code.steps(block):
                inputs = tuple([frame[value] for value in operands])
                self.steps += 1
                results: Values
                if kind is Kind.PURE:
                    results = self._compute(means, op, inputs)
                elif kind is Kind.EFFECT:
                    results = means(self, op, inputs)
                elif kind is Kind.BEHAVIOUR:
                    results = cast("Values", (yield from means(self, op, inputs)))
                else:
                    return means(op, inputs)
                frame.update(zip(names, results, strict=True))
        except RuleBroken as error:
            raise located(op, error) from error
        return ReturnedValues(())

    def _compute(self, meaning: Semantics, op: Operation, inputs: Values) -> Values:
        """Return the results of a pure operation; views among its operands are loaded."""
        if View in map(type, inputs):
            inputs = tuple([as_tile(value, self.actor(op)) for value in inputs])
        results = meaning(op, inputs)
        if results and is_array(results[0]) and results[0].size > 1:
            self.computed(op, results[0].size)
        return results

    def computed(self, op: Operation, count: int) -> None:
        """Hook for every operation that computed a tile of `count` elements."""
