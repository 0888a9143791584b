"""Tied values: tiles whose layouts must change together.

The operands and results of an element-wise operation are tied, and so are the initial value, the
block argument, the yielded value and the result of a loop, or what the arms of a branch yield:

    %r = scf.for %i = ... iter_args(%x = %a) -> tensor<64x64xf32, #L> {
      %y = arith.addf %x, %b : tensor<64x64xf32, #L>
      scf.yield %y : tensor<64x64xf32, #L>
    }

has two sets: `arith.addf` ties %x and %b (slots) to %y (output); the loop ties %a and %y (slots) to
%x and %r (outputs).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import scf
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from tileas_xdsl.analysis.layouts.dimensions import with_dimension, without_dimension
from tileas_xdsl.analysis.layouts.layout_flow import LayoutRole, encoding_of, layout_role
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile


@dataclass(frozen=True)
class Slot:
    """An operand of an operation."""

    op: Operation
    index: int

    @property
    def value(self) -> SSAValue:
        """What is in the slot."""
        return self.op.operands[self.index]

    def set(self, value: SSAValue) -> None:
        """Put another value into the slot."""
        self.op.operands[self.index] = value


@dataclass(frozen=True)
class TiedValues:
    """Tiles that go in through `slots` and come out as `outputs`."""

    op: Operation
    slots: tuple[Slot, ...]
    outputs: tuple[SSAValue, ...]

    @property
    def is_control_flow(self) -> bool:
        """Whether control flow carries the tiles, rather than that an operation computes."""
        return layout_role(self.op) is LayoutRole.REGION_BOUNDARY

    def inner(self, outer: Attribute) -> Attribute | None:
        """The encoding in the slots that goes with `outer` of the outputs; None if none does."""
        if not isinstance(self.op, ExpandDimsOp):
            return outer
        return without_dimension(outer, self.op.axis.value.data)

    def outer(self, inner: Attribute) -> Attribute | None:
        """The encoding of the outputs that goes with `inner` in the slots; None if none does."""
        if not isinstance(self.op, ExpandDimsOp):
            return inner
        return with_dimension(inner, self.op.axis.value.data)


def ties_of_result(value: SSAValue, *, boundaries: bool) -> TiedValues | None:
    """The tied values that `value` comes out of; those of control flow only if asked for."""
    match value:
        case OpResult(op=op, index=index):
            tied = _computing(op)
            if (
                tied is not None
                or not boundaries
                or layout_role(op) is not LayoutRole.REGION_BOUNDARY
            ):
                return _consistent(tied)
            return _consistent(_of_control_flow(op, index))
        case BlockArgument(block=block, index=index) if boundaries:
            return _consistent(_carried_by(block, index))
        case _:
            return None


def ties_of_slot(slot: Slot, *, boundaries: bool) -> TiedValues | None:
    """The tied values that `slot` belongs to; those of control flow only if asked for."""
    tied = _computing(slot.op)
    if tied is None and boundaries:
        tied = _entered(slot)
    return _consistent(tied) if tied is not None and slot in tied.slots else None


def ties_around(op: Operation) -> Iterator[TiedValues]:
    """The tied values of an operation: its own, or a set for each tile that it carries."""
    values: Sequence[SSAValue] = op.results
    if isinstance(op, scf.WhileOp):
        values = (*values, *op.before_region.block.args)
    for value in values:
        tied = ties_of_result(value, boundaries=True)
        if tied is not None:
            yield tied
            if not tied.is_control_flow:
                return


def _computing(op: Operation) -> TiedValues | None:
    """The tied values of an operation that computes tiles of tiles."""
    if layout_role(op) not in (LayoutRole.ELEMENTWISE, LayoutRole.RESHAPING) or op.regions:
        return None
    slots = tuple(Slot(op, k) for k, operand in enumerate(op.operands) if as_tile(operand.type))
    return TiedValues(op, slots, tuple(op.results)) if slots and op.results else None


def _consistent(tied: TiedValues | None) -> TiedValues | None:
    """The tied values, if all slots have one encoding and all outputs the one that goes with it."""
    if tied is None or not tied.slots:
        return None
    inside = {encoding_of(slot.value.type) for slot in tied.slots}
    outside = {encoding_of(value.type) for value in tied.outputs}
    if len(inside) != 1 or len(outside) != 1:
        return None
    (one,), (other,) = inside, outside
    if one is None or other is None or tied.outer(one) != other:
        return None
    shapes = {shape_of(slot.value.type) for slot in tied.slots}
    return tied if len(shapes) == 1 else None


def _of_control_flow(op: Operation, index: int) -> TiedValues | None:
    """The tied values of a result of control flow."""
    match op:
        case scf.ForOp():
            return _of_for(op, index)
        case scf.WhileOp():
            return _of_while_body(op, index)
        case scf.IfOp():
            return _tied(op, [_end(op, 0, index), _end(op, 1, index)], [op.results[index]])
        case _:
            return _of_body(op, index)


def _of_for(op: scf.ForOp, index: int) -> TiedValues | None:
    carried = op.body.block.args[1 + index]
    return _tied(op, [Slot(op, 3 + index), _end(op, 0, index)], [carried, op.results[index]])


def _of_while_head(op: scf.WhileOp, index: int) -> TiedValues | None:
    carried = op.before_region.block.args[index]
    return _tied(op, [Slot(op, index), _end(op, 1, index)], [carried])


def _of_while_body(op: scf.WhileOp, index: int) -> TiedValues | None:
    carried = op.after_region.block.args[index]
    return _tied(op, [_end(op, 0, index + 1)], [carried, op.results[index]])


def _of_body(op: Operation, index: int) -> TiedValues | None:
    """A result that the body yields, as the one payload in that place."""
    if not op.regions:
        return None
    first = len(op.results) - _count_yielded(op)
    return _tied(op, [_end(op, 0, index - first)], [op.results[index]]) if index >= first else None


def _count_yielded(op: Operation) -> int:
    last = op.regions[0].block.last_op
    return 0 if last is None else len(last.operands)


def _entered(slot: Slot) -> TiedValues | None:
    """The tied values of control flow that a value goes into, as an initial value or as yielded."""
    op, index = slot.op, slot.index
    if isinstance(op, scf.ForOp):
        return _of_for(op, index - 3) if index >= 3 else None
    if isinstance(op, scf.WhileOp):
        return _of_while_head(op, index)
    parent, block = op.parent_op(), op.parent
    if parent is None or block is None or block.last_op is not op:
        return None
    if layout_role(parent) is not LayoutRole.REGION_BOUNDARY:
        return None
    if isinstance(parent, scf.WhileOp):
        if block.parent is parent.after_region:
            return _of_while_head(parent, index)
        return _of_while_body(parent, index - 1) if index >= 1 else None
    if isinstance(parent, scf.ForOp | scf.IfOp):
        return _of_control_flow(parent, index)
    return _of_control_flow(parent, len(parent.results) - len(op.operands) + index)


def _carried_by(block: Block, index: int) -> TiedValues | None:
    """The tied values of an argument of the body of a loop."""
    match parent := block.parent_op():
        case scf.ForOp() if index > 0:
            return _of_for(parent, index - 1)
        case scf.WhileOp() if block.parent is parent.before_region:
            return _of_while_head(parent, index)
        case scf.WhileOp():
            return _of_while_body(parent, index)
        case _:
            return None


def _end(op: Operation, region: int, index: int) -> Slot | None:
    """An operand of the terminator of a region."""
    last = op.regions[region].block.last_op if op.regions[region].blocks else None
    return Slot(last, index) if last is not None and index < len(last.operands) else None


def _tied(op: Operation, slots: list[Slot | None], outputs: list[SSAValue]) -> TiedValues | None:
    known = tuple(slot for slot in slots if slot is not None)
    return TiedValues(op, known, tuple(outputs)) if len(known) == len(slots) else None
