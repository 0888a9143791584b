"""Vector clocks of the warps and the asynchronous operations of a cluster.

Agents are the warps; for each warp the copies that it starts (asynchronous proxy); for each warp
its tensor-core instructions; and for each pair of a warp and an mbarrier the copies that signal it,
since copies of different mbarriers complete in any order.  An access has the stamp
`clock << 20 | instruction`.  A vector clock is one limit per agent: accesses of the agent with a
stamp below the limit happened before.  With warps 0 and 1:

    warp 0: st.shared x    stamp 2    clock of warp 0 = [3, 1]
    warp 0: mbarrier.arrive           release: the barrier joins [3, 1]; warp 0 ticks: [4, 1]
    warp 1: mbarrier.wait             acquire: clock of warp 1 = max([1, 3], [3, 1]) = [3, 3]
    warp 1: ld.shared x               2 < 3: ordered; without the wait 2 >= 1: a race

Three clocks travel together: `ordered` (happens before), `visible` (generic writes that the
asynchronous proxy may read: only `fence.proxy.async` raises it, PTX ISA 9.7.13.4), and `tensor`
(ordered accesses of tensor memory: `tcgen05.fence` raises it, PTX ISA 9.7.16.6.4).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tileas_xdsl.interpreters.ptx.checking.foreign_clocks import ForeignClocks
from tileas_xdsl.interpreters.ptx.checking.foreign_clocks import join as join_foreign
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array

STAMP_BITS = 20
TICK = 1 << STAMP_BITS
GLOBAL_WRITES = -1
"""The signal of the writes of bulk stores, which no mbarrier hears of."""

COPY_AGENTS = 32
"""Pairs of a warp and an mbarrier that get an agent; further ones share that of the warp."""
FOREVER = np.iinfo(np.int64).max


@dataclass(slots=True)
class ClockSnapshot:
    """The clocks that a barrier passes from arrivals to waits."""

    ordered: Array
    visible: Array
    tensor: Array
    foreign: ForeignClocks | None = None
    """What is known about other clusters."""

    def join(self, other: ClockSnapshot) -> None:
        """Raise every limit to that of `other`, if it is larger."""
        np.maximum(self.ordered, other.ordered, out=self.ordered)
        np.maximum(self.visible, other.visible, out=self.visible)
        np.maximum(self.tensor, other.tensor, out=self.tensor)
        self.foreign = join_foreign(self.foreign, other.foreign)

    def copy(self) -> ClockSnapshot:
        """Return a copy that may be changed."""
        clocks = self.ordered.copy(), self.visible.copy(), self.tensor.copy()
        return ClockSnapshot(*clocks, self.foreign)


@dataclass(slots=True)
class AsyncEvent:
    """A started asynchronous operation: its agent, its stamp, and the clocks at its start."""

    agent: int
    stamp: int
    limits: Array
    visible: Array
    end: int
    """The limit of its agent above its own accesses."""
    foreign: ForeignClocks | None = None
    """What its issuer knew about other clusters."""

    def done(self) -> Array:
        """Return the clock that a wait for its completion acquires."""
        found = self.limits.copy()
        found[self.agent] = self.end
        return found


class Clocks:
    """The vector clocks of all warps of a cluster."""

    def __init__(self, warps: int) -> None:
        self.warps = warps
        self.agents = 3 * warps + COPY_AGENTS
        self.no_agent = self.agents
        shape = (warps, self.agents + 1)
        self.ordered = np.full(shape, TICK, np.int64)
        self.ordered[:, self.no_agent] = 0
        own = np.arange(warps)
        self.ordered[own, own] = 2 * TICK
        self.visible = np.full(shape, TICK, np.int64)
        self.visible[:, self.no_agent] = 0
        self.tensor = self.visible.copy()
        """By warp, accesses of tensor memory ordered before its own tcgen05 instructions."""
        self.tensor_acquired = self.visible.copy()
        """By warp, what it has acquired but not fenced by `fence::after_thread_sync` yet."""
        self.tensor_released = self.visible.copy()
        """By warp, what it releases: its clock at the last `fence::before_thread_sync`."""
        self.foreign: list[ForeignClocks | None] = [None] * warps
        """By warp, what it has acquired from other clusters."""
        self.effects: set[int] = set()
        """Warps that have written anything: only they can pass on what they have read."""
        self.synced = np.zeros(warps, np.int64)
        """By warp, the limit of its own accesses that are ordered among its lanes."""
        self._issued = [1] * self.agents
        self._copy_agents: dict[tuple[int, object], int] = {}
        self._issuers: list[int] = []

    def stamp(self, warp: int, instruction: int) -> int:
        """Return the stamp of an access by a warp now."""
        return int(self.ordered[warp, warp]) - TICK | instruction

    def release(self, warp: int) -> ClockSnapshot:
        """Return the clocks of a warp and advance it, so that later accesses are not included."""
        snapshot = ClockSnapshot(
            self.ordered[warp].copy(),
            self.visible[warp].copy(),
            self.tensor_released[warp].copy(),
            self.foreign[warp],
        )
        self.ordered[warp, warp] += TICK
        return snapshot

    def acquire(self, warp: int, snapshot: ClockSnapshot) -> None:
        """Order everything in `snapshot` before the next accesses of the warp.

        What it contains of the warp itself is ordered among its lanes from now on.
        """
        if snapshot.ordered[warp] > self.synced[warp]:
            self.synced[warp] = snapshot.ordered[warp]
        np.maximum(self.ordered[warp], snapshot.ordered, out=self.ordered[warp])
        np.maximum(self.visible[warp], snapshot.visible, out=self.visible[warp])
        acquired = self.tensor_acquired[warp]
        np.maximum(acquired, snapshot.tensor, out=acquired)
        self.foreign[warp] = join_foreign(self.foreign[warp], snapshot.foreign)

    def sync_lanes(self, warp: int) -> None:
        """Execute `bar.warp.sync`: order the accesses of the lanes of a warp."""
        self.synced[warp] = self.ordered[warp, warp]
        self.ordered[warp, warp] += TICK

    def join_own(self, warp: int, ordered: Array) -> None:
        """Order the accesses of an operation of the warp's own before its next accesses."""
        np.maximum(self.ordered[warp], ordered, out=self.ordered[warp])

    def join_visible(self, warp: int, visible: Array) -> None:
        """Make visible to the async proxy what another thread has fenced for it."""
        np.maximum(self.visible[warp], visible, out=self.visible[warp])

    def fence_proxy(self, warp: int) -> None:
        """Execute `fence.proxy.async`: all that is ordered before becomes visible to the async
        proxy."""
        np.maximum(self.visible[warp], self.ordered[warp], out=self.visible[warp])
        foreign = self.foreign[warp]
        self.foreign[warp] = foreign and foreign.fenced()
        self.ordered[warp, warp] += TICK

    def fence_tensor_before(self, warp: int) -> None:
        """`tcgen05.fence::before_thread_sync`."""
        shown, own = self.tensor_released[warp], self.ordered[warp]
        np.maximum(shown, self.tensor[warp], out=shown)
        for agent in (warp, 2 * self.warps + warp):
            shown[agent] = own[warp] if agent == warp else self._last(agent)
        self.ordered[warp, warp] += TICK

    def fence_tensor_after(self, warp: int) -> None:
        """`tcgen05.fence::after_thread_sync`."""
        mine = self.tensor[warp]
        np.maximum(mine, self.tensor_acquired[warp], out=mine)

    def _last(self, agent: int) -> int:
        """Return the limit above all operations of an asynchronous agent so far."""
        return (self._issued[agent] + 1) * TICK

    def start_copy(self, warp: int, instruction: int, signal: int | None = None) -> AsyncEvent:
        """Start a copy of the asynchronous proxy that signals the mbarrier `signal`."""
        return self._start(warp, self._copy_agent(warp, signal), instruction)

    def _copy_agent(self, warp: int, signal: int | None) -> int:
        found = self._copy_agents.get((warp, signal))
        if found is not None:
            return found
        if signal is None or len(self._issuers) == COPY_AGENTS:
            return self.warps + warp
        agent = self._copy_agents[warp, signal] = 3 * self.warps + len(self._issuers)
        self._issuers.append(warp)
        return agent

    def start_tensor(self, warp: int, instruction: int) -> AsyncEvent:
        """Start a tensor-core instruction of a warp."""
        return self._start(warp, 2 * self.warps + warp, instruction)

    def start_of_warps(self, first: int, last: int, instruction: int) -> AsyncEvent:
        """Start a tensor-core instruction of several warps (`last` included), whose agent is that
        of the first one.

        Each of them reads operands for itself, so that before it is only what happened before all.
        """
        limits = np.minimum.reduce(self.ordered[first : last + 1], 0)
        visible = np.minimum.reduce(self.visible[first : last + 1], 0)
        agent, stamp, end = self._issue(first, 2 * self.warps + first, instruction)
        for warp in range(first + 1, last + 1):
            self.ordered[warp, warp] += TICK
        return AsyncEvent(agent, stamp, limits, visible, end, self.foreign[first])

    def _start(self, warp: int, agent: int, instruction: int) -> AsyncEvent:
        limits, visible = self.ordered[warp].copy(), self.visible[warp].copy()
        agent, stamp, end = self._issue(warp, agent, instruction)
        return AsyncEvent(agent, stamp, limits, visible, end, self.foreign[warp])

    def _issue(self, warp: int, agent: int, instruction: int) -> tuple[int, int, int]:
        """Advance a warp and its asynchronous agent; return the agent, its stamp, and its limit
        above it."""
        clock = self._issued[agent] = self._issued[agent] + 1
        self.effects.add(warp)
        self.ordered[warp, warp] += TICK
        return agent, clock * TICK | instruction, (clock + 1) * TICK

    def completion_snapshot(self, started: AsyncEvent) -> ClockSnapshot:
        """Return the clocks that the completion of an operation releases."""
        return ClockSnapshot(started.done(), self._none(), self._none())

    def tensor_completion_snapshot(self, started: AsyncEvent, warp: int) -> ClockSnapshot:
        """Return the same for tcgen05 instructions, which `tcgen05.commit` orders without a
        fence."""
        done = started.done()
        return ClockSnapshot(done, self._none(), np.maximum(done, self.tensor[warp]))

    def nothing(self) -> ClockSnapshot:
        """Return the clocks of an arrival that releases nothing."""
        return ClockSnapshot(self._none(), self._none(), self._none())

    def _none(self) -> Array:
        return np.zeros(self.agents + 1, np.int64)

    def are_copies(self, agents: Array) -> Array:
        """Return which agents are copies of the asynchronous proxy."""
        copies = (agents >= 3 * self.warps) & (agents < self.no_agent)
        return copies | (agents >= self.warps) & (agents < 2 * self.warps)

    def describe(self, agent: int) -> tuple[int, str]:
        """Return the warp of an agent (in the cluster), and a prefix for its name in
        diagnostics."""
        if agent < self.warps:
            return agent, ""
        if agent < 2 * self.warps:
            return agent - self.warps, "a copy of "
        if agent < 3 * self.warps:
            return agent - 2 * self.warps, "a tensor-core instruction of "
        return self._issuers[agent - 3 * self.warps], "a copy of "
