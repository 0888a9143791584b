"""Tile reductions: within each thread, then between the lanes of a warp, then between warps.

Floats narrower than f32 are combined as f32 and rounded once; integers narrower than 32 bits as
i32, since a shuffle moves 32 bits.  This is the fast path for one tile, one operation that may be
reordered, and a suitable layout along the dimension; all else takes the general path.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    VectorType,
)
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES, Blocked, row_values_layout
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.registers.row_values import row_values
from tileas_xdsl.target.mma.warp_tiles import QUAD
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.integer_ops import add, divide, is_equal, logical_and, multiply
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.thread_ids import lane_id, warp_id
from tileas_xdsl.threads.reduce.combiner import Combiner
from tileas_xdsl.threads.reduce.lines_over_lanes import combined_in_warp
from tileas_xdsl.threads.registers.access_chunk import AccessChunk
from tileas_xdsl.threads.registers.coordinates import (
    is_counted_warp,
    is_first_replica,
    row_group,
    thread_chunks,
)
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import (
    assembled,
    element,
    filled,
    joined,
    length,
    strip,
)
from tileas_xdsl.threads.smem.scratch_buffer import scratch


def reduce_accumulator_rows(
    c: Combiner, source: RegisterTile, *, lanes_apart: bool
) -> RegisterTile:
    """Reduce rows of an accumulator, each of which four neighbouring lanes hold.

    With `lanes_apart` each lane keeps what it has of a row.
    """
    e, layout = c.e, source.layout
    values: dict[int, SSAValue] = {}
    for block, part in enumerate(map(c.widened, source.parts)):
        for half in range(2):
            pairs = range(2 * half, length(part), 4)
            line = c.all_of([strip(e, part, first, 2) for first in pairs])
            value = c.in_thread_of_wide(line)
            if not lanes_apart:
                value = c.in_warp(value, QUAD)
            values[2 * block + half] = c.narrowed(value)
    spread = row_values(layout.layout)
    assert spread is not None, "accumulators are digits, each held once"
    rows = RegisterLayout(spread, layout.shape[:1], layout.threads)
    part = filled(e, values, vectors_of(rows).length, c.element)
    return RegisterTile(rows, c.element, (part,))


def reduce_row_groups(
    c: Combiner, op: Operation, source: RegisterTile, rows: Blocked
) -> RegisterTile:
    """Whole rows are in groups of warps: what is left of them all lanes have."""
    values = combined_in_warp(c, [c.in_thread(part) for part in source.parts], rows.lanes)
    if rows.warps > 1:
        values = _between_warps_of_groups(c, op, values, rows)
    part = joined(c.e, [c.narrowed(value) for value in values])
    return RegisterTile(row_values_layout(source.layout), c.element, (part,))


def _between_warps_of_groups(
    c: Combiner, op: Operation, values: Sequence[SSAValue], rows: Blocked
) -> list[SSAValue]:
    """Combine the row values of all warps of a group: each warp stores a line in shared memory."""
    e, count = c.e, len(values)
    buffer = scratch(e, op, rows.used_warps * count, c.wide)
    alignment = min(ACCESS_BYTES, count * buffer.size)
    first = logical_and(e, is_equal(e, lane_id(e), 0), is_counted_warp(e, rows))
    own_slot = advance(e, buffer.pointer, multiply(e, warp_id(e), count), alignment)
    e.insert(StoreOp(joined(e, values), own_slot, first))
    synchronize_agent(e)
    begin = multiply(e, row_group(e, rows), rows.warps * count)
    lines = advance(e, buffer.pointer, begin, alignment)
    type_ = VectorType(c.wide, [count])
    found = [e.insert(LoadOp(lines, type_, offset=k * count)).result for k in range(rows.warps)]
    part = c.all_of(found)
    return [element(e, part, k) for k in range(count)]


def reduce_to_scalar(
    c: Combiner, op: Operation, source: RegisterTile, form: Blocked, layout: RegisterLayout
) -> RegisterTile:
    """A line to one element, which all threads get."""
    value = c.in_warp(c.in_thread(source.parts[0]), form.lanes)
    if form.warps > 1:
        value = _between_warps(c, op, value, source.layout, form)
    return RegisterTile(layout, c.element, (joined(c.e, [c.narrowed(value)]),))


def _between_warps(
    c: Combiner, op: Operation, value: SSAValue, layout: RegisterLayout, form: Blocked
) -> SSAValue:
    e, count = c.e, form.warps
    buffer = scratch(e, op, count, c.wide)
    holds = is_first_replica(e, layout)
    first = logical_and(e, is_equal(e, lane_id(e), 0), holds)
    e.insert(StoreOp(value, advance(e, buffer.pointer, divide(e, warp_id(e), form.copies)), first))
    synchronize_agent(e)
    found = e.insert(LoadOp(buffer.pointer, VectorType(c.wide, [count]))).result
    return c.all_of([element(e, found, k) for k in range(count)])


def reduce_columns(
    c: Combiner, op: Operation, source: RegisterTile, rows: Blocked, layout: RegisterLayout
) -> RegisterTile:
    """Each thread combines its rows, and through shared memory those of all warps."""
    e = c.e
    part = c.all_of([c.widened(value) for value in source.parts])
    buffer = scratch(e, op, rows.row_warps * rows.columns, c.wide)
    line = multiply(e, row_group(e, rows), rows.columns)
    holds = is_first_replica(e, source.layout)
    for chunk in list(thread_chunks(e, source.layout, bits_of(c.wide)))[: rows.chunks]:
        value = strip(e, part, chunk.register, chunk.count)
        pointer = advance(e, buffer.pointer, add(e, line, chunk.column), chunk.count * buffer.size)
        e.insert(StoreOp(value, pointer, holds, offset=chunk.shift))
    synchronize_agent(e)

    def load(chunk: AccessChunk) -> SSAValue:
        type_ = VectorType(c.wide, [chunk.count])
        pointer = advance(e, buffer.pointer, chunk.column, chunk.count * buffer.size)
        columns = [chunk.shift + group * rows.columns for group in range(rows.row_warps)]
        found = [e.insert(LoadOp(pointer, type_, offset=at)).result for at in columns]
        return c.narrowed(c.all_of(found))

    return assembled(e, layout, c.element, load)
