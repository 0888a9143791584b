"""Commutative reductions of several tiles at once, such as argmax, in the given register layout.

Elements are combined in each thread first, then between lanes by shuffles, then through shared
memory between the warps that share lines: only partial results are exchanged, never a tile.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileas_xdsl.analysis.layouts.axis_layouts import AxisSplit
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.reduce.axis_reduce import fragment_of_rows
from tileas_xdsl.threads.reduce.ordered_combiner import OrderedCombiner, Row
from tileas_xdsl.threads.reduce.spread_lines import SpreadLines, between_warps
from tileas_xdsl.threads.registers.register_tile import in_registers
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import element


def reduce_in_place(e: ThreadBuilder, op: ReduceOp, spread: SpreadLines) -> Sequence[RegisterTile]:
    """Return one value per line of each tile."""
    split = AxisSplit.of(spread.source.shape, spread.axis, e.agent.warps)
    tiles = [in_registers(e, op, source, spread.source) for source in op.sources]
    work = OrderedCombiner(e, op, split, tiles)
    rows = [_in_warp(work, spread, registers) for registers in spread.registers]
    if spread.warps:
        types = [tile.element for tile in tiles]
        rows = between_warps(e, op, spread, rows, types, work.all_of)
    return [
        fragment_of_rows(e, tile, spread.values, [row[k] for row in rows])
        for k, tile in enumerate(tiles)
    ]


def _in_warp(work: OrderedCombiner, spread: SpreadLines, registers: Sequence[int]) -> Row:
    """Combine the registers of a line, and the lanes that share it; all of them get the result."""
    size = vectors_of(spread.source).length
    positions = [divmod(register, size) for register in registers]
    row = work.all_of(
        [[element(work.e, tile.parts[part], k) for tile in work.tiles] for part, k in positions]
    )
    for distance in reversed(spread.lanes):
        row = work.combine(row, work.exchanged(row, distance))
    return row
