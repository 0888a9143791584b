"""Launches whose neighbouring tile blocks should be clusters, which share loads by multicast.

A box of 128 bytes whose rows are apart by an odd multiple of 16 bytes is in two lines of the L2
cache for each row, so that it takes the path from there twice as long: on an H200, 4096^3 f16 in
128x256 tiles runs at 741 TFLOP/s, at 562 with such a B, and at 707 where two CTAs share B.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.integers import align_up, ceil_div
from tileas_xdsl.target.launches.launch_numbers import AXES, Numbers, values_of

MIN_GAIN = 1.09
"""Times that loads of single CTAs have to take as long as those of clusters: what the model says to
gain less loses 3 % (128x128 tiles, K 512) to gains 9 % on an H200, 2026-11-29.  By 1.0995, of rows
of whole 32 bytes in 128x256 tiles, 6000^3 f16 gains 10 %, 10000^3 6 % (2026-11-30)."""

ROW_PERCENT: Mapping[int, int] = {128: 100, 64: 115, 32: 135, 16: 200}
"""How long a box of 128 bytes takes the path, by the divisor of the bytes from row to row: rows are
in two lines.  On an H200, 2026-11-29, 4096^3 f16 in 128x128 tiles: 674, 584, 505, 353 TFLOP/s."""

TOGETHER_PERCENT = 50
"""The same of rows of whole lines where all CTAs run at once, and so load the same lines at one
time: 88 bytes a cycle.  1024^3 f16 on an H200 in 64x128 tiles: 5.24 us, 6.06 in clusters of two;
128x64 5.19, 5.86; but 2048^3 with rows of B an odd multiple of 16 bytes apart 37.6, 27.8."""

ROW_ALIGNMENT = max(ROW_PERCENT)
"""Bytes that divide those from row to row where each row is in one line."""

ALIGNED = -1
"""The step of a pitch that needs none: a multiple of that, as is known or assumed."""


@dataclass(frozen=True)
class LoopLoad:
    """A tile that an iteration loads."""

    bytes: int
    pitch: int
    """The step with the bytes from one row to the next, or `ALIGNED`."""
    is_shared: bool
    """Whether the CTAs of a cluster load the same."""


@dataclass(frozen=True)
class SharedLoads:
    """The launches of a kernel that gain where `count` tile blocks along an axis are a cluster."""

    axis: int
    count: int
    steps: tuple[str, ...]
    """What a launch computes (`launch_numbers`)."""
    equal: tuple[int, ...]
    """The steps that have to be equal for all tile blocks of a cluster: then they load the same."""
    loads: tuple[LoopLoad, ...]
    rate: int
    """Bytes per cycle from the L2 cache to a multiprocessor."""
    cycles: int
    """Cycles of the products of an iteration."""
    rounds_up: bool = False
    """Whether tile blocks behind the grid may complete its last clusters: they store nothing."""

    @property
    def cluster(self) -> tuple[int, int, int]:
        """The tile blocks of a cluster along x, y and z."""
        x, y, z = (self.count if axis == self.axis else 1 for axis in range(len(AXES)))
        return x, y, z

    def suits(self, args: Sequence[Any], grid: Sequence[int], multiprocessors: int) -> bool:
        """Whether a launch may have clusters, and gains by them as far as the model knows."""
        extent = grid[self.axis]
        is_whole = extent % self.count == 0 or (self.rounds_up and extent > self.count)
        if not is_whole or 0 in grid:
            return False
        at_once = prod(self.covered(grid)) <= multiprocessors
        gain = self._gain(args, grid, at_once=at_once)
        return gain >= MIN_GAIN and self.are_equal(args, grid)

    def covered(self, grid: Sequence[int]) -> tuple[int, int, int]:
        """The grid of whole clusters that a launch has for the tile blocks of a grid."""
        pairs = zip(grid, self.cluster, strict=True)
        x, y, z = (align_up(extent, count) for extent, count in pairs)
        return x, y, z

    def has_room(self, grid: Sequence[int], multiprocessors: int, of_clusters: int) -> bool:
        """Whether tile blocks take no more waves where clusters can be than on all."""
        of_whole = ceil_div(prod(self.covered(grid)), max(of_clusters, 1))
        return of_whole <= ceil_div(prod(grid), max(multiprocessors, 1))

    def may_suit(self, args: Sequence[Any]) -> bool:
        """Whether a launch with these arguments gains in some grid."""
        return self._gain(args, (1, 1, 1)) >= MIN_GAIN

    def unsuited(self, multiprocessors: int) -> range:
        """The numbers of tile blocks with which no launch gains."""
        del multiprocessors
        return range(self.count)

    def _gain(self, args: Sequence[Any], grid: Sequence[int], *, at_once: bool = False) -> float:
        """Return the cycles of an iteration over those with clusters; 0 for unknown ones."""
        last = max((load.pitch for load in self.loads), default=ALIGNED)
        first = [np.zeros(1, np.int64)] * len(AXES)
        pitches = values_of(self.steps[: last + 1], args, grid, first)
        if pitches is None:
            return 0
        known = [0 if one.pitch == ALIGNED else int(pitches[one.pitch]) for one in self.loads]
        return self.gain(known, at_once=at_once)

    def gain(self, pitches: Sequence[int], *, at_once: bool = False) -> float:
        """Return that ratio for loads with these pitches in bytes."""
        alone = together = 0.0
        for load, pitch in zip(self.loads, pitches, strict=True):
            moved = load.bytes * row_percent(pitch, at_once=at_once) / 100 / self.rate
            alone += moved
            together += moved / self.count if load.is_shared else moved
        return max(alone, self.cycles) / max(together, self.cycles, 1)

    def are_equal(self, args: Sequence[Any], grid: Sequence[int]) -> bool:
        """Whether all clusters of a grid load what one of their tile blocks does."""
        ids = np.indices(
            [ceil_div(n, self.count) if k == self.axis else n for k, n in enumerate(grid)],
            np.int64,
        )
        ids[self.axis] *= self.count
        first: list[Numbers] = []
        for place in range(self.count):
            blocks = [one + place if k == self.axis else one for k, one in enumerate(ids)]
            found = values_of(self.steps, args, grid, blocks)
            if found is None:
                return False
            first = first or [found[step] for step in self.equal]
            if any(np.any(a != found[b]) for a, b in zip(first, self.equal, strict=True)):
                return False
        return True


def row_percent(pitch: int, *, at_once: bool) -> int:
    """Return how long the path from the L2 cache takes for rows that are so many bytes apart."""
    if at_once and pitch % ROW_ALIGNMENT == 0:
        return TOGETHER_PERCENT
    known = (percent for divisor, percent in ROW_PERCENT.items() if pitch % divisor == 0)
    return next(known, max(ROW_PERCENT.values()))
