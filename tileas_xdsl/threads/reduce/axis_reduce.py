"""Order-preserving reductions of several tiles along any dimension, by any combiner region.

In each thread first, then between lanes, then between warps through shared memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import divide, is_equal, modulo
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.codegen.thread_ids import lane_id
from tileas_xdsl.threads.reduce.ordered_combiner import OrderedCombiner, Row
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import filled


def reduce_axis(e: ThreadBuilder, op: ReduceOp) -> Sequence[RegisterTile]:
    """Return the tiles reduced along a dimension."""
    work = OrderedCombiner.of(e, op)
    rows = [_in_warp(work, work.all_of(work.run(line))) for line in range(work.split.lines)]
    if work.split.warps > 1:
        rows = _between_warps(work, rows)
    return [
        fragment_of_rows(e, tile, work.split.reduced, [row[k] for row in rows])
        for k, tile in enumerate(work.tiles)
    ]


def _in_warp(work: OrderedCombiner, row: Row) -> Row:
    """Combine the lanes that share a line; all of them get the result."""
    e, split = work.e, work.split
    distance = split.line_lanes
    while distance < split.line_lanes * split.lanes:
        other = work.exchanged(row, distance)
        is_lower = is_equal(e, modulo(e, divide(e, lane_id(e), distance), 2), 0)
        first, second = work.chosen(is_lower, row, other), work.chosen(is_lower, other, row)
        row = work.combine(first, second)
        distance *= 2
    return row


def _between_warps(work: OrderedCombiner, rows: Sequence[Row]) -> list[Row]:
    """Combine the warps that share lines; all of them get the result."""
    e, split = work.e, work.split
    scratch_buffers = work.scratch_buffers()
    first = None if split.lanes == 1 else is_equal(e, work.lane_along(), 0)
    for line, row in enumerate(rows):
        work.leave(scratch_buffers, line, row, first)
    synchronize_agent(e)
    return [
        work.all_of([work.left_by(scratch_buffers, line, warp) for warp in range(split.warps)])
        for line in range(split.lines)
    ]


def fragment_of_rows(
    e: ThreadBuilder, like: RegisterTile, layout: RegisterLayout, values: Sequence[SSAValue]
) -> RegisterTile:
    """Scalars, one for each register, as a tile with the elements of another."""
    vectors = vectors_of(layout)
    lines = [values[k : k + vectors.length] for k in range(0, vectors.elements, vectors.length)]
    parts = [filled(e, dict(enumerate(line)), vectors.length, like.element) for line in lines]
    return RegisterTile(layout, like.element, tuple(parts))
