"""What an agent knows about the accesses of other clusters: immutable vector clocks by cluster.

Clusters meet in global memory only, so each keeps a clock of its own (`vector_clocks.Clocks`), and
its warps carry what they have acquired from others.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array


@dataclass(frozen=True, slots=True, eq=False)
class ForeignClocks:
    """By linear index of a cluster: limits of what happened before, and of those accesses that
    are visible to the asynchronous proxy."""

    ordered: Mapping[int, Array]
    visible: Mapping[int, Array]

    def fenced(self) -> ForeignClocks:
        """Return the clocks after a proxy fence: all that is ordered is visible."""
        return ForeignClocks(self.ordered, self.ordered)

    def without(self, cluster: int) -> ForeignClocks:
        """Return the clocks of all clusters but one."""
        if cluster not in self.ordered:
            return self
        kept = [{c: v for c, v in m.items() if c != cluster} for m in (self.ordered, self.visible)]
        return ForeignClocks(kept[0], kept[1])


def join(one: ForeignClocks | None, other: ForeignClocks | None) -> ForeignClocks | None:
    """Return the larger limits of both."""
    if one is None or one is other:
        return other
    if other is None:
        return one
    return ForeignClocks(_join(one.ordered, other.ordered), _join(one.visible, other.visible))


def _join(one: Mapping[int, Array], other: Mapping[int, Array]) -> Mapping[int, Array]:
    found = dict(one)
    for cluster, limits in other.items():
        mine = found.get(cluster)
        if mine is None:
            found[cluster] = limits
        elif mine is not limits:
            found[cluster] = np.maximum(mine, limits)
    return found
