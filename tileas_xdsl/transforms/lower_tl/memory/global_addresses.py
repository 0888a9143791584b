"""Element offsets in global memory: in 32 bits where that is proven, else from a 64-bit base.

An offset is `sum(index * stride)`.  An array that has fewer than 2^31 elements needs 32 bits.  For
others each index is parted into what all threads and iterations share and the rest:

    index 0 = 128 * block + row,  stride 0 dynamic;   index 1 = 64 * k + column,  stride 1 = 1
      base   = array + (128 * block) * stride 0 + 64 * k      in 64 bits, once for an access
      access = base + row * stride 0  (64 bits: the stride has no bound)
                    + column          (32 bits: at most the span of the tile)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import PtrAddOp
from tileas_xdsl.layout.expr.affine_form import AffineForm
from tileas_xdsl.layout.expr.tables import Table
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    as_int64,
    cast_index,
    i32_constant,
    i64_constant,
    index_constant,
    multiply,
)
from tileas_xdsl.threads.codegen.lowered_values import GlobalView
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.index.affine_codegen import Hints
from tileas_xdsl.threads.index.per_thread_tables import Flags
from tileas_xdsl.threads.index.thread_affine import (
    INDEX,
    ThreadAffine,
    at_iteration,
    uniform,
)
from tileas_xdsl.transforms.lower_tl.loops.loop_body_state import LoopBodyState

LIMIT = 1 << 31
"""Numbers below it are `i32`, which index arithmetic is done in."""


def has_32_bit_offsets(view: GlobalView) -> bool:
    """Return whether every element of an array has an offset below 2^31."""
    last = 0
    for extent, stride in zip(view.extents, view.strides, strict=True):
        if not isinstance(extent, int) or not isinstance(stride, int):
            return False
        last += max(extent - 1, 0) * stride
    return last < LIMIT


@dataclass
class WideAddress:
    """The address of an element as a base of 64 bits, and what iterations add to it."""

    work: LoopBodyState
    base: SSAValue
    """The pointer with what all threads and iterations share."""
    wide: tuple[tuple[ThreadAffine, SSAValue | int], ...]
    """Indices with strides, whose products need 64 bits."""
    narrow: ThreadAffine
    """The rest of the offset, in elements."""

    @staticmethod
    def of(
        work: LoopBodyState, pointer: SSAValue, indices: Sequence[ThreadAffine], view: GlobalView
    ) -> WideAddress:
        """Return the address of an element of an array."""
        wide: list[tuple[ThreadAffine, SSAValue | int]] = []
        narrow = uniform(0)
        for index, stride in zip(indices, view.strides, strict=True):
            shared, own = _parted(index)
            if shared is not None:
                pointer = _moved(work, pointer, _number(work, *shared), stride)
            more = narrow.plus(own.times(stride)) if isinstance(stride, int) else None
            if more is not None and _fits(work, more):
                narrow = more
            elif own.terms or own.constant.any():
                wide.append((own, stride))
        return WideAddress(work, pointer, tuple(wide), narrow)

    def at(
        self, step: int, mine: Flags, hints: Hints, size: int, count: int
    ) -> tuple[SSAValue, int]:
        """Return the pointer to `count` elements of `size` bytes, and a constant offset to them."""
        work, e, pointer = self.work, self.work.e, self.base
        writer = work.state.writer
        for index, stride in self.wide:
            value, constant = writer.split(at_iteration(index, step), mine, hints)
            # What iterations share comes first, so that the product is made once for all of them.
            for part in (value, constant):
                pointer = pointer if part in (None, 0) else _moved(work, pointer, part, stride)
        value, constant = writer.split(at_iteration(self.narrow, step), mine, hints)
        value = i32_constant(e, 0) if value is None else value
        if constant < 0 or constant % count:
            value, constant = add(e, value, constant), 0
        return e.insert(PtrAddOp(pointer, value, size * count)).result, constant


def _moved(
    work: LoopBodyState, pointer: SSAValue, index: SSAValue | int, stride: SSAValue | int
) -> SSAValue:
    """Return a pointer advanced by an index times a stride, in 64 bits."""
    e, once = work.e, work.state.writer.once

    def make() -> SSAValue:
        if isinstance(index, int) and isinstance(stride, int):
            return advance(e, pointer, i64_constant(e, index * stride))
        value, factor = (stride, index) if isinstance(index, int) else (index, stride)
        assert isinstance(value, SSAValue)
        if isinstance(factor, SSAValue):
            factor = _wide(work, factor)
        return advance(e, pointer, multiply(e, _wide(work, value), factor))

    return once(("moved", pointer, index, stride), make)


def _wide(work: LoopBodyState, value: SSAValue) -> SSAValue:
    return work.state.writer.once(("i64", value), lambda: as_int64(work.e, value))


_Shared = tuple[dict[SSAValue, int], int]
"""Scalars with their coefficients, and a constant."""


def _parted(index: ThreadAffine) -> tuple[_Shared | None, ThreadAffine]:
    """Return what all threads and iterations share of an index, and the rest, which is small."""
    shared = {v: int(t.flat[0]) for v, t in index.terms.items() if _is_same(t)}
    rest = {v: t for v, t in index.terms.items() if v not in shared}
    low = int(index.constant.min())
    own: ThreadAffine = AffineForm(index.constant - low, rest)
    return ((shared, low) if shared or low else None), own


def _is_same(table: Table) -> bool:
    return bool((table == table.flat[0]).all())


def _number(work: LoopBodyState, terms: dict[SSAValue, int], constant: int) -> SSAValue:
    e = work.e
    total: SSAValue | None = None
    for value, factor in terms.items():
        term = multiply(e, cast_index(e, value, INDEX), factor)
        total = term if total is None else add(e, total, term)
    return index_constant(e, constant) if total is None else add(e, total, constant)


def _fits(work: LoopBodyState, form: ThreadAffine) -> bool:
    """Return whether a form is proven to be less than 2^31 in all threads and iterations."""
    limits = form.range(work.state.ranges.get)
    return limits is not None and all(bool((np.abs(end) < LIMIT).all()) for end in limits)
