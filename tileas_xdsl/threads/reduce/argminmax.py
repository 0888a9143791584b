"""Reductions over rows of several tiles at once with a commutative combiner, such as argmax.

Elements are combined in each thread first, then between lanes by shuffles, then through shared
memory between the warps that share rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileas_xdsl.analysis.axis_layouts import AxisSplit
from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.layout.blocked import Blocked, row_values_layout
from tileas_xdsl.layout.register_layout import RegisterLayout
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, is_equal, logical_and, multiply
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.thread_ids import lane_id, warp_id
from tileas_xdsl.threads.reduce.ordered_combiner import OrderedCombiner, Row
from tileas_xdsl.threads.registers.coordinates import is_counted_warp, row_group
from tileas_xdsl.threads.registers.register_tile import in_registers
from tileas_xdsl.threads.registers.vector_values import element, joined
from tileas_xdsl.threads.smem.scratch_buffer import scratch

FACTOR = 3
"""Maximum ratio of combinations done in the given layout to those after a conversion."""


def is_near(rows: Blocked, agent_warps: int) -> bool:
    """Return whether reducing in the given layout takes few more combinations than elsewhere."""
    split = AxisSplit.of(rows.shape, len(rows.shape) - 1, agent_warps)
    here = rows.blocks * (rows.registers + rows.lanes.bit_length() + rows.warps - 3)
    there = split.lines * (split.run + split.lanes.bit_length() + split.warps - 3)
    return here <= FACTOR * there


def reduce_rows(
    e: ThreadBuilder, op: ReduceOp, layout: RegisterLayout, rows: Blocked
) -> Sequence[RegisterTile]:
    """Return one value per row of each tile."""
    split = AxisSplit.of(rows.shape, len(rows.shape) - 1, e.agent.warps)
    tiles = [in_registers(e, op, source, layout) for source in op.sources]
    work = OrderedCombiner(e, op, split, tiles)
    values = [_in_warp(work, rows, block) for block in range(rows.blocks)]
    if rows.warps > 1:
        values = _between_warps(work, rows, values)
    return [
        RegisterTile(
            row_values_layout(layout), tile.element, (joined(e, [row[k] for row in values]),)
        )
        for k, tile in enumerate(tiles)
    ]


def _in_warp(work: OrderedCombiner, rows: Blocked, block: int) -> Row:
    """Combine the lanes of a warp that share a row; all of them get the result."""
    parts = [tile.parts[block] for tile in work.tiles]
    mine = [[element(work.e, part, k) for part in parts] for k in range(rows.registers)]
    row, distance = work.all_of(mine), rows.lanes // 2
    while distance:
        row = work.combine(row, work.exchanged(row, distance))
        distance //= 2
    return row


def _between_warps(work: OrderedCombiner, rows: Blocked, values: Sequence[Row]) -> list[Row]:
    """Combine the warps that share rows; all of them get the result."""
    e, count = work.e, len(values)
    rooms = [scratch(e, work.op, rows.used_warps * count, tile.element) for tile in work.tiles]
    first = logical_and(e, is_equal(e, lane_id(e), 0), is_counted_warp(e, rows))
    mine = multiply(e, warp_id(e), count)
    begin = multiply(e, row_group(e, rows), rows.warps * count)
    for line, row in enumerate(values):
        for room, value in zip(rooms, row, strict=True):
            e.insert(StoreOp(value, advance(e, room.pointer, add(e, mine, line)), first))
    synchronize_agent(e)

    def left(place: int) -> Row:
        at = add(e, begin, place)
        return [e.insert(LoadOp(advance(e, r.pointer, at), r.element)).result for r in rooms]

    return [
        work.all_of([left(warp * count + line) for warp in range(rows.warps)])
        for line in range(count)
    ]
