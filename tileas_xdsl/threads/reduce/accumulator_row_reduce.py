"""Row reductions of MMA accumulators, in the registers where the instruction left them.

Each thread combines its elements of a row, then the lanes that share the row exchange partial
results by shuffles, then warps through shared memory.  All other tiles take `warp_reduce`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.reduce.axis_reduce import fragment_of_rows
from tileas_xdsl.threads.reduce.combiner import Combiner
from tileas_xdsl.threads.reduce.lines_over_lanes import combined_over_lanes, steps_of_lines
from tileas_xdsl.threads.reduce.spread_lines import (
    Row,
    SpreadLines,
    between_warps,
    between_warps_by_lanes,
    registers_of_lines,
)


def reduce_spread_rows(
    c: Combiner, op: Operation, tile: RegisterTile, spread: SpreadLines
) -> RegisterTile:
    """Return one value for each line of a tile."""
    values = [c.all_of(line) for line in registers_of_lines(c, tile, spread)]
    warps = 1 << len(spread.warps)
    if warps > 1 and steps_of_lines(len(values), len(spread.lanes), warps):
        found = combined_over_lanes(
            c,
            values,
            spread.lanes,
            warps,
            lambda left: between_warps_by_lanes(c.e, op, spread, left, c.all_of),
        )
        return fragment_of_rows(c.e, tile, spread.values, [c.narrowed(value) for value in found])
    rows: list[Row] = [[value] for value in combined_over_lanes(c, values, spread.lanes)]
    if spread.warps:
        rows = between_warps(c.e, op, spread, rows, [c.wide], lambda some: [_all_of(c, some)])
    return fragment_of_rows(c.e, tile, spread.values, [c.narrowed(row[0]) for row in rows])


def _all_of(c: Combiner, rows: Sequence[Row]) -> SSAValue:
    return c.all_of([row[0] for row in rows])
