"""Layouts in which each warp has whole matrices of a tile of several.

    %m = tiled_load : 4x32x32, four warps       a matrix in each warp, a row in four lanes
    %c = reduce %m {axis = 2} : 4x32
    %p = reduce %c {axis = 1} : 4

Dealt by rows, a matrix would be in all warps, which meet at a barrier for each sum of its columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tileas_xdsl.analysis.layouts.tile_groups import TileGroup
from tileas_xdsl.layout.axes import E
from tileas_xdsl.layout.layout import Layout, make_layout
from tileas_xdsl.layout.registers.blocked import line_layout
from tileas_xdsl.layout.registers.register_layout import THREAD, VALUE, RegisterLayout
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.threads.pipeline.warp_allocation import Agent
from tileas_xdsl.transforms.assign_layouts.candidates.chunk_layouts import (
    chunk_sizes,
    reduced_axes,
)
from tileas_xdsl.transforms.assign_layouts.request import Assignment

MATRICES = 3
"""The rank of a tile of several matrices."""


def whole_matrices(a: Assignment, group: TileGroup, agent: Agent) -> Sequence[RegisterLayout]:
    """The layouts of a tile whose matrices are reduced, each in one warp; the widest first."""
    if len(group.shape) != MATRICES or agent.warps == 1 or group.shape[0] % agent.warps:
        return []
    count, *matrix = group.shape
    axes = reduced_axes(a, group)
    if not axes or 0 in axes or prod(matrix) < WARP:
        return []
    sizes = chunk_sizes(a, group)
    return list(dict.fromkeys(_dealt(count, tuple(matrix), agent.warps, size) for size in sizes))


def _dealt(count: int, matrix: tuple[int, ...], warps: int, size: int) -> RegisterLayout:
    """As many matrices for each warp, in chunks that elements of so many bytes fill."""
    one = line_layout(matrix, 1, size)
    strides = (E(VALUE, one.values), E(THREAD, WARP))
    matrices = Layout((count // warps, warps), strides)
    modes = [one.layout[k] for k in range(one.layout.rank)]
    return RegisterLayout(make_layout(matrices, *modes), (count, *matrix), WARP * warps)
