"""Offsets of aliases in their allocation: constants, values, and merges of them.

A `view` of contiguous elements is an offset from its source; other views are allocations of their
own.  A merge has one offset if all incoming values have it, and else an offset that is carried with
it at run time:

    %all = nv_tileas.alloc_tensor : <256x64xf16, smem>
    %lo = nv_tileas.view %all[0, 0]                 (%all, 0)
    %hi = nv_tileas.view %all[128, 0]               (%all, 8192)
    %one = scf.if %c { yield %hi } else { yield %hi }      one offset: (%all, 8192)
    %any = scf.if %c { yield %lo } else { yield %hi }      (%all, carried): 0 or 8192 at run time
    %mix = scf.if %c { yield %lo } else { yield %other }   different buffers: no alias, it stays

Found by an optimistic fixpoint, since merges of loops feed one another: every merge is assumed to
have one offset.  A merge that is refuted is marked as moving, and the rest is found again without
that assumption; merges only ever become moving or stay, so that this ends.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field

from xdsl.dialects.arith import SelectOp
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import OpResult, SSAValue

from tileas_xdsl.analysis.memory.buffer_aliases import BufferAliases
from tileas_xdsl.analysis.values.loop_carried_values import Carried, is_inside
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.nv_tileas.compute.scale_tiles import is_rearranged
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of


@dataclass(frozen=True)
class Offset:
    """A number of elements: a constant, and multiples of values.

    A value that is a buffer stands for the offset at which that buffer begins.
    """

    constant: int = 0
    terms: Mapping[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    def plus(self, value: SSAValue | int, factor: int = 1) -> Offset:
        """The sum with a multiple of a value."""
        if isinstance(value, int):
            return Offset(self.constant + value * factor, self.terms)
        return Offset(self.constant, {**self.terms, value: self.terms.get(value, 0) + factor})

    @property
    def known(self) -> int | None:
        """The number, if it is a constant."""
        return None if self.terms else self.constant


@dataclass(frozen=True)
class BufferOffset:
    """`offset` elements after the beginning of `base`."""

    base: SSAValue
    offset: Offset = Offset()


@dataclass(frozen=True)
class Merged:
    """The result for a merge: its constant location, or the buffer that it is part of."""

    base: SSAValue
    offset: BufferOffset | None = None
    """The constant location; None where an offset must be carried at run time."""
    is_alias: bool = True
    """False if parts of different buffers merge."""


class BufferOffsets:
    """Where the merges of a program are; those in `left` count as buffers of their own."""

    def __init__(self, aliases: BufferAliases, left: Collection[Carried] = ()) -> None:
        self._aliases = aliases
        self.left: set[Carried] = set(left)
        """The merges that stay: of different buffers, or given at the beginning."""
        self._moving: set[Carried] = set()
        """The merges without a constant location."""
        self.found: dict[Carried, Merged] = {}
        while not self._settles():
            self.found = {}

    def _settles(self) -> bool:
        """Assume that merges not known to move have one location; return False if one has not.

        Then all other results are discarded, so that they do not depend on the wrong assumption.
        """
        learnt = True
        while learnt:
            learnt = False
            for merge in self._aliases.merges:
                merged = None if merge in self.left else self._merged(merge)
                old = self.found.get(merge)
                if merged is None or merged == old:
                    continue
                learnt = True
                self._note(merge, merged, old)
                if old is not None:
                    return False
        return True

    def _note(self, merge: Carried, merged: Merged, old: Merged | None) -> None:
        """Keep what is known of a merge now; what is learnt once stays."""
        if not merged.is_alias or (old is not None and old.base is not merged.base):
            self.left.add(merge)
            return
        self.found[merge] = merged
        if merged.offset is None or old is not None:
            self._moving.add(merge)

    def _merged(self, merge: Carried) -> Merged | None:
        """What flows into a merge, taken together; None if nothing is known yet."""
        offsets = [p for feed in merge.feeds if (p := self.offset_of(feed.value)) is not None]
        if not offsets:
            return None
        base, offset = offsets[0].base, offsets[0].offset
        if any(other.base is not base for other in offsets) or _is_made_inside(base, merge):
            return Merged(base, is_alias=False)
        moves = any(other.offset != offset for other in offsets)
        if moves or merge in self._moving or any(_is_made_inside(v, merge) for v in offset.terms):
            return Merged(base)
        return Merged(base, offsets[0])

    def offset_of(self, value: SSAValue) -> BufferOffset | None:
        """Where a buffer begins; None if that is not known yet."""
        steps: list[Offset] = []
        while (step := _step_of(value)) is not None:
            source, behind = step
            steps.append(behind)
            value = source
        found = self._offset_of_merge(value)
        if found is None:
            return None
        for behind in reversed(steps):
            found = BufferOffset(found.base, _sum(found.offset, behind))
        return found

    def _offset_of_merge(self, value: SSAValue) -> BufferOffset | None:
        merge = self._aliases.merge_of.get(value)
        if merge is None or merge in self.left:
            return BufferOffset(value)
        merged = self.found.get(merge)
        if merged is None:
            return None
        return merged.offset or BufferOffset(merged.base, Offset().plus(value))


def _is_made_inside(value: SSAValue, merge: Carried) -> bool:
    return not isinstance(merge.op, SelectOp) and is_inside(value, merge.op)


def _sum(one: Offset, other: Offset) -> Offset:
    total = one.plus(other.constant)
    for value, factor in other.terms.items():
        total = total.plus(value, factor)
    return total


def _step_of(value: SSAValue) -> tuple[SSAValue, Offset] | None:
    """The source of a contiguous view, and how many elements after it the view begins."""
    if not isinstance(value, OpResult) or not isinstance(value.op, ViewOp):
        return None
    view = value.op
    if is_rearranged(view.result.type) and not is_rearranged(view.source.type):
        return None
    if view.offset is not None:
        return view.source, Offset(view.offset.value.data)
    strides = _strides(view)
    if strides is None:
        return None
    offset = Offset()
    for index, stride in zip(view.indices, strides, strict=True):
        offset = offset.plus(_number(index), stride)
    return view.source, offset


def _strides(view: ViewOp) -> Sequence[int] | None:
    """The elements between neighbours along each index; None if the view has gaps."""
    source, result = shape_of(view.source.type) or (), shape_of(view.result.type) or ()
    count = len(view.indices)
    if count < 2:
        return (1,) * count
    if len(result) == count or DYNAMIC_INDEX in source[1:]:
        return None
    strides = [1]
    for extent in reversed(source[1:]):
        strides.append(strides[-1] * extent)
    return strides[::-1]


def _number(value: SSAValue) -> SSAValue | int:
    constant = constant_integer(value)
    return value if constant is None else constant
