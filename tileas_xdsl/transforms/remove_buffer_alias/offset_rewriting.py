"""Rewrite an alias of one allocation to a view at a selected or loop-carried offset.

    %b = nv_tileas.view %a {offset = 8192} : !t        %o = arith.select %p, %c0, %c8192 : index
    %x = arith.select %p, %a, %b : !t             ->   %x = nv_tileas.view %a[%o] : !t

A loop that carries the buffer carries the offset instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, TensorType
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue, Use
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.memory.buffer_aliases import AliasView
from tileas_xdsl.analysis.memory.buffer_allocation import BufferOffset, Offset
from tileas_xdsl.analysis.values.loop_carried_values import Carried, ForwardedOperand
from tileas_xdsl.dialects.nv_tileas.atoms import UNKNOWN_COPY
from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp
from tileas_xdsl.dialects.nv_tileas.spaces import Tile, element_of, shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.transforms.canonicalization.nv_tileas.decompose_loop import TOKEN_POSITION
from tileas_xdsl.transforms.region_values import drop
from tileas_xdsl.transforms.remove_buffer_alias.alias_plan import Plan


def remove_aliases(plan: Plan) -> None:
    """Rewrite the merges of a plan; nothing else of the program changes its meaning."""
    _Numbers(plan).rewrite()


class _Numbers:
    """One rewriting: everything that is asked of the old program is asked before it changes."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.offsets: Mapping[ForwardedOperand, Offset] = {
            feed: place.offset
            for feed in plan.feeds
            if (place := plan.places.offset_of(feed.value)) is not None
        }
        self.uses: Mapping[SSAValue, Sequence[Use]] = {
            head: plan.outer_uses(head) for merge in plan.removable for head in merge.heads
        }
        self.copied = {
            head for merge in plan.removable for head in merge.heads if plan.is_copied(merge, head)
        }
        self.sources = [feed.value for merge in plan.removable for feed in merge.feeds]
        self.numbers: dict[SSAValue, SSAValue] = {}
        """By head of a merge that moves, the value that tells where it is."""

    def rewrite(self) -> None:
        """Numbers first, then the views at them, and what nothing needs any more last."""
        selects = [m for m in self.plan.removable if isinstance(m.op, arith.SelectOp)]
        carried = [m for m in self.plan.removable if not isinstance(m.op, arith.SelectOp)]
        # A loop or branch that passes an alias on without moving it needs no number for it.
        counted = [m for m in carried if self._moves(m) or TOKEN_POSITION in m.op.attributes]
        for head in _heads(counted):
            self._count(head)
        for head in _heads(m for m in selects if self._moves(m)):
            self._term(head)
        for merge in reversed(self.plan.removable):
            for head in merge.heads:
                self._show(merge, head)
        for merge in counted:
            self._feed(merge)
        drop([m for m in carried if m not in counted])
        _erase([merge.op for merge in selects])
        for value in self.sources:
            _erase_dead_windows(value)

    def _feed(self, merge: Carried) -> None:
        """Let numbers flow in, where buffers did."""
        for feed in merge.feeds:
            at = _Point(InsertPoint.before(feed.op), merge.op)
            feed.op.operands[feed.index] = self._number(self.offsets[feed], at)

    def _moves(self, merge: Carried) -> bool:
        return self.plan.places.found[merge].offset is None

    def _count(self, head: SSAValue) -> None:
        """Make a block argument or result the number that tells where the alias begins."""
        number = Rewriter.replace_value_with_new_type(head, IndexType())
        number.name_hint = None if head.name_hint is None else f"{head.name_hint}_offset"
        self.numbers[head] = number

    def _show(self, merge: Carried, head: SSAValue) -> None:
        """Give the users of an alias a view of its allocation, or a copy in the layout they see."""
        if not (uses := self.uses[head]):
            return
        offset = self.plan.offset_of(merge, head)
        if head in self.copied:
            self._copy(offset, head, uses, merge.op)
            return
        at = _Point(self._behind(merge, head), merge.op)
        shown = self._view(offset, head.type, at)
        if shown is not offset.base:
            shown.name_hint = head.name_hint
        for use in uses:
            use.operation.operands[use.index] = shown

    def _behind(self, merge: Carried, head: SSAValue) -> InsertPoint:
        """Where the view goes: in front of a selection, else behind the definition of `head`."""
        if isinstance(merge.op, arith.SelectOp):
            return InsertPoint.before(merge.op)
        value = self.numbers.get(head, head)
        if isinstance(value, BlockArgument):
            return InsertPoint.at_start(value.block)
        assert isinstance(value, OpResult)
        return InsertPoint.after(value.op)

    def _copy(
        self, offset: BufferOffset, head: SSAValue, uses: Sequence[Use], origin: Operation
    ) -> None:
        """Before each user a copy through registers, which is what threads can do."""
        whole = as_tile(head.type)
        assert whole is not None
        for user in dict.fromkeys(use.operation for use in uses):
            at = _Point(InsertPoint.before(user), origin)
            window = self._view(offset, _unnamed(offset.base.type, head.type), at)
            registers = at.insert(AllocTensorOp(_tile(head.type, Space.RMEM))).results[0]
            at.insert(CopyOp(window, registers, atom=UNKNOWN_COPY))
            tile = at.insert(AllocTensorOp(whole)).results[0]
            at.insert(CopyOp(registers, tile, atom=UNKNOWN_COPY))
            tile.name_hint = head.name_hint
            for use in uses:
                if use.operation is user:
                    user.operands[use.index] = tile

    def _view(self, offset: BufferOffset, type_: Attribute, at: _Point) -> SSAValue:
        known = offset.offset.known
        if known == 0 and type_ == offset.base.type:
            return offset.base
        if known is not None:
            return at.insert(ViewOp(offset.base, type_, offset=known or None)).results[0]
        return at.insert(ViewOp(offset.base, type_, [self._number(offset.offset, at)])).results[0]

    def _number(self, offset: Offset, at: _Point) -> SSAValue:
        """An offset as one value."""
        total: SSAValue | None = None
        for value, factor in offset.terms.items():
            term = self._term(value)
            if factor != 1:
                term = at.insert(arith.MuliOp(term, at.constant(factor))).results[0]
            total = term if total is None else at.insert(arith.AddiOp(total, term)).results[0]
        if total is None:
            return at.constant(offset.constant)
        if offset.constant:
            total = at.insert(arith.AddiOp(total, at.constant(offset.constant))).results[0]
        return total

    def _term(self, value: SSAValue) -> SSAValue:
        """A value of an offset; for an alias that a selection gives, the selected number."""
        if value in self.numbers or value not in self.uses:
            return self.numbers.get(value, value)
        op = value.owner
        assert isinstance(op, arith.SelectOp)
        at = _Point(InsertPoint.before(op), op)
        arms = [self._number(self.offsets[ForwardedOperand(op, index)], at) for index in (1, 2)]
        number = at.insert(arith.SelectOp(op.cond, *arms)).results[0]
        number.name_hint = None if value.name_hint is None else f"{value.name_hint}_offset"
        self.numbers[value] = number
        return number


class _Point:
    """A place to insert operations, with the location of the operation that they are made for."""

    def __init__(self, point: InsertPoint, origin: Operation) -> None:
        self._point = point
        self._location = origin.location

    def insert(self, op: Operation) -> Operation:
        """Insert an operation behind those that were inserted here before."""
        op.location = self._location
        if self._point.insert_before is None:
            self._point.block.add_op(op)
        else:
            self._point.block.insert_ops_before([op], self._point.insert_before)
        return op

    def constant(self, number: int) -> SSAValue:
        """A number of type `index`."""
        return self.insert(arith.ConstantOp(IntegerAttr(number, IndexType()))).results[0]


def _heads(merges: Iterable[Carried]) -> Sequence[SSAValue]:
    return [head for merge in merges for head in merge.heads]


def _erase(ops: Sequence[Operation]) -> None:
    """Erase operations that only one another use."""
    for op in ops:
        op.operands = ()
    for op in ops:
        Rewriter.erase_op(op)


def _unnamed(base: Attribute, type_: Attribute) -> Attribute:
    """The type of a window that lies as its buffer does."""
    if shape_of(base) == shape_of(type_):
        return base
    return _tile(type_, space_of(type_))


def _tile(type_: Attribute, space: Space | None) -> Tile:
    """A tile like another one, in some memory and not laid out."""
    shape, element = shape_of(type_), element_of(type_)
    assert shape is not None
    assert element is not None
    assert space is not None
    return TensorType(element, shape, SpaceAttr(space))


def _erase_dead_windows(value: SSAValue) -> None:
    """Erase windows that nothing uses, the last one first."""
    while isinstance(value, OpResult) and isinstance(op := value.op, AliasView):
        if value.first_use is not None or op.parent is None:
            return
        value = op.operands[0]
        Rewriter.erase_op(op)
