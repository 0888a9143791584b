"""Knots: the places where several tiles must have layouts that go together.

An element-wise operation is one, and so is what a loop carries or what the arms of a branch yield.
To change the layout of one tile of a knot is to change all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from tileas_xdsl.analysis.dimensions import with_dimension, without_dimension
from tileas_xdsl.analysis.layout_flow import LayoutRole, encoding_of, layout_role
from tileas_xdsl.dialects.nv_tileas.layout import ExpandDimsOp
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
class Knot:
    """Tiles that go in through `slots` and come out as `outputs`."""

    op: Operation
    slots: tuple[Slot, ...]
    outputs: tuple[SSAValue, ...]

    @property
    def hands_over(self) -> bool:
        """Whether control flow carries the tiles, rather than that an operation computes."""
        return layout_role(self.op) is LayoutRole.HANDOVER

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


def knot_of_result(value: SSAValue, *, handovers: bool) -> Knot | None:
    """The knot that `value` comes out of; those of control flow only if asked for."""
    match value:
        case OpResult(op=op, index=index):
            knot = _computing(op)
            if knot is not None or not handovers or layout_role(op) is not LayoutRole.HANDOVER:
                return _consistent(knot)
            return _consistent(_handing_over(op, index))
        case BlockArgument(block=block, index=index) if handovers:
            return _consistent(_carried_by(block, index))
        case _:
            return None


def knot_of_slot(slot: Slot, *, handovers: bool) -> Knot | None:
    """The knot that a value goes into through `slot`; those of control flow only if asked for."""
    knot = _computing(slot.op)
    if knot is None and handovers:
        knot = _entered(slot)
    return _consistent(knot) if knot is not None and slot in knot.slots else None


def knots_around(op: Operation) -> Iterator[Knot]:
    """The knots of an operation: its own, or one for each tile that it hands over."""
    values: Sequence[SSAValue] = op.results
    if isinstance(op, scf.WhileOp):
        values = (*values, *op.before_region.block.args)
    for value in values:
        knot = knot_of_result(value, handovers=True)
        if knot is not None:
            yield knot
            if not knot.hands_over:
                return


def _computing(op: Operation) -> Knot | None:
    """The knot of an operation that computes tiles of tiles."""
    if layout_role(op) not in (LayoutRole.ELEMENTWISE, LayoutRole.RESHAPING) or op.regions:
        return None
    slots = tuple(Slot(op, k) for k, operand in enumerate(op.operands) if as_tile(operand.type))
    return Knot(op, slots, tuple(op.results)) if slots and op.results else None


def _consistent(knot: Knot | None) -> Knot | None:
    """The knot, if its tiles are laid out as it takes, all slots alike and all outputs alike."""
    if knot is None or not knot.slots:
        return None
    inside = {encoding_of(slot.value.type) for slot in knot.slots}
    outside = {encoding_of(value.type) for value in knot.outputs}
    if len(inside) != 1 or len(outside) != 1:
        return None
    (one,), (other,) = inside, outside
    if one is None or other is None or knot.outer(one) != other:
        return None
    shapes = {shape_of(slot.value.type) for slot in knot.slots}
    return knot if len(shapes) == 1 else None


def _handing_over(op: Operation, index: int) -> Knot | None:
    """The knot of a result of control flow."""
    match op:
        case scf.ForOp():
            return _of_for(op, index)
        case scf.WhileOp():
            return _of_while_body(op, index)
        case scf.IfOp():
            return _knot(op, [_end(op, 0, index), _end(op, 1, index)], [op.results[index]])
        case _:
            return _of_body(op, index)


def _of_for(op: scf.ForOp, index: int) -> Knot | None:
    carried = op.body.block.args[1 + index]
    return _knot(op, [Slot(op, 3 + index), _end(op, 0, index)], [carried, op.results[index]])


def _of_while_head(op: scf.WhileOp, index: int) -> Knot | None:
    carried = op.before_region.block.args[index]
    return _knot(op, [Slot(op, index), _end(op, 1, index)], [carried])


def _of_while_body(op: scf.WhileOp, index: int) -> Knot | None:
    carried = op.after_region.block.args[index]
    return _knot(op, [_end(op, 0, index + 1)], [carried, op.results[index]])


def _of_body(op: Operation, index: int) -> Knot | None:
    """A result that the body yields, as the one payload in that place."""
    if not op.regions:
        return None
    first = len(op.results) - _count_yielded(op)
    return _knot(op, [_end(op, 0, index - first)], [op.results[index]]) if index >= first else None


def _count_yielded(op: Operation) -> int:
    last = op.regions[0].block.last_op
    return 0 if last is None else len(last.operands)


def _entered(slot: Slot) -> Knot | None:
    """The knot of control flow that a value goes into, as an initial value or as yielded."""
    op, index = slot.op, slot.index
    if isinstance(op, scf.ForOp):
        return _of_for(op, index - 3) if index >= 3 else None
    if isinstance(op, scf.WhileOp):
        return _of_while_head(op, index)
    parent, block = op.parent_op(), op.parent
    if parent is None or block is None or block.last_op is not op:
        return None
    if layout_role(parent) is not LayoutRole.HANDOVER:
        return None
    if isinstance(parent, scf.WhileOp):
        if block.parent is parent.after_region:
            return _of_while_head(parent, index)
        return _of_while_body(parent, index - 1) if index >= 1 else None
    if isinstance(parent, scf.ForOp | scf.IfOp):
        return _handing_over(parent, index)
    return _handing_over(parent, len(parent.results) - len(op.operands) + index)


def _carried_by(block: Block, index: int) -> Knot | None:
    """The knot of an argument of the body of a loop."""
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


def _knot(op: Operation, slots: list[Slot | None], outputs: list[SSAValue]) -> Knot | None:
    known = tuple(slot for slot in slots if slot is not None)
    return Knot(op, known, tuple(outputs)) if len(known) == len(slots) else None
