"""The clusters of a grid that have not started: the scheduler starts them, or others cancel them.

A running block may take over the work of a cluster that has not started
(`clusterlaunchcontrol.try_cancel`, PTX ISA 9.7.13.17): that cluster then never starts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

from tileas_xdsl.data_classes import dataclass

Three = tuple[int, int, int]


@dataclass
class PendingClusters:
    """Linear indices of clusters, in the order in which they start."""

    numbers: Iterator[int]
    grid: Three
    cluster: Three
    done: Callable[[int], None]
    """Called with the number of CTAs of a cancelled cluster."""

    def __iter__(self) -> Iterator[int]:
        """Yield what the scheduler starts."""
        return self.numbers

    def cancel(self) -> Three | None:
        """Cancel the next cluster; return the index of its first CTA, None if all have started."""
        number = next(self.numbers, None)
        if number is None:
            return None
        self.done(prod(self.cluster))
        return first_cta(number, self.grid, self.cluster)


def first_cta(number: int, grid: Three, cluster: Three) -> Three:
    """Return the index of the first CTA of a cluster by the linear index of the cluster."""
    x, y, _ = (g // c for g, c in zip(grid, cluster, strict=True))
    at = number % x, number // x % y, number // x // y
    return at[0] * cluster[0], at[1] * cluster[1], at[2] * cluster[2]
