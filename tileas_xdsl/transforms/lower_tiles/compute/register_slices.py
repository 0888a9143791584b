"""Lower slices, inserts and reshapes of register tiles.

With static offsets a slice is a permutation of elements between threads, which the planner of
layout conversions carries out (renamed registers, shuffles, or shared memory). Registers cannot be
indexed at run time, so with a dynamic offset the tile is stored to scratch and each thread
computes the addresses of its elements:

    extract_slice %t[0, 8][64, 8]      element (r, c) from (r, c + 8): known, planned
    extract_slice %t[0, %c][64, 8]     store %t row-major; barrier; load [scratch + %c + (r * 16 +
    c)]

where `%t` has 16 columns. An insert with static offsets selects each register from one of two
tiles; with dynamic ones it writes the slice into the scratch copy and loads that.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, i32
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp, InsertSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, cast_index, i32_constant, multiply
from tileas_xdsl.threads.codegen.known_integers import constant_value
from tileas_xdsl.threads.codegen.lowered_values import (
    Lowered,
    RegisterTile,
    Splat,
)
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.convert.element_conversion import CARRIERS
from tileas_xdsl.threads.convert.register_conversion import carried, cast
from tileas_xdsl.threads.index.per_thread_tables import Table, holds, tabulated
from tileas_xdsl.threads.index.rearrangement import layout_of_result
from tileas_xdsl.threads.registers.layout_from_encoding import encoded_layout
from tileas_xdsl.threads.registers.register_gather import (
    coordinates_of,
    gathered,
    held_by,
    rearranged,
)
from tileas_xdsl.threads.registers.register_tile import (
    common_layout,
    in_registers,
    layout_of,
)
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import element, filled
from tileas_xdsl.threads.smem.scratch_buffer import Scratch, read_back, spilled

Number = SSAValue | int


def part_of_registers(e: ThreadBuilder, op: ExtractSliceOp, source: RegisterTile) -> RegisterTile:
    """Slice a register tile; unless its type says so, threads keep what they hold of it.

    Where they hold unequal shares the result has the default layout of its shape.
    """
    shape = shape_of(op.result.type) or ()
    offsets, strides = _offsets(e, op), op.static_strides.get_values()
    _check_strides(op, strides)
    layout = encoded_layout(e, op, op.result.type)
    known = tuple(n for n in offsets if isinstance(n, int))
    if layout is None and len(known) == len(offsets):
        layout = _kept_in_threads(source.layout, known, tuple(strides), shape)
    return _taken(e, op, source, layout or layout_of(e, op, shape), offsets, strides)


@lru_cache(maxsize=256)
def _kept_in_threads(
    whole: RegisterLayout, first: tuple[int, ...], strides: tuple[int, ...], shape: tuple[int, ...]
) -> RegisterLayout | None:
    """The layout of a slice in the registers of its tile; None if threads hold unequal shares."""
    coordinates = _slice_coordinates(shape, strides)
    sources = [p + n for p, n in zip(coordinates, first, strict=True)]
    return layout_of_result([(_colex_indices(sources, whole.shape), whole)], shape, whole.threads)


def _check_strides(op: Operation, strides: Sequence[int]) -> None:
    if DYNAMIC_INDEX in strides:
        raise op_error(op, "takes elements so far apart as is known when it is compiled")


def _offsets(e: ThreadBuilder, op: ExtractSliceOp | InsertSliceOp) -> list[Number]:
    """Return the offsets of a slice, `int` where they are static."""
    dynamic = iter(op.offsets)
    found: list[Number] = []
    for static in op.static_offsets.get_values():
        number: Number = static
        if static == DYNAMIC_INDEX:
            value = e.scalar(next(dynamic))
            known = constant_value(value)
            number = value if known is None else known
        found.append(number)
    return found


def _taken(
    e: ThreadBuilder,
    op: Operation,
    source: RegisterTile,
    layout: RegisterLayout,
    offsets: Sequence[Number],
    strides: Sequence[int],
) -> RegisterTile:
    whole, shape = source.layout.shape, layout.shape
    coordinates = _slice_coordinates(shape, strides)
    known = [n for n in offsets if isinstance(n, int)]
    if len(known) == len(offsets):
        sources = [p + n for p, n in zip(coordinates, known, strict=True)]
        return rearranged(e, op, source, layout, _colex_indices(sources, whole))
    scratch = spilled(e, op, carried(e, source))
    found = _read(e, scratch, layout, _linear(coordinates, whole), _start(e, offsets, whole))
    return _back(e, found, source)


def _back(e: ThreadBuilder, tile: RegisterTile, like: RegisterTile) -> RegisterTile:
    """Cast a tile back to the element type of another, from the one that carried it."""
    if tile.element == like.element:
        return tile
    return cast(e, tile, CARRIERS[like.element].back, like.element)


def _slice_coordinates(shape: Sequence[int], strides: Sequence[int]) -> list[Table]:
    """Return by dimension the coordinate of each element of a slice, relative to its offset."""
    indices = np.arange(prod(shape), dtype=np.int64)
    coordinates = np.unravel_index(indices, tuple(shape), order="F") if shape else ()
    return [axis * stride for axis, stride in zip(coordinates, strides, strict=True)]


def _colex_indices(coordinates: Sequence[Table], whole: Sequence[int]) -> Table:
    """Return the colexicographic indices of the elements of a tile."""
    return np.ravel_multi_index(tuple(coordinates), tuple(whole), order="F").astype(np.int64)


def _linear(coordinates: Sequence[Table], whole: Sequence[int]) -> Table:
    """Return linear indices in a row-major tile."""
    return sum(
        (table * prod(whole[axis + 1 :]) for axis, table in enumerate(coordinates)),
        start=np.zeros(1, np.int64),
    )


def _start(e: ThreadBuilder, offsets: Sequence[Number], whole: Sequence[int]) -> SSAValue:
    """Return the linear offset of a slice in a row-major tile."""
    total = i32_constant(e, 0)
    for axis, offset in enumerate(offsets):
        pitch = prod(whole[axis + 1 :])
        if isinstance(offset, int):
            total = add(e, total, offset * pitch)
        else:
            total = add(e, total, multiply(e, cast_index(e, offset, i32), pitch))
    return total


def _read(
    e: ThreadBuilder, scratch: Scratch, layout: RegisterLayout, offsets: Table, start: SSAValue
) -> RegisterTile:
    """Load the elements at `start + offsets` of a scratch buffer into the registers of a layout."""
    held = held_by(layout)
    addresses = np.where(held < 0, -1, offsets[np.maximum(held, 0)])
    parts: list[SSAValue] = []
    vectors = vectors_of(layout)
    for block in range(vectors.count):
        row: dict[int, SSAValue] = {}
        for k in range(vectors.length):
            column = addresses[:, block * vectors.length + k]
            if (column < 0).all():
                continue
            value, constant = tabulated(e, column)
            pointer = advance(e, scratch.pointer, add(e, start, value))
            guard = holds(e, column >= 0)
            loaded = LoadOp(pointer, scratch.element, guard, offset=constant)
            row[k] = e.insert(loaded).result
        parts.append(filled(e, row, vectors.length, scratch.element))
    return RegisterTile(layout, scratch.element, tuple(parts))


def insert_slice(e: ThreadBuilder, op: InsertSliceOp) -> Sequence[Lowered]:
    """Insert a slice into a tile; the old tile stays unchanged."""
    found, strides = e.get(op.destination), op.static_strides.get_values()
    _check_strides(op, strides)
    layout = common_layout(e, op, op.result.type, [found])
    whole = in_registers(e, op, op.destination, layout)
    part, offsets = in_registers(e, op, op.source), _offsets(e, op)
    known = [n for n in offsets if isinstance(n, int)]
    if len(known) == len(offsets):
        return [_replaced(e, op, whole, part, known, strides)]
    scratch = spilled(e, op, carried(e, whole))
    linear = _linear(_slice_coordinates(part.layout.shape, strides), layout.shape)
    _write(e, scratch, carried(e, part), linear, _start(e, offsets, layout.shape))
    synchronize_agent(e)
    return [_back(e, read_back(e, scratch, layout), whole)]


def _replaced(
    e: ThreadBuilder,
    op: Operation,
    whole: RegisterTile,
    part: RegisterTile,
    offsets: Sequence[int],
    strides: Sequence[int],
) -> RegisterTile:
    """Select each register from one of two tiles."""
    layout, count = whole.layout, vectors_of(whole.layout).length
    held = held_by(layout)
    inside, coordinates = held >= 0, list[Table]()
    for axis, index in enumerate(coordinates_of(held, layout.shape)):
        # Which registers a slice replaces is known for each thread at compile time. `flags` says
        # it: all threads take the new register, none does, or a select on the thread decides.
        in_part, rest = np.divmod(index - offsets[axis], strides[axis])
        inside = inside & (rest == 0) & (in_part >= 0) & (in_part < part.layout.shape[axis])
        coordinates.append(in_part)
    safe = [np.where(inside, table, 0) for table in coordinates]
    found = gathered(e, op, part, np.where(inside, _colex_indices(safe, part.layout.shape), -1))
    parts: list[SSAValue] = []
    for block, old in enumerate(whole.parts):
        first = block * count
        flags, owns = inside[:, first : first + count], held[:, first : first + count] >= 0
        if not flags.any():
            parts.append(old)
            continue
        new = found.vector(first, count)
        row: dict[int, SSAValue] = {}
        for k in range(count):
            here = flags[owns[:, k], k]
            single = element(e, old, k) if not here.all() or not here.size else element(e, new, k)
            if here.any() and not here.all():
                guard = holds(e, flags[:, k])
                assert guard is not None
                chosen = arith.SelectOp(guard, element(e, new, k), single)
                single = e.insert(chosen).result
            row[k] = single
        parts.append(filled(e, row, count, whole.element))
    return RegisterTile(layout, whole.element, tuple(parts))


def _write(
    e: ThreadBuilder, scratch: Scratch, part: RegisterTile, offsets: Table, start: SSAValue
) -> None:
    """Store a slice at `start + offsets` of a scratch buffer, each element by its first owner."""
    layout = part.layout
    held = held_by(layout)
    elements, first = np.unique(held, return_index=True)
    writes = np.zeros(held.size, np.bool_)
    writes[first[elements >= 0]] = True
    addresses = np.where(writes.reshape(held.shape), offsets[np.maximum(held, 0)], -1)
    count = vectors_of(layout).length
    for block, vector in enumerate(part.parts):
        for k in range(count):
            column = addresses[:, block * count + k]
            if (column < 0).all():
                continue
            value, constant = tabulated(e, column)
            pointer = advance(e, scratch.pointer, add(e, start, value))
            guard = holds(e, column >= 0)
            e.insert(StoreOp(element(e, vector, k), pointer, guard, offset=constant))


def reshaped(e: ThreadBuilder, op: ViewOp, found: RegisterTile | Splat) -> Lowered:
    """Lower a view of a register tile: its elements in row-major order under another shape."""
    shape = shape_of(op.result.type) or ()
    if isinstance(found, Splat):
        return Splat(shape, found.element, found.constant)
    layout = encoded_layout(e, op, op.result.type) or layout_of(e, op, shape)
    first = _first(e, op, found.layout.shape)
    indices = np.arange(prod(shape), dtype=np.int64)
    coordinates = np.unravel_index(indices, shape, order="F") if shape else ()
    linear = _linear([np.asarray(p, np.int64) for p in coordinates], shape)
    whole = found.layout.shape
    if isinstance(first, int):
        in_source = np.unravel_index(linear + first, whole) if whole else ()
        sources = _colex_indices(in_source, whole) if whole else np.zeros(1, np.int64)
        return rearranged(e, op, found, layout, np.broadcast_to(sources, (max(prod(shape), 1),)))
    scratch = spilled(e, op, carried(e, found))
    return _back(e, _read(e, scratch, layout, linear, first), found)


def _first(e: ThreadBuilder, op: ViewOp, whole: Sequence[int]) -> Number:
    """Return the row-major index of the element that a view begins at."""
    if op.offset is not None:
        return op.offset.value.data
    numbers: list[Number] = []
    for index in op.indices:
        value = e.scalar(index)
        known = constant_value(value)
        numbers.append(value if known is None else known)
    pitches = [prod(whole[k + 1 :]) for k in range(len(whole))] if len(numbers) > 1 else [1]
    if all(isinstance(n, int) for n in numbers):
        return sum(n * p for n, p in zip(numbers, pitches, strict=False) if isinstance(n, int))
    return _start(e, numbers, whole if len(numbers) > 1 else (1,))


HANDLERS: Handlers = {
    InsertSliceOp: insert_slice,
}
