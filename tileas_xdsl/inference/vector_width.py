"""Vector width of a loop's memory accesses, before iterations are assigned to threads.

The rules are those of TileLang's vectorizer (`src/transform/loop_vectorize.cc`, 0.1.15), decided on
tables: an access allows width w where groups of w iterations touch consecutive elements, the first
of them at a multiple of w, or all the same element.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import gcd, prod

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.program import DYNAMIC, Access, AccessKind, Buffer, Loop, Program, Scope
from tileas_xdsl.layout.composed import AnyLayout
from tileas_xdsl.layout.expr.expression import Number, dimensions_of, symbols_of
from tileas_xdsl.layout.expr.tables import Table, coordinates_of, evaluated
from tileas_xdsl.layout.tables import table

Layouts = Mapping[str, "FragmentMap | AnyLayout"]
"""Layouts that are known: of fragments, and of shared buffers (coordinates to bytes)."""

SAMPLES = (0, 1, 5, 11)
"""Values of what only run time knows: equal remainders of all of them prove divisibility."""

DYNAMIC_SAMPLES = (1, 97, 1009, 31)
"""Values of extents that only run time knows."""

VECTOR_BITS, WIDE_VECTOR_BITS = 128, 256
"""Memory accesses of a thread: 16 bytes; 32 on sm_100 where only global memory is touched."""

INDEX_ELEMENTS = frozenset({"i8", "i16", "i32", "i64", "index"})


@dataclass(frozen=True)
class AccessWidth:
    """`width` is what the access allows alone; `is_memory`: global or shared, and not one value.

    `offsets` are the elements it touches, the innermost iterations last, sampled over unknowns.
    """

    width: int
    is_memory: bool
    offsets: Table


def loop_width(program: Program, loop: Loop, layouts: Layouts) -> int:
    """The widest vector of the innermost variable of a loop that all its accesses allow."""
    limit = _limit(program, loop)
    extent_limit = gcd(limit, _innermost(program, loop))
    widths = [
        access_width(program, loop, access, layouts)
        for access in loop.accesses
        if not (
            access.kind is not AccessKind.WRITE and program.buffers[access.buffer].shape == (1,)
        )
    ]
    updates = gcd(limit, *_update_widths(program, loop))
    casts = gcd(limit, limit // loop.cast_bits) if loop.cast_bits else limit
    memory = gcd(limit, *(own.width for own in widths if own.is_memory))
    registers = [own for own in widths if not own.is_memory]
    # Several statements in a loop are vectorized together: the narrowest access decides for all.
    if _statements(loop) > 1:
        every = gcd(memory, updates, casts, *(own.width for own in registers))
        return gcd(extent_limit, every)
    if not any(own.is_memory for own in widths):
        return gcd(extent_limit, updates, casts, *(own.width for own in registers))
    result = gcd(memory, updates)
    # Memory decides the width, since its accesses cost most. A narrower fragment gives way if its
    # registers are consecutive or equal in groups of that width; else the width shrinks to its own.
    for own in registers:
        if result > own.width and not _allows(own.offsets, result):
            result = gcd(result, own.width)
    return gcd(extent_limit, result)


def access_width(program: Program, loop: Loop, access: Access, layouts: Layouts) -> AccessWidth:
    """What one access of a loop allows, with the buffers laid out as far as is known."""
    limit = _limit(program, loop)
    buffer = program.buffers[access.buffer]
    offsets = _offsets(program, loop, access, layouts.get(access.buffer))
    plain = _offsets(program, loop, access, None)
    is_write = access.kind is AccessKind.WRITE
    is_shared = buffer.scope in {Scope.GLOBAL, Scope.SHARED}
    is_memory = is_shared and (is_write or not _is_uniform(plain, limit))
    return AccessWidth(_width(offsets, limit, buffer.bits, is_write), is_memory, offsets)


def least_padding(width: int, total: int, threads: int) -> int:
    """Of the halves of a width the one that pads `total` iterations least, the widest of those."""
    choices = [width]
    while choices[-1] > 1:
        choices.append(choices[-1] // 2)
    return min(choices, key=lambda choice: (-total) % (threads * choice))


def is_fused(program: Program, loop: Loop) -> bool:
    """Whether TileLang makes one variable of all: extents are powers of two, and no fragments."""
    if len(loop.extents) == 1 or loop.inner:
        return False
    scopes = {program.buffers[access.buffer].scope for access in loop.accesses}
    return Scope.FRAGMENT not in scopes and all(e & (e - 1) == 0 for e in loop.extents)


def _innermost(program: Program, loop: Loop) -> int:
    return loop.total if is_fused(program, loop) else (*loop.extents, *loop.inner)[-1]


def _limit(program: Program, loop: Loop) -> int:
    scopes = {program.buffers[access.buffer].scope for access in loop.accesses}
    is_wide = program.arch.startswith("sm_10") and Scope.SHARED not in scopes
    return WIDE_VECTOR_BITS if is_wide and Scope.GLOBAL in scopes else VECTOR_BITS


def _width(offsets: Table, limit: int, bits: int, is_write: bool) -> int:
    extent = offsets.shape[-1]
    width = gcd(limit, extent)
    least = gcd(width, max(limit // bits, 1))
    uniform = next((w for w in _halves(width) if w >= least and _is_uniform(offsets, w)), None)
    width = least if uniform is None else uniform
    if _is_uniform(offsets, extent):
        return 1 if is_write else width
    if is_write and uniform is not None:
        return 1
    return next(w for w in _halves(width) if _allows(offsets, w))


def _halves(width: int) -> Iterator[int]:
    while width > 1:
        yield width
        width //= 2
    yield 1


def _is_uniform(offsets: Table, width: int) -> bool:
    """Whether the iterations of every aligned group of so many touch one element."""
    extent = offsets.shape[-1]
    first = offsets.reshape(-1, extent)[0]
    if width == 1 or (first[:width] != first[0]).any():
        return False
    whole = extent // width * width
    groups = offsets[..., :whole].reshape(*offsets.shape[:-1], -1, width)
    rest = offsets[..., whole:]
    return bool((groups == groups[..., :1]).all() and (rest == rest[..., :1]).all())


def _allows(offsets: Table, width: int) -> bool:
    if width == 1:
        return True
    if offsets.shape[-1] % width:
        return False
    if _is_uniform(offsets, width):
        return True
    groups = offsets.reshape(*offsets.shape[:-1], -1, width)
    consecutive = np.array_equal(groups, groups[..., :1] + np.arange(width))
    return consecutive and not (offsets[..., 0] % width).any()


def _offsets(
    program: Program, loop: Loop, access: Access, layout: FragmentMap | AnyLayout | None
) -> Table:
    """`(samples, *extents, *inner)`: the elements that the iterations touch.

    Dimensions that the access does not mention have extent 1, but for the innermost; those of a
    fused loop are one.
    """
    buffer = program.buffers[access.buffer]
    extents = _mentioned_extents(program, loop, access)
    samples = range(len(SAMPLES) if _has_unknowns(buffer, access) else 1)
    tables = [
        _offsets_of_sample(buffer, _indices(program, loop, access, extents, k), layout, k)
        for k in samples
    ]
    stacked = np.stack([np.broadcast_to(offsets, extents) for offsets in tables])
    return stacked.reshape(len(samples), -1) if is_fused(program, loop) else stacked


def _has_unknowns(buffer: Buffer, access: Access) -> bool:
    """Whether what is touched depends on more than the iteration."""
    return DYNAMIC in buffer.shape or any(
        index is None or symbols_of(index) for index in access.indices
    )


def _mentioned_extents(program: Program, loop: Loop, access: Access) -> tuple[int, ...]:
    if is_fused(program, loop):
        return loop.extents
    used = {v for index in access.indices if index is not None for v in dimensions_of(index)}
    if None in access.indices:
        used |= _data_variables(program, loop)
    extents = (*loop.extents, *loop.inner)
    last = len(extents) - 1
    return tuple(e if k in used or k == last else 1 for k, e in enumerate(extents))


def _indices(
    program: Program, loop: Loop, access: Access, extents: tuple[int, ...], sample: int
) -> list[Table]:
    coordinates = coordinates_of(extents)
    return [
        _data_values(program, loop, extents, sample)
        if index is None
        else _evaluated(index, coordinates, sample)
        for index in access.indices
    ]


def _evaluated(index: Number, coordinates: Sequence[Table], sample: int) -> Table:
    values = [SAMPLES[sample] + k for k in range(max(symbols_of(index), default=-1) + 1)]
    return evaluated(index, coordinates, values)


def _data_variables(program: Program, loop: Loop) -> set[int]:
    """The variables that values read as indices may depend on."""
    reads = [
        access
        for access in loop.accesses
        if access.kind is AccessKind.READ
        and program.buffers[access.buffer].element in INDEX_ELEMENTS
    ]
    return {
        v for a in reads for index in a.indices if index is not None for v in dimensions_of(index)
    }


def _data_values(program: Program, loop: Loop, extents: tuple[int, ...], sample: int) -> Table:
    """Some value per point of the variables that an index from memory depends on."""
    used = _data_variables(program, loop)
    shape = tuple(e if k in used else 1 for k, e in enumerate(extents))
    return np.random.default_rng(sample).integers(0, 1 << 20, shape)


def _offsets_of_sample(
    buffer: Buffer, indices: Sequence[Table], layout: FragmentMap | AnyLayout | None, sample: int
) -> Table:
    if layout is None:
        strides = _strides(buffer.shape, DYNAMIC_SAMPLES[sample])
        return sum(
            (index * stride for index, stride in zip(indices, strides, strict=True)),
            np.zeros((), dtype=np.int64),
        )
    inside = [index % extent for index, extent in zip(indices, buffer.shape, strict=True)]
    if isinstance(layout, FragmentMap):
        return layout.slot_table[tuple(np.broadcast_arrays(*inside))]
    # Tables of layouts run colexicographically: the first coordinate fastest
    strides = _strides(buffer.shape[::-1], 1)[::-1]
    flat = sum(index * stride for index, stride in zip(inside, strides, strict=True))
    return table(layout)[flat] * 8 // buffer.bits


def _strides(shape: Sequence[int], dynamic: int) -> list[int]:
    extents = [dynamic if extent == DYNAMIC else extent for extent in shape]
    return [prod(extents[k + 1 :]) for k in range(len(extents))]


def _statements(loop: Loop) -> int:
    return sum(access.kind is not AccessKind.READ for access in loop.accesses)


def _update_widths(program: Program, loop: Loop) -> Iterator[int]:
    """Atomic additions: two halves, or four floats since sm_90."""
    for access in loop.accesses:
        if access.kind is AccessKind.UPDATE:
            element = program.buffers[access.buffer].element
            yield {"f16": 2, "bf16": 2, "f32": 4}.get(element, 1)
