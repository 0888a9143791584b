"""Launches of few tile blocks that sum up over many iterations, which CTAs divide among them.

A^T B, 128x128x262144: one tile block of 4,096 iterations, 132 multiprocessors
132 CTAs of 31 or 32 iterations each, whose sums go through memory to the last one
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.target.launches.launch_loops import LaunchLoop, amounts
from tileas_xdsl.target.launches.launch_numbers import AXES, values_of

MIN_SAVED = 12
"""A launch divides sums where it saves more than a part of so many of its time."""

MAX_WAVES = 8
"""Waves of parts, one after another: 81 tile blocks on 132 multiprocessors are 243 parts of a third
in two waves, two thirds of the time."""

INTERPRETED_PARTS = 7
"""Parts of each tile block where no GPU says how many CTAs run at once."""

GROUPS = (2, 3, 4, 6, 8, 12, 16)
"""Parts that one CTA adds up before the last one adds up those sums: about as many as there are
groups.  One CTA alone would load what all others have stored."""

BEGIN_CYCLES, END_CYCLES = 4500, 1000
"""Cycles of a CTA beside its iterations, and of a launch until a CTA stores its partial sums."""

SHARED_PERCENT = 70
"""What DRAM gives of its bandwidth where several tile blocks read the same lines.  On an H200,
256x512x32768 f16 in 128x256 tiles 3.0 TB/s; 128x4096x4096, where each reads others, 3.4."""

IMPOSSIBLE = 1 << 62
"""Cycles of a launch that has more CTAs than run at once."""


def group_of(parts: int) -> int:
    """Return how many parts are a group."""
    return next((n for n in GROUPS if n * n >= parts), GROUPS[-1])


@dataclass(frozen=True)
class SummedLoad:
    """What a tile block loads in an iteration, and along which axes of the grid others differ."""

    bytes: int
    axes: tuple[int, ...]


@dataclass(frozen=True)
class _Work:
    """What a launch does, in any number of parts."""

    tile_blocks: int
    iterations: int
    """Of each."""
    moving: int
    """Cycles in which DRAM moves all operands."""


@dataclass(frozen=True)
class DividedSums:
    """The launches of a kernel that gain where CTAs divide the iterations of each tile block."""

    together: int
    """CTAs that share a multiprocessor."""
    ctas: int
    """CTAs that compute a tile block, or a part of its iterations, together."""
    cycles: int
    """Cycles of an iteration where a tile block has one part."""
    cycles_of_part: int
    """The same where it has several, so that all multiprocessors load."""
    store: int
    """Cycles to store the sums of a CTA for another one, until that one can load them."""
    load: int
    """Cycles to load and add the sums of another CTA."""
    dram: int
    """Bytes that DRAM moves in a cycle."""
    loads: tuple[SummedLoad, ...]
    steps: tuple[str, ...]
    """What a launch computes (`launch_numbers`)."""
    loops: tuple[LaunchLoop, ...]
    """By iterations."""

    def suits(self, args: Sequence[Any], grid: Sequence[int], multiprocessors: int) -> bool:
        """Whether a launch is one."""
        at_once = self.at_once(multiprocessors)
        if not 0 < prod(grid) < at_once:
            return False
        work = self._work(args, grid)
        whole = self._cycles(work, 1, at_once)
        return min(self._cycles_by_parts(work, at_once).values()) < whole - whole // MIN_SAVED

    def may_suit(self, args: Sequence[Any]) -> bool:
        """Whether a launch with these arguments knows how long its tile blocks are."""
        return self._iterations(args, (1, 1, 1)) > 0

    def unsuited(self, multiprocessors: int) -> range:
        """The numbers of tile blocks with which no launch is one."""
        return range(self.at_once(multiprocessors), 1 << 64)

    def parts(self, args: Sequence[Any], grid: Sequence[int], at_once: int) -> int:
        """Return into how many parts the iterations of a tile block are divided."""
        cycles = self._cycles_by_parts(self._work(args, grid), at_once)
        return min(cycles, key=cycles.__getitem__)

    def least_cycles(self, args: Sequence[Any], grid: Sequence[int], multiprocessors: int) -> int:
        """Return what a launch takes in as many parts as are best, or in one."""
        at_once = self.at_once(multiprocessors)
        if not 0 < prod(grid) <= at_once:
            return IMPOSSIBLE
        return min(self._cycles_by_parts(self._work(args, grid), at_once).values())

    def handing_over(self, parts: int) -> int:
        """Return the cycles in which the sums of so many parts come together."""
        if parts == 1:
            return 0
        group = group_of(parts)
        added = group + ceil_div(parts, group) - 2
        return END_CYCLES + 2 * self.store + added * self.load

    def _cycles_by_parts(self, work: _Work, at_once: int) -> Mapping[int, int]:
        """Return what a launch takes in numbers of parts that fill waves, the smallest first."""
        filling = {max(at_once * n // work.tile_blocks, 1) for n in range(1, MAX_WAVES + 1)}
        most = min(filling)
        numbers = filling | {ceil_div(most, n) for n in range(1, most + 1)}
        return {parts: self._cycles(work, parts, at_once) for parts in sorted(numbers)}

    def _cycles(self, work: _Work, parts: int, at_once: int) -> int:
        """Return what a launch takes in so many parts of each tile block."""
        waves = ceil_div(work.tile_blocks * parts, at_once)
        each = self.cycles if parts == 1 else self.cycles_of_part
        busy = max(waves * ceil_div(work.iterations, parts) * each, work.moving)
        return busy + waves * BEGIN_CYCLES + self.handing_over(parts)

    def _work(self, args: Sequence[Any], grid: Sequence[int]) -> _Work:
        """Return what a launch does; DRAM moves once what tile blocks load in common."""
        iterations = self._iterations(args, grid)
        moved = 0
        for one in self.loads:
            others = prod(grid[axis] for axis in one.axes)
            is_shared = others < prod(grid)
            moved += one.bytes * others * 100 // (SHARED_PERCENT if is_shared else 100)
        return _Work(prod(grid), iterations, iterations * moved // self.dram)

    def _iterations(self, args: Sequence[Any], grid: Sequence[int]) -> int:
        """Return the iterations of a tile block; 0 if a launch does not know them."""
        found = values_of(self.steps, args, grid, [np.zeros(1, np.int64)] * len(AXES))
        return 0 if found is None else int(amounts(self.loops, found, 1)[0])

    def at_once(self, multiprocessors: int) -> int:
        """The tile blocks, or parts of them, that run at once."""
        return max(self.together * multiprocessors // self.ctas, 1)
