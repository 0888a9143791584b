"""`Operation.clone` in a third of xDSL's time: a copy is linked by its fields, part by part.

xDSL makes each operation by its constructor, which sets what is empty, inserts block arguments one
by one, and walks both sides again by four nested generators.  Here one walk copies operations in
the order of the text and keeps the pairs; a second one over the pairs connects operands, which may
be defined after their first use.  Uses are in the same order as in xDSL's copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

from xdsl.ir import Block, Operation, OpResult, Region, SSAValue, SSAValues, Use

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operands_of, operations_of, successors_of

# The links of an operation and of a block are xDSL's own fields.
# pyright: reportPrivateUsage=false

OpT = TypeVar("OpT", bound=Operation)

_valid_name = lru_cache(1 << 12)(SSAValue.extract_valid_name)
"""The name of a copy: without `_1` at its end, as whoever sets a name has it."""


def clone(
    self: OpT,
    value_mapper: dict[SSAValue, SSAValue] | None = None,
    block_mapper: dict[Block, Block] | None = None,
    *,
    clone_name_hints: bool = True,
    clone_operands: bool = True,
) -> OpT:
    """Return a copy of an operation and all inside; the mappers are given what became of what."""
    values = {} if value_mapper is None else value_mapper
    blocks = {} if block_mapper is None else block_mapper
    copying = _Copying(values, blocks, clone_name_hints, [])
    made = copying.operation(self)
    if clone_operands:
        copying.connect()
    return made


def added_uses(op: Operation, operands: Sequence[SSAValue]) -> tuple[Use, ...]:
    """Return uses of these values by an operation, each put in front of the others of its value."""
    uses: list[Use] = []
    for index, value in enumerate(operands):
        use = Use(op, index)
        if (first := value.first_use) is not None:
            use._next_use = first
            first._prev_use = use
        value.first_use = use
        uses.append(use)
    return tuple(uses)


@dataclass(frozen=True)
class _Copying:
    """One copy: what values and blocks became, and the operations whose operands are to be set."""

    values: dict[SSAValue, SSAValue]
    blocks: dict[Block, Block]
    has_names: bool
    pairs: list[tuple[Operation, Operation]]

    def operation(self, op: OpT) -> OpT:
        """Copy an operation and what is inside, without operands."""
        made = type(op).__new__(type(op))
        made.results = SSAValues([OpResult(v.type, made, v.index) for v in op.results])
        made.properties, made.attributes = op.properties.copy(), op.attributes.copy()
        made.location = op.location
        if successors := successors_of(op):
            made.successors = [self.blocks.get(block, block) for block in successors]
        made.regions = tuple([Region() for _ in op.regions])
        for region in made.regions:
            region.parent = made
        made.__post_init__()
        self._map(op.results, made.results)
        if operands_of(op):
            self.pairs.append((op, made))
        for old, new in zip(op.regions, made.regions, strict=True):
            self._fill(old, new)
        return made

    def _fill(self, region: Region, made: Region) -> None:
        """Copy the blocks of a region: all of them first, for operations refer to them."""
        pairs = [(block, Block(arg_types=block.arg_types)) for block in region.blocks]
        self.blocks.update(pairs)
        made.add_block([new for _, new in pairs])
        for old, new in pairs:
            for before, argument in zip(old.args, new.args, strict=True):
                argument.location = before.location
            self._map(old.args, new.args)
            self._link(new, [self.operation(op) for op in operations_of(old)])

    def _link(self, block: Block, ops: list[Operation]) -> None:
        """Make operations those of an empty block."""
        last: Operation | None = None
        for op in ops:
            op.parent, op._prev_op = block, last
            if last is None:
                block._first_op = op
            else:
                last._next_op = op
            last = op
        block._last_op = last

    def _map(self, old: tuple[SSAValue, ...], new: tuple[SSAValue, ...]) -> None:
        for before, value in zip(old, new, strict=True):
            self.values[before] = value
            if self.has_names and before._name is not None:
                value._name = _valid_name(before._name)

    def connect(self) -> None:
        """Give the copies their operands: copies too, or what is outside."""
        found = self.values.get
        for old, new in self.pairs:
            operands = SSAValues([found(value, value) for value in operands_of(old)])
            new._operands, new._operand_uses = operands, added_uses(new, operands)
