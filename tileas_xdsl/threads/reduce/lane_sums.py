"""Row sums of which each lane has a part: those of its own elements of an accumulator.

`tileas-defer-lane-sums` marks the reduction that leaves parts, and the one that adds them up.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.target.mma.warp_tiles import QUAD
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.reduce.combiner import Combiner
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import element, filled, length

LANES_APART = "nv_tileas.lanes_apart"
"""On a reduction of accumulator rows: the four lanes of a row keep what each has summed up."""

OF_LANES = "nv_tileas.of_lanes"
"""On a reduction of a dimension of extent 1: of what those lanes have kept."""


def sum_over_lanes(c: Combiner, source: RegisterTile, layout: RegisterLayout) -> RegisterTile:
    """Return whole sums, in all lanes of a row."""
    parts: list[SSAValue] = []
    for part in source.parts:
        parts += [element(c.e, part, k) for k in range(length(part))]
    values = {k: c.in_warp(value, QUAD) for k, value in enumerate(parts[: layout.values])}
    part = filled(c.e, values, vectors_of(layout).length, c.element)
    return RegisterTile(layout, c.element, (part,))
