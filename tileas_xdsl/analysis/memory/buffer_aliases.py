"""Alias analysis of shared- and tensor-memory buffers, back to their allocation.

A buffer reaches an operation through windows (`view`, `extract_slice`, `reinterpret`), selections
and what control flow carries.  `BufferAliases` walks back through all of them.  A copy gives no
value: the buffer that it writes is its destination, which is followed like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from tileas_xdsl.analysis.values.loop_carried_values import (
    Carried,
    ForwardedOperand,
    by_head,
    carried_by,
)
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import StageOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ReinterpretOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp, ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import ON_CHIP, space_of

AliasView: TypeAlias = ViewOp | ReinterpretOp | ExtractSliceOp
"""The operations that show the memory of their first operand."""


def is_buffer(value: SSAValue) -> bool:
    """Return whether the type of a value is in shared or tensor memory."""
    return space_of(value.type) in ON_CHIP


def is_allocation(value: SSAValue) -> bool:
    """Whether a value is a buffer from its beginning: a new one, or what a stage holds."""
    if isinstance(value, BlockArgument):
        return isinstance(value.block.parent_op(), StageOp)
    return isinstance(value.owner, AllocTensorOp)


def merge_of_select(op: arith.SelectOp) -> Carried:
    """A selection as the merge of its two arms."""
    return Carried(op, (op.result,), (ForwardedOperand(op, 1), ForwardedOperand(op, 2)))


def merges_in(root: Operation) -> Sequence[Carried]:
    """All selections of buffers and buffers that control flow carries, in order.

    What the body of a pipeline operation gives is no alias: it leaves the stage by value.
    """
    return [
        merge
        for op in operations_in(root)
        for merge in _merges_by(op)
        if any(map(is_buffer, merge.heads))
    ]


def _merges_by(op: Operation) -> Sequence[Carried]:
    if type(op) is arith.SelectOp:
        return (merge_of_select(op),)
    return () if isinstance(op, StageOp) else carried_by(op)


@dataclass(frozen=True)
class Roots:
    """The allocations that a buffer may alias, through views and merges."""

    allocations: Sequence[SSAValue]
    others: Sequence[SSAValue]
    """Values at which the walk ends and that are no allocations."""

    @property
    def allocation(self) -> SSAValue | None:
        """The one allocation that the buffer is on every path; None if there is no such one."""
        return None if self.others or len(self.allocations) != 1 else self.allocations[0]


class BufferAliases:
    """Alias information of buffers in `root`; invalidated by changes of the IR."""

    def __init__(self, root: Operation) -> None:
        self.merges: Sequence[Carried] = merges_in(root)
        self.merge_of: Mapping[SSAValue, Carried] = by_head(self.merges)
        self._ends: Mapping[Carried, dict[SSAValue, None]] = {m: {} for m in self.merges}
        """By merge, where the walk back from it ends."""
        while any([self._collect(merge) for merge in self.merges]):
            pass

    def _collect(self, merge: Carried) -> bool:
        """Whether more ends are known of a merge than before."""
        ends = self._ends[merge]
        before = len(ends)
        for feed in merge.feeds:
            ends.update(self._ends_of(feed.value))
        return len(ends) > before

    def _ends_of(self, value: SSAValue) -> dict[SSAValue, None]:
        while (source := self._shown_by(value)) is not None:
            value = source
        merge = self.merge_of.get(value)
        return {value: None} if merge is None else self._ends[merge]

    def _shown_by(self, value: SSAValue) -> SSAValue | None:
        """What a window shows; None for other values."""
        if isinstance(value, OpResult) and isinstance(value.op, AliasView):
            return value.op.operands[0]
        return None

    def roots(self, value: SSAValue) -> Roots:
        """Everything that `value` may be."""
        ends = self._ends_of(value)
        return Roots(
            [end for end in ends if is_allocation(end)],
            [end for end in ends if not is_allocation(end)],
        )

    def allocation_of(self, value: SSAValue) -> SSAValue | None:
        """The canonical allocation of a buffer: the one that it is on every path, or None."""
        return self.roots(value).allocation

    def depth(self) -> int:
        """The most windows and merges between a buffer and its allocation, on any path."""
        depths: dict[SSAValue, int] = {}
        return max((self._depth(h, depths) for m in self.merges for h in m.heads), default=0)

    def _depth(self, value: SSAValue, depths: dict[SSAValue, int]) -> int:
        """Iterative, since chains may be long; what leads back to itself counts once."""
        pending = [value]
        while pending:
            current = pending[-1]
            before = self._before(current)
            if current not in depths:
                depths[current] = 0
                pending += (v for v in before if v not in depths)
                continue
            pending.pop()
            depths[current] = max((depths[v] + 1 for v in before), default=0)
        return depths[value]

    def _before(self, value: SSAValue) -> Sequence[SSAValue]:
        """What `value` shows or merges; nothing at the end of the walk."""
        if (merge := self.merge_of.get(value)) is not None:
            return [feed.value for feed in merge.feeds]
        source = self._shown_by(value)
        return () if source is None else (source,)
