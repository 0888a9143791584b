"""Notices that a cluster runs and runs while nothing changes: loops that look for what never comes.

A loop of one fragment is seen in its own turn (`machine.py`); here are loops in which lanes go
different ways and come together again, and loops in loops.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import Value
from tileas_xdsl.interpreters.ptx.execution.state import Cluster

PATIENCE = 64
"""So many rounds without any change are nothing unusual."""

LONG = 1 << 14
"""After so many, those ahead no longer wait for others to come to them."""

Place: TypeAlias = tuple[int, int, bool]
"""Of a fragment: its instruction, its lanes, and whether it waits."""


@dataclass
class Watch:
    """Remembers a state of a cluster since the last change, a later one each time (Brent)."""

    fair: bool = False
    """Whether all have to have turns: those furthest behind alone go round and round."""
    _rounds: int = 0
    _changes: tuple[int, int, int] = (-1, -1, -1)
    _places: list[Place] = field(default_factory=list[Place])
    _registers: list[list[Value]] = field(default_factory=list[list[Value]])
    _next: int = PATIENCE

    @property
    def is_patient(self) -> bool:
        """Whether the last change was not long ago."""
        return self._rounds < PATIENCE

    def look(self, cluster: Cluster) -> bool:
        """After a round: whether everything is as it was before, though all had turns."""
        if cluster.changes != self._changes:
            self._changes = cluster.changes
            self._begin(fair=False)
            return False
        self._rounds += 1
        if self.is_patient:
            return False
        if self._is_as_remembered(cluster):
            was_fair = self.fair
            self._begin(fair=True)
            return was_fair
        self.fair = self.fair or self._rounds >= LONG
        if self._rounds >= self._next:
            self._next *= 2
            self._remember(cluster)
        return False

    def _begin(self, fair: bool) -> None:
        self.fair, self._rounds, self._next, self._places = fair, 0, PATIENCE, []

    def _is_as_remembered(self, cluster: Cluster) -> bool:
        if not self._places or _places(cluster) != self._places:
            return False
        registers = [f.r for gang in cluster.gangs_left for f in gang.fragments]
        return all(same_registers(a, b) for a, b in zip(registers, self._registers, strict=True))

    def _remember(self, cluster: Cluster) -> None:
        self._places = _places(cluster)
        self._registers = [f.r.copy() for gang in cluster.gangs_left for f in gang.fragments]


def _places(cluster: Cluster) -> list[Place]:
    return [(f.pc, f.mask, f.block is None) for gang in cluster.gangs_left for f in gang.fragments]


def same_registers(before: list[Value], now: list[Value]) -> bool:
    """Whether all registers hold what they held."""
    return all(_same(a, b) for a, b in zip(before, now, strict=True))


def _same(a: Value, b: Value) -> bool:
    if a is b:
        return True
    if a.__class__ is np.ndarray or b.__class__ is np.ndarray:
        return bool(np.array_equal(a, b))
    return a == b
