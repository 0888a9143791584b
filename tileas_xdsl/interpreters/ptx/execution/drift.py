"""Warps that fall behind: they sleep while others go on (the order `drift`).

The warps of a warpgroup execute as one while they agree, so that none is behind the others.  On
hardware any warp may be, for as long as nobody waits for it:

    warp 0:  wait empty[0], copy, ...          wait empty[0], copy, end         empty[0] in phase 2
    warp 1:  wait empty[0] . . . . . . asleep . . . . . . . . . .   wait empty[0]   for phase 1

That is the schedule of probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010), whose
threads run by priority, and lose it at random points: who sleeps has the least.  A sleep ends
after so many changes that others may wait for, or where nobody else can go on.  Most bugs need one
sleep, at the right place: how often warps fall asleep is drawn by cluster, between seldom and
often.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import field

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.execution.lane_mask import FULL_WARP, warps_of
from tileas_xdsl.interpreters.ptx.execution.reconvergence import merge
from tileas_xdsl.interpreters.ptx.execution.state import Cluster, ConvergenceGroup, Warpgroup
from tileas_xdsl.layout.units import WARP

TURNS_PER_SLEEP = (2, 8, 32)
"""Of these one holds for a cluster: about how many turns of groups there are between sleeps."""

CHANGES_ASLEEP = (16, 64, 256)
"""After how many changes a sleep ends: arrivals, copies that complete, writes of memory."""


@dataclass(frozen=True)
class _Sleep:
    """Lanes of a warpgroup that sleep until the changes of the cluster are so many."""

    warpgroup: Warpgroup
    lanes: int
    until: int


@dataclass(eq=False)
class Drift:
    """The warps of a cluster that sleep."""

    cluster: Cluster
    rng: random.Random
    sleeps: list[_Sleep] = field(default_factory=list[_Sleep])

    def __post_init__(self) -> None:
        """Draw how often warps fall asleep."""
        self._turns = self.rng.choice(TURNS_PER_SLEEP)

    def choice(self, able: Sequence[ConvergenceGroup]) -> ConvergenceGroup:
        """Return which of some runnable groups is next: of each warp the one furthest behind may
        be, so that its lanes come together again."""
        ahead = [f for f in able if not any(o.pc < f.pc and _meet(o, f) for o in able)]
        return self.rng.choice(ahead)

    def may_run(self, group: ConvergenceGroup) -> bool:
        """Let warps fall asleep by chance, before a turn of a group; return whether it is awake.

        What sleeps of it is split off.
        """
        if self.rng.randrange(self._turns) == 0:
            self._fall_asleep(group)
        asleep = group.mask & group.warpgroup.asleep
        if asleep and asleep != group.mask:
            group.warpgroup.convergence_groups.append(group.part(asleep, group.pc))
            group.mask &= ~asleep
        return asleep != group.mask

    def wake_due(self) -> None:
        """Wake all who have slept for long enough."""
        if self.sleeps:
            changes = sum(self.cluster.changes)
            for sleep in [one for one in self.sleeps if one.until <= changes]:
                self._wake(sleep)

    def wake_any(self) -> bool:
        """Wake one sleeper, for nothing else can go on; return whether there was one."""
        if not self.sleeps:
            return False
        self._wake(self.rng.choice(self.sleeps))
        return True

    def _fall_asleep(self, group: ConvergenceGroup) -> None:
        """Put a warp of a group to sleep, all of its warpgroup, or all of its block."""
        warpgroup = group.warpgroup
        warp = self.rng.choice(warps_of(group.mask))
        lanes = {warpgroup: FULL_WARP << WARP * warp}
        wide = self.rng.randrange(4)
        if wide == 0:
            lanes = {warpgroup: warpgroup.full}
        elif wide == 1 and len(self.cluster.ctas) > 1:
            lanes = {one: one.full for one in warpgroup.cta.warpgroups}
        until = sum(self.cluster.changes) + self.rng.choice(CHANGES_ASLEEP)
        for one, mask in lanes.items():
            awake = mask & one.full & ~one.asleep
            if awake:
                one.asleep |= awake
                self.sleeps.append(_Sleep(one, awake, until))

    def _wake(self, sleep: _Sleep) -> None:
        self.sleeps.remove(sleep)
        sleep.warpgroup.asleep &= ~sleep.lanes
        if len(sleep.warpgroup.convergence_groups) > 1:
            merge(sleep.warpgroup, self.cluster.program.widths)


def _meet(a: ConvergenceGroup, b: ConvergenceGroup) -> bool:
    """Return whether two groups have lanes of one warp."""
    return not set(warps_of(a.mask)).isdisjoint(warps_of(b.mask))
