"""Launches that gain where CTAs take one tile block after another, as a launch computes it.

Tile blocks of equal length gain while they are short. Where they differ, it depends on what each
CTA takes. Two heads of causal attention, tile blocks of 4 3 2 1 4 3 2 1 iterations, four CTAs; `b`
is what a tile block begins with:

    one tile block each, as hardware starts them      several, straight       several, serpentine
    |b|4444|b|1|                                      |b|4444|4444|           |b|4444|1|
    |b|333|b|22|                                      |b|333|333|             |b|333|22|
    |b|22|b|333|                                      |b|22|22|               |b|22|333|
    |b|1|b|4444|                                      |b|1|1|                 |b|1|4444|

Lengths that are dealt beforehand have periods: a launch computes how long the longest CTA takes,
and has as many CTAs as that is least for.
"""

from __future__ import annotations

import heapq
import operator
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.launches.launch_loops import LaunchLoop, amounts
from tileas_xdsl.target.launches.launch_numbers import GRID, SCALAR, Numbers, values_of

BEGIN_CYCLES = 7000
"""Cycles of a tile block beside its products where a CTA takes one: it starts, waits for its first
loads, and stores while nothing is multiplied."""

NEXT_CYCLES = 3500
"""The same of one behind another one, whose first loads came under the products before."""

MAX_SPARED = 8
"""The part of the CTAs that run at once which a launch may go without."""

ANY_LENGTH = (1 << 31) - 1
"""Cycles that no tile block is too long for."""

MAX_COUNTED = 1 << 14
"""Tile blocks that a launch looks at: the lengths of more have the same periods."""


@dataclass(frozen=True)
class PersistentLaunches:
    """The launches of a kernel that gain where CTAs take one tile block after another."""

    steps: tuple[str, ...]
    """What a launch computes (`launch_numbers`)."""
    loops: tuple[LaunchLoop, ...]
    """By the cycles of the products of an iteration; none where no length is too long."""
    most: int = ANY_LENGTH
    """Cycles of the products of a tile block up to which equal ones gain."""
    differ: bool = False
    """Whether tile blocks differ in length, and are taken in a serpentine."""
    together: int = 1
    """CTAs that share a multiprocessor where each takes one tile block."""
    ctas: int = 1
    """CTAs that compute a tile block together."""

    def suits(self, args: Sequence[Any], grid: Sequence[int], multiprocessors: int) -> bool:
        """Whether a launch is one, and has more tile blocks than run at once."""
        at_once = self.at_once(multiprocessors)
        if prod(grid) <= at_once or (lengths := self.lengths(args, grid)) is None:
            return False
        if not self.differ:
            return int(lengths.max()) <= self.most
        begin = BEGIN_CYCLES if self.together == 1 else NEXT_CYCLES
        best = _best_count(self, self._passed(args), tuple(grid), at_once)
        alone = in_order((lengths + begin).tolist(), at_once)
        return serpentine(lengths + NEXT_CYCLES, best) < alone

    def may_suit(self, args: Sequence[Any]) -> bool:
        """Whether a launch with these arguments may be one, as far as its numbers are known."""
        lengths = self.lengths(args, (1, 1, 1))
        if lengths is None or self.differ or any(step.startswith(GRID) for step in self.steps):
            return lengths is not None
        return int(lengths.max()) <= self.most

    def unsuited(self, multiprocessors: int) -> range:
        """The numbers of tile blocks with which no launch is one."""
        return range(self.at_once(multiprocessors) + 1)

    def count(self, args: Sequence[Any], grid: Sequence[int], at_once: int) -> int:
        """Return for how many takers of tile blocks, of those that run at once, it is fastest."""
        return _best_count(self, self._passed(args), tuple(grid), at_once)

    def at_once(self, multiprocessors: int) -> int:
        """The tile blocks that run at once."""
        return max(self.together * multiprocessors // self.ctas, 1)

    def _passed(self, args: Sequence[Any]) -> tuple[int | None, ...]:
        """The arguments up to the last one that a step reads, None for those that it does not."""
        read = {int(step.split()[1]) for step in self.steps if step.startswith(SCALAR)}
        return tuple(
            _number(args[n]) if n in read and n < len(args) else None
            for n in range(max(read, default=-1) + 1)
        )

    def lengths(self, args: Sequence[Any], grid: Sequence[int]) -> Numbers | None:
        """Return the cycles of the products of each tile block, of one where they are equal.

        None if a launch does not know.
        """
        numbers = np.arange(min(prod(grid), MAX_COUNTED) if self.differ else 1)
        blocks = [numbers % grid[0], numbers // grid[0] % grid[1], numbers // prod(grid[:2])]
        found = values_of(self.steps, args, grid, blocks)
        return None if found is None else amounts(self.loops, found, numbers.size)


def _number(value: object) -> int | None:
    return operator.index(value) if isinstance(value, SupportsIndex) else None


@lru_cache(maxsize=256)
def _best_count(
    predicate: PersistentLaunches,
    args: tuple[int | None, ...],
    grid: tuple[int, ...],
    at_once: int,
) -> int:
    lengths = predicate.lengths(args, grid)
    if lengths is None or lengths.size <= at_once:
        return at_once
    counts = range(at_once, at_once - at_once // MAX_SPARED - 1, -1)
    return min(counts, key=lambda number: serpentine(lengths + NEXT_CYCLES, number))


def serpentine(lengths: NDArray[Any], ctas: int) -> float:
    """Return how long the longest of so many CTAs takes: every other round goes backwards."""
    rounds = np.zeros((-(-lengths.size // ctas), ctas), lengths.dtype)
    rounds.flat[: lengths.size] = lengths
    backwards = rounds[-2::-2]
    backwards[:] = backwards[:, ::-1].copy()
    return float(rounds.sum(axis=0).max())


def in_order(lengths: Iterable[float], ctas: int) -> float:
    """Return when the last tile block ends, where each begins as soon as one before it ends."""
    ends = [0.0] * ctas
    for length in lengths:
        heapq.heapreplace(ends, ends[0] + length)
    return max(ends)
