"""Slices of register tiles, and reshapes.

Where the offset is known at compile time the planner of conversions moves the elements; else the
tile goes through shared memory, and each thread computes the addresses of its elements.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    """Slice a register tile; the result has the default layout of its shape."""
    shape = shape_of(op.result.type) or ()
    layout = encoded_layout(e, op, op.result.type) or layout_of(e, op, shape)
    offsets, strides = _offsets(e, op), op.static_strides.get_values()
    _check_strides(op, strides)
    return _taken(e, op, source, layout, offsets, strides)


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
    places = _slice_coordinates(shape, strides)
    known = [n for n in offsets if isinstance(n, int)]
    if len(known) == len(offsets):
        moved = [p + n for p, n in zip(places, known, strict=True)]
        return rearranged(e, op, source, layout, _numbered(moved, whole))
    travelling = carried(e, source)
    room = spilled(e, op, travelling)
    found = _read(e, room, layout, _line(places, whole), _start(e, offsets, whole))
    return _back(e, found, source)


def _back(e: ThreadBuilder, tile: RegisterTile, like: RegisterTile) -> RegisterTile:
    """A tile as the elements that another one has."""
    if tile.element == like.element:
        return tile
    return cast(e, tile, CARRIERS[like.element].back, like.element)


def _slice_coordinates(shape: Sequence[int], strides: Sequence[int]) -> list[Table]:
    """Return by dimension the coordinate of each element of a slice, relative to its offset."""
    numbers = np.arange(prod(shape), dtype=np.int64)
    places = np.unravel_index(numbers, tuple(shape), order="F") if shape else ()
    return [place * stride for place, stride in zip(places, strides, strict=True)]


def _numbered(places: Sequence[Table], whole: Sequence[int]) -> Table:
    """Return the colexicographic indices of the elements of a tile."""
    return np.ravel_multi_index(tuple(places), tuple(whole), order="F").astype(np.int64)


def _line(places: Sequence[Table], whole: Sequence[int]) -> Table:
    """Return linear indices in a row-major tile."""
    return sum(
        (place * prod(whole[axis + 1 :]) for axis, place in enumerate(places)),
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
    e: ThreadBuilder, room: Scratch, layout: RegisterLayout, line: Table, start: SSAValue
) -> RegisterTile:
    """Load the elements at `start + line` of a scratch buffer; `line` follows the layout."""
    held = held_by(layout)
    places = np.where(held < 0, -1, line[np.maximum(held, 0)])
    parts: list[SSAValue] = []
    vectors = vectors_of(layout)
    for block in range(vectors.count):
        row: dict[int, SSAValue] = {}
        for k in range(vectors.length):
            column = places[:, block * vectors.length + k]
            if (column < 0).all():
                continue
            value, constant = tabulated(e, column)
            pointer = advance(e, room.pointer, add(e, start, value))
            guard = holds(e, column >= 0)
            loaded = LoadOp(pointer, room.element, guard, offset=constant)
            row[k] = e.insert(loaded).result
        parts.append(filled(e, row, vectors.length, room.element))
    return RegisterTile(layout, room.element, tuple(parts))


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
    room = spilled(e, op, carried(e, whole))
    places = _line(_slice_coordinates(part.layout.shape, strides), layout.shape)
    _write(e, room, carried(e, part), places, _start(e, offsets, layout.shape))
    synchronize_agent(e)
    return [_back(e, read_back(e, room, layout), whole)]


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
    inside, places = held >= 0, list[Table]()
    for axis, index in enumerate(coordinates_of(held, layout.shape)):
        place, rest = np.divmod(index - offsets[axis], strides[axis])
        inside = inside & (rest == 0) & (place >= 0) & (place < part.layout.shape[axis])
        places.append(place)
    safe = [np.where(inside, place, 0) for place in places]
    found = gathered(e, op, part, np.where(inside, _numbered(safe, part.layout.shape), -1))
    parts: list[SSAValue] = []
    for block, old in enumerate(whole.parts):
        first = block * count
        flags, mine = inside[:, first : first + count], held[:, first : first + count] >= 0
        if not flags.any():
            parts.append(old)
            continue
        new = found.vector(first, count)
        row: dict[int, SSAValue] = {}
        for k in range(count):
            here = flags[mine[:, k], k]
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
    e: ThreadBuilder, room: Scratch, part: RegisterTile, line: Table, start: SSAValue
) -> None:
    """Store a slice at `start + line` of a scratch buffer, each element by its first owner."""
    layout = part.layout
    held = held_by(layout)
    elements, first = np.unique(held, return_index=True)
    writes = np.zeros(held.size, np.bool_)
    writes[first[elements >= 0]] = True
    places = np.where(writes.reshape(held.shape), line[np.maximum(held, 0)], -1)
    count = vectors_of(layout).length
    for block, vector in enumerate(part.parts):
        for k in range(count):
            column = places[:, block * count + k]
            if (column < 0).all():
                continue
            value, constant = tabulated(e, column)
            pointer = advance(e, room.pointer, add(e, start, value))
            guard = holds(e, column >= 0)
            e.insert(StoreOp(element(e, vector, k), pointer, guard, offset=constant))


def reshaped(e: ThreadBuilder, op: ViewOp, found: RegisterTile | Splat) -> Lowered:
    """Elements of a tile in row-major order under another shape, from one of them on."""
    shape = shape_of(op.result.type) or ()
    if isinstance(found, Splat):
        return Splat(shape, found.element, found.constant)
    layout = encoded_layout(e, op, op.result.type) or layout_of(e, op, shape)
    first = _first(e, op, found.layout.shape)
    numbers = np.arange(prod(shape), dtype=np.int64)
    places = np.unravel_index(numbers, shape, order="F") if shape else ()
    line = _line([np.asarray(p, np.int64) for p in places], shape)
    whole = found.layout.shape
    if isinstance(first, int):
        back = np.unravel_index(line + first, whole) if whole else ()
        sources = _numbered(back, whole) if whole else np.zeros(1, np.int64)
        return rearranged(e, op, found, layout, np.broadcast_to(sources, (max(prod(shape), 1),)))
    room = spilled(e, op, carried(e, found))
    return _back(e, _read(e, room, layout, line, first), found)


def _first(e: ThreadBuilder, op: ViewOp, whole: Sequence[int]) -> Number:
    """The position that a view begins at."""
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
