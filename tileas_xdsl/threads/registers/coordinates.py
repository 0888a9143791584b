"""Where in its tile each register of a thread belongs, as code computes it."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue

from tileas_xdsl.analysis.register_tiles import (
    LANES,
    AccumulatorLayout,
    ColumnLayout,
    EncodedLayout,
    FlatLayout,
    PlainLayout,
    RegisterLayout,
    RowsLayout,
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
from tileas_xdsl.threads.pipeline.warp_allocation import GROUP
from tileas_xdsl.threads.registers.access_chunk import Piece
from tileas_xdsl.threads.registers.encoded_chunks import encoded_pieces


def pieces(
    e: ThreadBuilder, layout: RegisterLayout, bits: int, *, stored: bool = False
) -> Iterator[Piece]:
    """The pieces of a tile of elements of `bits` that this thread has.

    With `stored`, only those of an encoded layout that no thread before it has.
    """
    if isinstance(layout, EncodedLayout):
        return encoded_pieces(e, layout, bits, stored=stored)
    if isinstance(layout, AccumulatorLayout):
        return _accumulators(e, layout)
    return _plain(e, layout)


def _plain(e: ThreadBuilder, layout: PlainLayout) -> Iterator[Piece]:
    if isinstance(layout, FlatLayout) and len(layout.shape) > 1:
        yield from _short_rows(e, layout)
        return
    column = column_of_thread(e, layout)
    for block in range(layout.blocks):
        row = row_of_block(e, layout, block)
        for k in range(layout.pieces):
            yield Piece(
                block,
                k * layout.vector,
                layout.vector,
                row,
                column,
                k * layout.stride,
                layout.stride,
                block,
            )


def _short_rows(e: ThreadBuilder, layout: FlatLayout) -> Iterator[Piece]:
    """A line that is a matrix of short rows."""
    first, columns = column_of_thread(e, layout), layout.shape[-1]
    for k in range(layout.pieces):
        place = add(e, first, k * layout.stride)
        row, column = divide(e, place, columns), modulo(e, place, columns)
        yield Piece(0, k * layout.vector, layout.vector, row, column, 0, 1, k)


def row_of_block(e: ThreadBuilder, layout: PlainLayout, block: int) -> SSAValue | None:
    """The row that a block of registers is of; None for a line."""
    if not isinstance(layout, RowsLayout):
        return None
    return add(e, group_of_warp(e, layout), layout.groups * block)


def column_of_thread(e: ThreadBuilder, layout: PlainLayout) -> SSAValue:
    """The column of the first register of a thread."""
    if isinstance(layout, ColumnLayout):
        return group_of_warp(e, layout)
    lane = lane_id(e) if layout.lanes == LANES else modulo(e, lane_id(e), layout.lanes)
    sharing = layout.group if isinstance(layout, RowsLayout) else layout.warps
    if sharing == 1:
        return multiply(e, lane, layout.vector)
    thread = add(e, multiply(e, _first_warps(e, sharing), LANES), lane)
    return multiply(e, thread, layout.vector)


def group_of_warp(e: ThreadBuilder, layout: PlainLayout) -> SSAValue:
    """The number of the group, of those that have different rows."""
    if layout.groups == 1:
        return i32_constant(e, 0)
    return divide(e, _first_warps(e, layout.warps), layout.group)


def _first_warps(e: ThreadBuilder, count: int) -> SSAValue:
    """The number of the warp, which begins again after `count`, a power of two."""
    return warp_id(e) if count == e.agent.warps else modulo(e, warp_id(e), count)


def is_first_holder(e: ThreadBuilder, layout: RegisterLayout) -> SSAValue | None:
    """Whether no thread before this one has the same elements; None where all differ.

    The pieces of an encoded layout say it one by one.
    """
    if isinstance(layout, AccumulatorLayout | EncodedLayout):
        return None
    lane = None if layout.lanes == LANES else is_less(e, lane_id(e), i32_constant(e, layout.lanes))
    holds = logical_and(e, lane, is_counted_warp(e, layout))
    if not isinstance(layout, ColumnLayout) or layout.group == 1:
        return holds
    return logical_and(e, holds, is_equal(e, modulo(e, warp_id(e), layout.group), 0))


def is_counted_warp(e: ThreadBuilder, layout: PlainLayout) -> SSAValue | None:
    """Whether the warp has elements of its own; None where all warps have."""
    if layout.warps == e.agent.warps:
        return None
    return is_less(e, warp_id(e), i32_constant(e, layout.warps))


def is_holding_warp(e: ThreadBuilder, layout: PlainLayout) -> SSAValue | None:
    """Whether the warp has elements, of its own or those of others; None where all warps have."""
    holding = e.agent.warps // layout.warps * layout.warps
    return None if holding == e.agent.warps else is_less(e, warp_id(e), i32_constant(e, holding))


def row_of_accumulator(e: ThreadBuilder, layout: AccumulatorLayout) -> SSAValue:
    """The first row of a thread: in its warpgroup's rows, its warp's 16, and lane // 4."""
    inner = add(e, multiply(e, modulo(e, warp_id(e), GROUP), 16), divide(e, lane_id(e), 4))
    if layout.groups == 1:
        return inner
    group = divide(e, warp_id(e), GROUP)
    return add(e, inner, multiply(e, group, 64 * layout.blocks))


def column_of_accumulator(e: ThreadBuilder) -> SSAValue:
    """The first column of a thread in each group of eight."""
    return multiply(e, modulo(e, lane_id(e), 4), 2)


def _accumulators(e: ThreadBuilder, layout: AccumulatorLayout) -> Iterator[Piece]:
    row, column = row_of_accumulator(e, layout), column_of_accumulator(e)
    for block in range(layout.blocks):
        for half in range(2):
            here = add(e, row, 64 * block + 8 * half)
            for group in range(layout.n // 8):
                register, line = 4 * group + 2 * half, 2 * block + half
                yield Piece(block, register, 2, here, column, 8 * group, 8, line)
