"""The tile coordinates of each register of a thread, as generated code.

Blocked layouts and wgmma accumulators have a closed form: a few shifts of the lane and the warp,
and constants.  Any other layout is computed from its table (`encoded_chunks`).
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue

from tileas_xdsl.layout.registers.blocked import Blocked, blocked
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.units import WARP, WARPGROUP_WARPS
from tileas_xdsl.target.mma.warp_tiles import (
    PAIR,
    QUAD,
    WGMMA_ROWS,
    columns_of_warpgroup,
    has_whole_rows,
    instructions_of,
    is_accumulator,
    warpgroup_grid,
    warpgroups_of,
)
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    divide,
    i32_constant,
    is_equal,
    is_less,
    logical_and,
    modulo,
    multiply,
)
from tileas_xdsl.threads.codegen.thread_ids import lane_id, warp_id
from tileas_xdsl.threads.registers.access_chunk import AccessChunk
from tileas_xdsl.threads.registers.encoded_chunks import encoded_access_chunks


def thread_chunks(
    e: ThreadBuilder, layout: RegisterLayout, bits: int, *, stored: bool = False
) -> Iterator[AccessChunk]:
    """The chunks of a tile of elements of `bits` that this thread has.

    With `stored`, only those of a layout without closed form that no thread before it has.
    """
    form = blocked(layout)
    if form is not None:
        return _blocked(e, form)
    if is_accumulator(layout):
        return _accumulators(e, layout)
    return encoded_access_chunks(e, layout, bits, stored=stored)


def _blocked(e: ThreadBuilder, form: Blocked) -> Iterator[AccessChunk]:
    if form.crosses_rows:
        yield from _short_rows(e, form)
        return
    column, vector = column_of_thread(e, form), form.vector
    first = row_group(e, form) if form.is_by_rows else None
    for block in range(form.blocks):
        below = form.row_warps * block
        row = None if first is None else add(e, first, below)
        for k in range(form.chunks):
            place = (k * vector, vector, row, column, k * form.stride, form.stride)
            yield AccessChunk(block, *place, block, first_row=first, row_shift=below)


def _short_rows(e: ThreadBuilder, form: Blocked) -> Iterator[AccessChunk]:
    """The chunks of a line that is a matrix of short rows."""
    first, columns = column_of_thread(e, form), form.shape[-1]
    if form.stride % columns == 0:
        # The next chunk of a thread is whole rows below: one column, and constants between rows.
        top, column = divide(e, first, columns), modulo(e, first, columns)
        for k in range(form.chunks):
            below = k * form.stride // columns
            place = (k * form.vector, form.vector, add(e, top, below), column, 0, 1, k)
            yield AccessChunk(0, *place, first_row=top, row_shift=below)
        return
    for k in range(form.chunks):
        place = add(e, first, k * form.stride)
        row, column = divide(e, place, columns), modulo(e, place, columns)
        yield AccessChunk(0, k * form.vector, form.vector, row, column, 0, 1, k)


def row_group(e: ThreadBuilder, form: Blocked) -> SSAValue:
    """The index of this warp's group of warps, of those that have different rows."""
    if form.row_warps == 1:
        return i32_constant(e, 0)
    return divide(e, _first_warps(e, form.used_warps), form.warps)


def column_of_thread(e: ThreadBuilder, form: Blocked) -> SSAValue:
    """The column of the first register of a thread."""
    if form.is_row_values:
        return _warp_of_line(e, form)
    lane = lane_id(e) if form.lanes == WARP else modulo(e, lane_id(e), form.lanes)
    if form.warps == 1:
        return multiply(e, lane, form.vector)
    thread = add(e, multiply(e, _first_warps(e, form.warps), WARP), lane)
    return multiply(e, thread, form.vector)


def _warp_of_line(e: ThreadBuilder, form: Blocked) -> SSAValue:
    """The index of the warp among those that have different elements of a line."""
    if form.warps == 1:
        return i32_constant(e, 0)
    return divide(e, _first_warps(e, form.used_warps), form.copies)


def _first_warps(e: ThreadBuilder, count: int) -> SSAValue:
    """The index of the warp modulo `count`, a power of two."""
    return warp_id(e) if count == e.agent.warps else modulo(e, warp_id(e), count)


def is_first_replica(e: ThreadBuilder, layout: RegisterLayout) -> SSAValue | None:
    """Return an `i1`: this thread is the first replica of its elements; None without replication.

    Only for layouts with a closed form: chunks of other layouts carry the predicate themselves.
    """
    form = blocked(layout)
    if form is None:
        return None
    lane = None if form.lanes == WARP else is_less(e, lane_id(e), i32_constant(e, form.lanes))
    holds = logical_and(e, lane, is_counted_warp(e, form))
    if form.copies == 1:
        return holds
    return logical_and(e, holds, is_equal(e, modulo(e, warp_id(e), form.copies), 0))


def is_counted_warp(e: ThreadBuilder, form: Blocked) -> SSAValue | None:
    """Whether the warp has elements of its own; None where all warps have."""
    if form.used_warps == e.agent.warps:
        return None
    return is_less(e, warp_id(e), i32_constant(e, form.used_warps))


def is_holding_warp(e: ThreadBuilder, form: Blocked) -> SSAValue | None:
    """Whether the warp has elements, of its own or copies; None where all warps have."""
    holding = e.agent.warps // form.used_warps * form.used_warps
    return None if holding == e.agent.warps else is_less(e, warp_id(e), i32_constant(e, holding))


def row_of_accumulator(e: ThreadBuilder, layout: RegisterLayout) -> SSAValue:
    """The first row of a thread: in its warpgroup's rows, its warp's 16, and lane // 4."""
    inner = add(
        e, multiply(e, modulo(e, warp_id(e), WARPGROUP_WARPS), 16), divide(e, lane_id(e), QUAD)
    )
    first, _ = warpgroup_origin(e, layout)
    return inner if first is None else add(e, inner, first)


def column_of_accumulator(e: ThreadBuilder, layout: RegisterLayout) -> SSAValue:
    """The first column of a thread in each group of eight."""
    inner = multiply(e, modulo(e, lane_id(e), QUAD), PAIR)
    _, first = warpgroup_origin(e, layout)
    return inner if first is None else add(e, inner, first)


def warpgroup_index(
    e: ThreadBuilder, layout: RegisterLayout
) -> tuple[SSAValue | None, SSAValue | None]:
    """The index of a warpgroup among those that share rows, and columns; None without others."""
    by_row, by_column = warpgroup_grid(layout.shape[0], warpgroups_of(layout))
    if by_row == by_column == 1:
        return None, None
    group = divide(e, warp_id(e), WARPGROUP_WARPS)
    if by_column == 1:
        return group, None
    if by_row == 1:
        return None, group
    return modulo(e, group, by_row), divide(e, group, by_row)


def warpgroup_origin(
    e: ThreadBuilder, layout: RegisterLayout
) -> tuple[SSAValue | None, SSAValue | None]:
    """The first row and column of a warpgroup's accumulators; None where all have the same."""
    row, column = warpgroup_index(e, layout)
    rows, columns = WGMMA_ROWS * instructions_of(layout), columns_of_warpgroup(layout)
    return (
        None if row is None else multiply(e, row, rows),
        None if column is None else multiply(e, column, columns),
    )


def _accumulators(e: ThreadBuilder, layout: RegisterLayout) -> Iterator[AccessChunk]:
    row, column = row_of_accumulator(e, layout), column_of_accumulator(e, layout)
    halves, span = range(2 * instructions_of(layout)), 8 if has_whole_rows(layout) else 1
    rows = [add(e, row, WGMMA_ROWS * (line // 2) + 8 * (line % 2)) for line in halves]
    for group in range(columns_of_warpgroup(layout) // 8):
        for line, here in enumerate(rows):
            register = 4 * group + 2 * (line % 2)
            yield AccessChunk(line // 2, register, PAIR, here, column, 8 * group, span, line)
