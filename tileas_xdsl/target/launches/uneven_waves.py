"""Launches whose last wave of tile blocks leaves most multiprocessors idle.

288 tile blocks on 132 multiprocessors, one each: three waves for the work of 2.18
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.launches.launch_loops import LaunchLoop, amounts
from tileas_xdsl.target.launches.launch_numbers import AXES, values_of

APART = 4
"""CTAs that share tile blocks are apart along K, and load less of the same: of what they compute a
part of so many is lost.  On an H200, 128x256 tiles, us whole and shared: 4096x4096x14336, 1.88 of
3.88 waves are shared, 638, 711; 8192^3, 1.5 of 15.5, 1,702, 1,650; 3072^3 101.9, 82.5."""


@dataclass(frozen=True)
class UnevenWaves:
    """The launches of a persistent kernel that gain where CTAs share the tile blocks of a wave."""

    together: int
    """CTAs that share a multiprocessor."""
    ctas: int
    """CTAs that compute a tile block together."""
    cost: int
    """Cycles to hand a tile block over."""
    steps: tuple[str, ...]
    """What a launch computes (`launch_numbers`)."""
    loops: tuple[LaunchLoop, ...]
    """By the cycles of the products of an iteration."""

    def suits(self, args: Sequence[Any], grid: Sequence[int], multiprocessors: int) -> bool:
        """Whether a launch is one."""
        at_once, count = self._at_once(multiprocessors), prod(grid)
        if count <= at_once:
            return False
        length, idle = self._length(args, grid), -count % at_once
        shared = 2 * at_once - idle
        return idle * length > shared * length // APART + self.cost * at_once

    def may_suit(self, args: Sequence[Any]) -> bool:
        """Whether a launch with these arguments knows how long its tile blocks are."""
        return self._length(args, (1, 1, 1)) > 0

    def unsuited(self, multiprocessors: int) -> range:
        """The numbers of tile blocks with which no launch is one."""
        return range(self._at_once(multiprocessors) + 1)

    def _length(self, args: Sequence[Any], grid: Sequence[int]) -> int:
        """Return the cycles of the products of any tile block; 0 if a launch does not know them."""
        found = values_of(self.steps, args, grid, [np.zeros(1, np.int64)] * len(AXES))
        return 0 if found is None else int(amounts(self.loops, found, 1)[0])

    def _at_once(self, multiprocessors: int) -> int:
        return max(self.together * multiprocessors // self.ctas, 1)
