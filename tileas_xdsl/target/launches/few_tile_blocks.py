"""Launches of so few tile blocks that each has a multiprocessor, or several, to itself.

    grid of 16 tile blocks, 132 multiprocessors:  16 CTAs run, or 64 where 4 divide each tile block
            128 tile blocks                       a CTA has all registers, and stages in all memory

Bits stay the same: the CTAs divide a dimension that the program never looks across.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.launches.divided_sums import DividedSums
from tileas_xdsl.target.launches.launch_loops import LaunchLoop, amounts
from tileas_xdsl.target.launches.launch_numbers import values_of

ALONE = 1
"""CTAs of a tile block that is not divided, of launches that have a multiprocessor for each."""

COUNTS = (4, 2)
"""CTAs that may divide a tile block, the most first.  Eight take longer than four where they share
loads (512x512x4096 f16 on an H200: 14.9 us, 13.5): each stage is released in all of them."""

MIN_BYTES = 1 << 16
"""Bytes that the loops of a tile block load where dividing it is worth a specialization."""

ANY_NUMBER = range(1 << 64)
"""Numbers of tile blocks of a grid, all that there are."""

NO_NUMBER = range(1, 1)
"""No number of tile blocks."""


@dataclass(frozen=True)
class FewTileBlocks:
    """The launches of a kernel that leave multiprocessors to `count` CTAs for each tile block."""

    count: int
    steps: tuple[str, ...]
    """What a launch computes (`launch_numbers`)."""
    loops: tuple[LaunchLoop, ...]
    """By the bytes that an iteration loads."""
    sums: tuple[DividedSums, ...] = ()
    """What launches take that divide iterations, too, by the CTAs of a tile block, of which this
    count is the most; none where they cannot."""

    def suits(self, args: Sequence[Any], grid: Sequence[int], multiprocessors: int) -> bool:
        """Whether all CTAs of a launch run at once, and tile blocks load enough to be divided.

        Loops of unknown length are taken to be long.  The multiprocessors are those that clusters
        of so many CTAs have room on.
        """
        if not 0 < prod(grid) * self.count <= multiprocessors:
            return False
        if (loaded := self._bytes(args, grid)) is None:
            return self.count == ALONE or not self.sums
        if loaded < MIN_BYTES:
            return False
        if not self.sums or self.count == ALONE:
            return True
        best = min(self.sums, key=lambda one: one.least_cycles(args, grid, multiprocessors))
        return best.ctas == self.count

    def may_suit(self, args: Sequence[Any]) -> bool:
        """Whether a launch with these arguments loads enough in some grid, as far as is known."""
        return self._bytes(args, (1, 1, 1)) != 0

    def unsuited(self, multiprocessors: int) -> range:
        """The numbers of tile blocks with which no launch is one."""
        return ANY_NUMBER[multiprocessors // self.count + 1 :]

    def _bytes(self, args: Sequence[Any], grid: Sequence[int]) -> int | None:
        """Return what the first or the last tile block loads, the more of both; None if unknown.

        Numbers that each launch of a plan gives anew are.
        """
        ends = [np.array([0, extent - 1], np.int64) for extent in grid]
        found = values_of(self.steps, args, grid, ends)
        if found is None:
            return None
        return int(amounts(self.loops, found, 2).max())
