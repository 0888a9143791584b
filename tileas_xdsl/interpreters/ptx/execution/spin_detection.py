"""Livelock detection: a cluster that keeps executing while nothing visible changes.

A spin loop of one convergence group is detected by the scheduler, which compares the registers of
two iterations.  Divergent and nested spin loops are detected here, with Brent's cycle finding: the
state of the cluster (program counters, masks, registers) is compared with a snapshot, which is
taken anew after 64, 128, 256, ... sweeps without a change.  A state that comes back although all
groups had turns is a livelock: the groups are parked until memory or a barrier changes.
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Value
from tileas_xdsl.interpreters.ptx.execution.state import Cluster, Frame

IDLE_SWEEPS = 64
"""Sweeps without any change before states are compared."""

FAIRNESS_THRESHOLD = 1 << 14
"""Sweeps without any change after which every group gets turns, not only the one furthest
behind."""

GroupPosition: TypeAlias = tuple[int, int, bool, Frame | None]
"""Of a convergence group: its program counter, its mask, whether it is runnable, and the recursive
calls that it is in."""


@dataclass
class LivelockDetector:
    """Compares the state of a cluster with a snapshot of it (Brent's cycle detection)."""

    fair: bool = False
    """Whether all groups get turns; else the one furthest behind may loop for ever."""
    _sweeps: int = 0
    _changes: tuple[int, int, int] = (-1, -1, -1)
    _locations: list[GroupPosition] = field(default_factory=list[GroupPosition])
    _registers: list[list[Value]] = field(default_factory=list[list[Value]])
    _next: int = IDLE_SWEEPS

    @property
    def changed_recently(self) -> bool:
        """Whether something changed during the last sweeps."""
        return self._sweeps < IDLE_SWEEPS

    def observe(self, cluster: Cluster) -> bool:
        """Return whether the state has come back although all groups had turns; call it every
        sweep."""
        if cluster.changes != self._changes:
            self._changes = cluster.changes
            self._restart(fair=False)
            return False
        self._sweeps += 1
        if self.changed_recently:
            return False
        if self._equals_snapshot(cluster):
            was_fair = self.fair
            self._restart(fair=True)
            return was_fair
        self.fair = self.fair or self._sweeps >= FAIRNESS_THRESHOLD
        if self._sweeps >= self._next:
            self._next *= 2
            self._take_snapshot(cluster)
        return False

    def _restart(self, fair: bool) -> None:
        self.fair, self._sweeps, self._next, self._locations = fair, 0, IDLE_SWEEPS, []

    def _equals_snapshot(self, cluster: Cluster) -> bool:
        if not self._locations or _locations(cluster) != self._locations:
            return False
        registers = [
            f.r for warpgroup in cluster.live_warpgroups for f in warpgroup.convergence_groups
        ]
        return all(same_registers(a, b) for a, b in zip(registers, self._registers, strict=True))

    def _take_snapshot(self, cluster: Cluster) -> None:
        self._locations = _locations(cluster)
        self._registers = [
            f.r.copy()
            for warpgroup in cluster.live_warpgroups
            for f in warpgroup.convergence_groups
        ]


def _locations(cluster: Cluster) -> list[GroupPosition]:
    return [
        (f.pc, f.mask, f.wait is None, f.frames)
        for warpgroup in cluster.live_warpgroups
        for f in warpgroup.convergence_groups
    ]


def same_registers(before: list[Value], now: list[Value]) -> bool:
    """Return whether all registers have the same values."""
    return all(_equal(a, b) for a, b in zip(before, now, strict=True))


def _equal(a: Value, b: Value) -> bool:
    if a is b:
        return True
    if a.__class__ is np.ndarray or b.__class__ is np.ndarray:
        return bool(np.array_equal(a, b))
    return a == b
