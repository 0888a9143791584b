"""Sums of lines of which each thread has a part: that of its own elements.

`tileas-defer-lane-sums` marks the reduction that leaves parts, and the one that adds them up.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.reduce.axis_reduce import fragment_of_rows
from tileas_xdsl.threads.reduce.combiner import Combiner
from tileas_xdsl.threads.reduce.spread_lines import (
    Row,
    SpreadLines,
    between_warps,
    registers_of_lines,
)
from tileas_xdsl.threads.registers.vector_values import element, length

LANES_APART = "nv_tileas.lanes_apart"
"""On a reduction: the threads that share a line keep what each has summed up."""

OF_LANES = "nv_tileas.of_lanes"
"""On a reduction of a dimension of extent 1: the type of the tile whose parts threads have kept."""


def sums_of_threads(c: Combiner, tile: RegisterTile, spread: SpreadLines) -> RegisterTile:
    """Return for each line the sum of what each thread has of it."""
    values = [c.all_of(line) for line in registers_of_lines(c, tile, spread)]
    return fragment_of_rows(c.e, tile, spread.values, values)


def sum_over_lanes(
    c: Combiner,
    op: Operation,
    source: RegisterTile,
    layout: RegisterLayout,
    spread: SpreadLines,
) -> RegisterTile:
    """Return whole sums in `layout`, in all threads that share the lines of `spread`."""
    parts: list[SSAValue] = []
    for part in source.parts:
        parts += [element(c.e, part, k) for k in range(length(part))]
    rows: list[Row] = []
    for value in parts[: layout.values]:
        for distance in reversed(spread.lanes):
            value = c.across(value, distance)
        rows.append([value])
    if spread.warps:
        rows = between_warps(c.e, op, spread, rows, [c.wide], lambda some: [_all_of(c, some)])
    return fragment_of_rows(c.e, source, layout, [row[0] for row in rows])


def _all_of(c: Combiner, rows: Sequence[Row]) -> SSAValue:
    return c.all_of([row[0] for row in rows])
