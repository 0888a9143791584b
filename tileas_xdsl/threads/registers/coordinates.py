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
from tileas_xdsl.threads.codegen.builder import Emitter
from tileas_xdsl.threads.pipeline.warp_allocation import GROUP
from tileas_xdsl.threads.registers.access_chunk import Piece
from tileas_xdsl.threads.registers.encoded_chunks import encoded_pieces


def pieces(
    e: Emitter, layout: RegisterLayout, bits: int, *, stored: bool = False
) -> Iterator[Piece]:
    """The pieces of a tile of elements of `bits` that this thread has.

    With `stored`, only those of an encoded layout that no thread before it has.
    """
    if isinstance(layout, EncodedLayout):
        return encoded_pieces(e, layout, bits, stored=stored)
    if isinstance(layout, AccumulatorLayout):
        return _accumulators(e, layout)
    return _plain(e, layout)


def _plain(e: Emitter, layout: PlainLayout) -> Iterator[Piece]:
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


def _short_rows(e: Emitter, layout: FlatLayout) -> Iterator[Piece]:
    """A line that is a matrix of short rows."""
    first, columns = column_of_thread(e, layout), layout.shape[-1]
    for k in range(layout.pieces):
        place = e.add(first, k * layout.stride)
        row, column = e.divide(place, columns), e.remainder(place, columns)
        yield Piece(0, k * layout.vector, layout.vector, row, column, 0, 1, k)


def row_of_block(e: Emitter, layout: PlainLayout, block: int) -> SSAValue | None:
    """The row that a block of registers is of; None for a line."""
    if not isinstance(layout, RowsLayout):
        return None
    return e.add(group_of_warp(e, layout), layout.groups * block)


def column_of_thread(e: Emitter, layout: PlainLayout) -> SSAValue:
    """The column of the first register of a thread."""
    if isinstance(layout, ColumnLayout):
        return group_of_warp(e, layout)
    lane = e.lane if layout.lanes == LANES else e.remainder(e.lane, layout.lanes)
    sharing = layout.group if isinstance(layout, RowsLayout) else layout.warps
    if sharing == 1:
        return e.multiply(lane, layout.vector)
    thread = e.add(e.multiply(_first_warps(e, sharing), LANES), lane)
    return e.multiply(thread, layout.vector)


def group_of_warp(e: Emitter, layout: PlainLayout) -> SSAValue:
    """The number of the group, of those that have different rows."""
    if layout.groups == 1:
        return e.int32(0)
    return e.divide(_first_warps(e, layout.warps), layout.group)


def _first_warps(e: Emitter, count: int) -> SSAValue:
    """The number of the warp, which begins again after `count`, a power of two."""
    return e.warp if count == e.agent.warps else e.remainder(e.warp, count)


def is_first_holder(e: Emitter, layout: RegisterLayout) -> SSAValue | None:
    """Whether no thread before this one has the same elements; None where all differ.

    The pieces of an encoded layout say it one by one.
    """
    if isinstance(layout, AccumulatorLayout | EncodedLayout):
        return None
    lane = None if layout.lanes == LANES else e.is_less(e.lane, e.int32(layout.lanes))
    holds = e.both(lane, is_counted_warp(e, layout))
    if not isinstance(layout, ColumnLayout) or layout.group == 1:
        return holds
    return e.both(holds, e.is_equal(e.remainder(e.warp, layout.group), 0))


def is_counted_warp(e: Emitter, layout: PlainLayout) -> SSAValue | None:
    """Whether the warp has elements of its own; None where all warps have."""
    if layout.warps == e.agent.warps:
        return None
    return e.is_less(e.warp, e.int32(layout.warps))


def is_holding_warp(e: Emitter, layout: PlainLayout) -> SSAValue | None:
    """Whether the warp has elements, of its own or those of others; None where all warps have."""
    holding = e.agent.warps // layout.warps * layout.warps
    return None if holding == e.agent.warps else e.is_less(e.warp, e.int32(holding))


def row_of_accumulator(e: Emitter, layout: AccumulatorLayout) -> SSAValue:
    """The first row of a thread: in its warpgroup's rows, its warp's 16, and lane // 4."""
    inner = e.add(e.multiply(e.remainder(e.warp, GROUP), 16), e.divide(e.lane, 4))
    if layout.groups == 1:
        return inner
    group = e.divide(e.warp, GROUP)
    return e.add(inner, e.multiply(group, 64 * layout.blocks))


def column_of_accumulator(e: Emitter) -> SSAValue:
    """The first column of a thread in each group of eight."""
    return e.multiply(e.remainder(e.lane, 4), 2)


def _accumulators(e: Emitter, layout: AccumulatorLayout) -> Iterator[Piece]:
    row, column = row_of_accumulator(e, layout), column_of_accumulator(e)
    for block in range(layout.blocks):
        for half in range(2):
            here = e.add(row, 64 * block + 8 * half)
            for group in range(layout.n // 8):
                register, line = 4 * group + 2 * half, 2 * block + half
                yield Piece(block, register, 2, here, column, 8 * group, 8, line)
