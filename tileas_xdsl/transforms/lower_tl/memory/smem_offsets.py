"""Shared-memory offsets of buffer elements: layouts applied to affine coordinates.

`swizzle<3,4,3>` of 64 x 64 f16 in rows of 128 bytes; offsets count elements, so that the swizzle's
bits 7 to 9 of the byte address are bits 6 to 8 (448) here:

    %linear = 64 * %i + %j
    %offset = %linear ^ ((%linear & 448) / 8)

A swizzle leaves 16 bytes together: the iterations of a thread within one chunk share the address
and add a constant.  Terms that are multiples of its period (512 elements) stay outside of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import arith
from xdsl.ir import SSAValue

from tileas_xdsl.layout.axes import ANONYMOUS, coefficient_of
from tileas_xdsl.layout.composed import AnyLayout, ComposedLayout
from tileas_xdsl.layout.expr.affine_form import AffineForm
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.swizzle import Swizzle
from tileas_xdsl.layout.tables import evaluate
from tileas_xdsl.threads.codegen.integer_ops import divide, index_constant, xor
from tileas_xdsl.threads.index.per_thread_tables import Flags
from tileas_xdsl.threads.index.thread_affine import (
    ThreadAffine,
    column,
    of_scalar,
    of_table,
    tables_of,
    uniform,
)
from tileas_xdsl.transforms.lower_tl.buffer_locations import SharedLocation
from tileas_xdsl.transforms.lower_tl.loops.loop_body import quotient, remainder
from tileas_xdsl.transforms.lower_tl.loops.loop_body_state import LoopBodyState

CHUNK = 16
"""Bytes that every swizzle leaves together."""


def shared_offset(
    work: LoopBodyState, location: SharedLocation, indices: Sequence[ThreadAffine], size: int
) -> ThreadAffine:
    """Elements of `size` bytes from where a buffer begins."""
    if all(index.is_constant for index in indices):
        return of_table(_known(location, indices) // size)
    swizzle, offset, plain = _parts(location.layout)
    linear = uniform(offset)
    modes = [plain[k] for k in range(plain.rank)] if len(indices) > 1 else [plain]
    for index, mode in zip(indices, modes, strict=True):
        linear = linear.plus(_through(work, index, mode))
    found = linear.divided(size)
    assert found is not None, "elements begin at whole elements"
    return found if swizzle is None else _swizzled(work, found, swizzle, size)


def _known(location: SharedLocation, indices: Sequence[ThreadAffine]) -> np.ndarray:
    """Bytes by table; what is outside of the buffer is taken at its end."""
    coordinates = [
        np.clip(index.constant, 0, extent - 1)
        for index, extent in zip(indices, location.shape, strict=True)
    ]
    linear = np.zeros((1, 1), dtype=np.int64)
    weight = 1
    for coordinate, extent in zip(coordinates, location.shape, strict=True):
        linear, weight = linear + coordinate * weight, weight * extent
    return evaluate(location.layout, linear)


def _parts(layout: AnyLayout) -> tuple[Swizzle | None, int, Layout]:
    """The swizzle on the outside, a constant, and what counts below it."""
    if isinstance(layout, Layout):
        return None, 0, layout
    assert isinstance(layout, ComposedLayout)
    inner = layout.inner
    assert isinstance(layout.outer, Swizzle)
    assert isinstance(inner, Layout)
    return layout.outer if layout.outer.bits else None, layout.offset, inner


def _through(work: LoopBodyState, index: ThreadAffine, mode: Layout) -> ThreadAffine:
    """The bytes that one coordinate counts, digit by digit."""
    total, weight = uniform(0), 1
    leaves = mode.leaves()
    for k, (extent, stride) in enumerate(leaves):
        bytes_ = coefficient_of(stride, ANONYMOUS)
        if extent > 1 and bytes_:
            digit = quotient(work, index, weight) if weight > 1 else index
            if k < len(leaves) - 1:
                digit = remainder(work, digit, extent)
            total = total.plus(digit.times(int(bytes_)))
        weight *= extent
    return total


def _swizzled(
    work: LoopBodyState, linear: ThreadAffine, swizzle: Swizzle, size: int
) -> ThreadAffine:
    """Elements under a byte swizzle, which moves no bits below an element.

    Scalars that count whole periods of the swizzle stay outside of it.
    """
    period = (1 << (swizzle.base + swizzle.bits + abs(swizzle.shift))) // size
    if linear.remainder(period) is not None:
        return AffineForm(swizzle(linear.constant * size) // size, linear.terms)
    chunk = max(CHUNK // size, 1)
    values: list[SSAValue] = []
    starts: list[int] = []
    rows: list[int] = []
    first = 0
    for k in range(work.count):
        if not values or not _follows(linear, first, k, chunk, work.active):
            first = k
            values.append(_flipped(work, work.at(linear, k), swizzle, size))
            if _begins(linear, k, chunk):
                work.e.promised[values[-1]] = chunk
        starts.append(k - first)
        rows.append(len(values) - 1)
    each = np.array(rows)[None, :]
    found = of_table(np.array(starts, dtype=np.int64)[None, :])
    for row, value in enumerate(values):
        found = found.plus(of_scalar(value).times((each == row).astype(np.int64)))
    return found


def _flipped(work: LoopBodyState, at: SSAValue, swizzle: Swizzle, size: int) -> SSAValue:
    e = work.e
    bits = e.insert(arith.AndIOp(at, index_constant(e, swizzle.source_mask // size))).result
    return xor(e, at, divide(e, bits, 1 << swizzle.shift))


def _begins(linear: ThreadAffine, k: int, chunk: int) -> bool:
    """Whether all threads are where a chunk begins."""
    return not any((column(table, k) % chunk).any() for table in tables_of(linear))


def _follows(linear: ThreadAffine, first: int, k: int, chunk: int, active: Flags) -> bool:
    """Whether iteration `k` is in the chunk of `first`, as far behind it as it is later."""
    runs, ran = (column(active, iteration)[:, 0] for iteration in (k, first))
    moved = [column(t, k)[:, 0] - column(t, first)[:, 0] for t in tables_of(linear)]
    return (
        _begins(linear, first, chunk)
        and k - first < chunk
        and not (runs & ~ran).any()
        and bool(((moved[0] == k - first) | ~runs).all())
        and not any(table.any() for table in moved[1:])
    )
