"""Launches of few tile blocks that sum up over many iterations, which CTAs divide among them.

A^T B, 128x128x262144: one tile block of 4,096 iterations, 132 multiprocessors
132 CTAs of 31 or 32 iterations each, whose sums go through memory to the last one
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.target.launches.launch_loops import LaunchLoop, amounts
from tileas_xdsl.target.launches.launch_numbers import AXES, values_of

MIN_SAVED = 4
"""A launch divides sums where it saves more than a part of so many of its time."""

INTERPRETED_PARTS = 3
"""Parts of each tile block where no GPU says how many CTAs run at once."""

GROUPS = (2, 3, 4, 6, 8, 12, 16)
"""Parts that one CTA adds up before the last one adds up those sums: about as many as there are
groups.  One CTA alone would load what all others have stored."""


def group_of(parts: int) -> int:
    """Return how many parts are a group."""
    return next((n for n in GROUPS if n * n >= parts), GROUPS[-1])


@dataclass(frozen=True)
class DividedSums:
    """The launches of a kernel that gain where CTAs divide the iterations of each tile block."""

    together: int
    """CTAs that share a multiprocessor."""
    ctas: int
    """CTAs that compute a tile block, or a part of its iterations, together."""
    store: int
    """Cycles to store the sums of a CTA for another one, until that one can load them."""
    load: int
    """Cycles to load and add the sums of another CTA."""
    steps: tuple[str, ...]
    """What a launch computes (`launch_numbers`)."""
    loops: tuple[LaunchLoop, ...]
    """By the cycles of an iteration."""

    def suits(self, args: Sequence[Any], grid: Sequence[int], multiprocessors: int) -> bool:
        """Whether a launch is one."""
        at_once, count = self.at_once(multiprocessors), prod(grid)
        if not 0 < 2 * count <= at_once:
            return False
        length = self._length(args, grid)
        best = self._cycles(length, self.parts(args, grid, at_once))
        return best < length - length // MIN_SAVED

    def may_suit(self, args: Sequence[Any]) -> bool:
        """Whether a launch with these arguments knows how long its tile blocks are."""
        return self._length(args, (1, 1, 1)) > 0

    def unsuited(self, multiprocessors: int) -> range:
        """The numbers of tile blocks with which no launch is one."""
        return range(self.at_once(multiprocessors) // 2 + 1, 1 << 64)

    def parts(self, args: Sequence[Any], grid: Sequence[int], at_once: int) -> int:
        """Return into how many parts the iterations of a tile block are divided.

        As many as take least, of those that leave CTAs for each tile block.
        """
        length, most = self._length(args, grid), max(at_once // prod(grid), 1)
        found = {ceil_div(most, n) for n in range(1, most + 1)}
        return min(sorted(found), key=lambda parts: self._cycles(length, parts))

    def _cycles(self, length: int, parts: int) -> int:
        """Return what a tile block takes in so many parts."""
        return ceil_div(length, parts) + self.handing_over(parts)

    def handing_over(self, parts: int) -> int:
        """Return the cycles in which the sums of so many parts come together."""
        if parts == 1:
            return 0
        group = group_of(parts)
        added = group + ceil_div(parts, group) - 2
        return 2 * self.store + added * self.load

    def _length(self, args: Sequence[Any], grid: Sequence[int]) -> int:
        """Return the cycles of the iterations of a tile block; 0 if a launch does not know them."""
        found = values_of(self.steps, args, grid, [np.zeros(1, np.int64)] * len(AXES))
        return 0 if found is None else int(amounts(self.loops, found, 1)[0])

    def at_once(self, multiprocessors: int) -> int:
        """The tile blocks, or parts of them, that run at once."""
        return max(self.together * multiprocessors // self.ctas, 1)
