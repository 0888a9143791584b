"""How much longer a launch takes because its blocks do not all take as long.

Blocks are started in the order of their ids, x first, each where one has ended: list scheduling.
Causal attention ends with the longest blocks of its last head, and most multiprocessors idle:

    time of a launch = that of equal blocks * makespan of its blocks / makespan of equal ones

Where CTAs take one tile block after another (`persistent_launches.py`), each has the sum of
its own, without what their first loads took.

The work of a block is looked up along one axis of the grid, the first along which it differs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from statistics import fmean

import numpy as np

from tileas_xdsl.target.launches.persistent_launches import (
    BEGIN_CYCLES,
    NEXT_CYCLES,
    in_order,
    serpentine,
)

Grid = tuple[int, int, int]

POSITIONS = 32
"""Of blocks along an axis whose work is looked at."""

MAX_BLOCKS = 1 << 14
"""Above so many blocks the last ones are few."""

EVEN = 0.02
"""Blocks whose work differs by less are equal."""


def slowdown(
    grid: Grid,
    work: Callable[[Grid], float],
    at_a_time: int,
    takers: int | None = None,
    *,
    hidden: float = BEGIN_CYCLES - NEXT_CYCLES,
) -> float:
    """Return by how much a launch is slower than one of blocks of equal work.

    So many `takers` take them one after another, where that is chosen, each so many `hidden` cycles
    shorter.
    """
    if not 1 < prod(grid) <= MAX_BLOCKS:
        return 1.0
    for axis in range(3):
        along = _along(grid, axis, work)
        if max(along) > min(along) * (1 + EVEN):
            works = [along[_position(grid, axis, block)] for block in range(prod(grid))]
            alike = in_order([fmean(works)] * len(works), at_a_time)
            if takers is not None:
                return serpentine(np.maximum(works, hidden) - hidden, takers) / alike
            return in_order(works, at_a_time) / alike
    return 1.0


def _along(grid: Grid, axis: int, work: Callable[[Grid], float]) -> Sequence[float]:
    """The work of each block along an axis, that of the nearest one that is looked at."""
    extent = grid[axis]
    step = max(extent / POSITIONS, 1)
    looked_at: dict[int, float] = {}
    found: list[float] = []
    for position in range(extent):
        nearest = min(int(position / step) * step, extent - 1)
        place = int(nearest) if position < extent - 1 else extent - 1
        if place not in looked_at:
            x, y, z = (place if k == axis else 0 for k in range(3))
            looked_at[place] = work((x, y, z))
        found.append(looked_at[place])
    return found


def _position(grid: Grid, axis: int, block: int) -> int:
    return block // prod(grid[:axis]) % grid[axis]
