"""How much the loops of tile blocks do, by bounds that a launch computes (`launch_numbers`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.launches.launch_numbers import Numbers


@dataclass(frozen=True)
class LaunchLoop:
    """What an iteration takes, and how many there are in a tile block."""

    amount: int
    """Bytes that it loads, or cycles."""
    bounds: tuple[tuple[int, int, int], ...]
    """The steps with lower bound, upper bound and step of the loop and of those around it."""


def amounts(loops: Iterable[LaunchLoop], found: Sequence[Numbers], blocks: int) -> Numbers:
    """Return what all iterations of so many tile blocks take, by the numbers of all steps."""
    total = np.zeros(blocks, np.int64)
    for loop in loops:
        trips = np.ones(blocks, np.int64)
        for lower, upper, step in loop.bounds:
            by = np.maximum(found[step], 1)
            trips *= np.maximum(-((found[lower] - found[upper]) // by), 0)
        total += loop.amount * trips
    return total
