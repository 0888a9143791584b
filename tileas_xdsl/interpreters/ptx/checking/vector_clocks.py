"""Vector clocks of the warps and the asynchronous operations of a cluster.

Agents are the warps; for each warp the copies that it starts (asynchronous proxy); for each warp
its tensor-core instructions; and for each pair of a warp and an mbarrier the copies that signal it,
since copies of different mbarriers complete in any order, those of a multicast too.  An access has
the stamp `clock << 20 | instruction`.  A vector clock is one limit per agent: accesses of the agent
with a stamp below the limit happened before.  With warps 0 and 1:

    warp 0: st.shared x    stamp 2    clock of warp 0 = [3, 1]
    warp 0: mbarrier.arrive           release: the barrier joins [3, 1]; warp 0 ticks: [4, 1]
    warp 1: mbarrier.wait             acquire: clock of warp 1 = max([1, 3], [3, 1]) = [3, 3]
    warp 1: ld.shared x               2 < 3: ordered; without the wait 2 >= 1: a race

Three clocks travel together: `ordered` (happens before), `visible` (generic accesses that the
asynchronous proxy comes behind: only `fence.proxy.async` raises it, PTX ISA 9.7.13.4), and `tensor`
(ordered accesses of tensor memory: `tcgen05.fence` raises it, PTX ISA 9.7.16.6.4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.checking.global_memory.foreign_clocks import ForeignClocks
from tileas_xdsl.interpreters.ptx.checking.global_memory.foreign_clocks import join as join_foreign
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array

STAMP_BITS = 20
TICK = 1 << STAMP_BITS
GLOBAL_WRITES = -1
"""The signal of the writes of bulk stores, which no mbarrier observes."""

COPY_AGENTS = 32
"""By CTA of a cluster, pairs of a warp and an mbarrier that get an agent; further ones share that
of the warp."""
FOREVER = np.iinfo(np.int64).max


def _raise(clocks: Array, other: Array) -> None:
    """Raise every limit of one vector clock, or of a row of them, to that of another."""
    np.maximum(clocks, other, out=clocks)


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
        self.ordered = np.maximum(self.ordered, other.ordered)
        self.visible = np.maximum(self.visible, other.visible)
        self.tensor = np.maximum(self.tensor, other.tensor)
        self.foreign = join_foreign(self.foreign, other.foreign)

    def copy(self) -> ClockSnapshot:
        """Return a copy that may join others: arrays of snapshots are never written in place."""
        return ClockSnapshot(self.ordered, self.visible, self.tensor, self.foreign)


def joined(known: ClockSnapshot | None, arrival: ClockSnapshot | None) -> ClockSnapshot | None:
    """The clocks of all arrivals: those known, which may change, and those of another one."""
    if known is None or arrival is None:
        return known if arrival is None else arrival.copy()
    known.join(arrival)
    return known


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

    def __init__(self, warps: int, ctas: int = 1) -> None:
        self.warps = warps
        self._max_pairs = ctas * COPY_AGENTS
        self.agents = 3 * warps + self._max_pairs
        self.no_agent = self.agents
        shape = (warps, self.agents + 1)
        self.ordered = np.full(shape, TICK, np.int64)
        self.ordered[:, self.no_agent] = 0
        self.own = self.ordered.reshape(-1)[:: shape[1] + 1]
        """The clock of each warp itself: the diagonal of `ordered`."""
        self.own[:] = 2 * TICK
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
        self._zeros = np.zeros(self.agents + 1, np.int64)
        self._zeros.flags.writeable = False
        self._issued = [1] * self.agents
        self._copy_agents: dict[tuple[int, object], int] = {}
        self._issuers: list[int] = []
        self._fences_tensor = False
        self._learned = 0
        """How often a warp has learned what others did, or has made it visible."""
        self._common: dict[tuple[int, int], tuple[int, Array, Array]] = {}
        """By warps, what all of them knew when that many things were learned."""

    def stamp(self, warp: int, instruction: int) -> int:
        """Return the stamp of an access by a warp now."""
        return int(self.own[warp]) - TICK | instruction

    def release(self, first: int, last: int | None = None) -> ClockSnapshot:
        """Return the joined clocks of a warp, or of all up to `last`, and advance them, so that
        later accesses are not included."""
        warps = slice(first, (first if last is None else last) + 1)
        foreign = self.foreign[first]
        for other in self.foreign[first + 1 : warps.stop]:
            foreign = join_foreign(foreign, other)
        snapshot = ClockSnapshot(
            np.maximum.reduce(self.ordered[warps]),
            np.maximum.reduce(self.visible[warps]),
            np.maximum.reduce(self.tensor_released[warps]),
            foreign,
        )
        self.own[warps] += TICK
        return snapshot

    def acquire(self, first: int, snapshot: ClockSnapshot, last: int | None = None) -> None:
        """Order everything in `snapshot` before the next accesses of a warp, or of all up to
        `last`.

        What it contains of the warps themselves is ordered among their lanes from now on.
        """
        warps = slice(first, (first if last is None else last) + 1)
        self._learned += 1
        _raise(self.synced[warps], snapshot.ordered[warps])
        _raise(self.ordered[warps], snapshot.ordered)
        _raise(self.visible[warps], snapshot.visible)
        _raise(self.tensor_acquired[warps], snapshot.tensor)
        if snapshot.foreign is not None:
            for warp in range(first, warps.stop):
                self.foreign[warp] = join_foreign(self.foreign[warp], snapshot.foreign)

    def sync_lanes(self, warp: int) -> None:
        """Execute `bar.warp.sync`: order the accesses of the lanes of a warp."""
        self.synced[warp] = self.own[warp]
        self.own[warp] += TICK

    def join_own(self, first: int, ordered: Array, last: int | None = None) -> None:
        """Order the accesses of an operation of a warp's own before its next accesses, or of all
        up to `last`."""
        self._learned += 1
        _raise(self.ordered[first : (first if last is None else last) + 1], ordered)

    def join_visible(self, warp: int, visible: Array) -> None:
        """Make visible to the async proxy what another thread has fenced for it."""
        self._learned += 1
        _raise(self.visible[warp], visible)

    def fence_proxy(self, warp: int) -> None:
        """Execute `fence.proxy.async`: all that is ordered before becomes visible to the async
        proxy."""
        self._learned += 1
        np.maximum(self.visible[warp], self.ordered[warp], out=self.visible[warp])
        foreign = self.foreign[warp]
        self.foreign[warp] = foreign and foreign.fenced()
        self.own[warp] += TICK

    def fence_tensor_before(self, warp: int) -> None:
        """`tcgen05.fence::before_thread_sync`."""
        self._fences_tensor = True
        shown, own = self.tensor_released[warp], self.ordered[warp]
        np.maximum(shown, self.tensor[warp], out=shown)
        for agent in (warp, 2 * self.warps + warp):
            shown[agent] = own[warp] if agent == warp else self._last(agent)
        self.own[warp] += TICK

    def tensor_fenced(self, warp: int) -> Array | None:
        """Return the accesses of tensor memory that a warp has fenced; None if it never has."""
        return self.tensor_released[warp].copy() if self._fences_tensor else None

    def join_tensor(self, warp: int, tensor: Array) -> None:
        """Learn what another thread has fenced, up to the next `fence::after_thread_sync`."""
        _raise(self.tensor_acquired[warp], tensor)

    def fence_tensor_after(self, warp: int) -> None:
        """`tcgen05.fence::after_thread_sync`."""
        mine = self.tensor[warp]
        np.maximum(mine, self.tensor_acquired[warp], out=mine)

    def _last(self, agent: int) -> int:
        """Return the limit above all operations of an asynchronous agent so far."""
        return (self._issued[agent] + 1) * TICK

    def start_copy(self, warp: int, instruction: int, signal: object = None) -> AsyncEvent:
        """Start a copy of the asynchronous proxy that signals the mbarrier `signal`."""
        return self._start(warp, self._copy_agent(warp, signal), instruction)

    def start_multicast(
        self, warp: int, instruction: int, signal: int, ranks: Sequence[int]
    ) -> tuple[AsyncEvent, Mapping[int, AsyncEvent]]:
        """Start a copy to CTAs by rank; return its read, and what it writes to each of them.

        Each CTA is told of its own bytes only, which have been read then: what one has waited for
        may still be on its way to the others.
        """
        read = self.start_copy(warp, instruction, signal)
        if len(ranks) == 1:
            return read, {ranks[0]: read}
        writes = {rank: self.start_copy(warp, instruction, (signal, rank)) for rank in ranks}
        for write in writes.values():
            write.limits[read.agent] = read.end
        return read, writes

    def _copy_agent(self, warp: int, signal: object) -> int:
        found = self._copy_agents.get((warp, signal))
        if found is not None:
            return found
        if signal is None or len(self._issuers) == self._max_pairs:
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
        limits, visible = self._known_to_all(first, last)
        agent, stamp, end = self._issue(first, 2 * self.warps + first, instruction)
        self.own[first + 1 : last + 1] += TICK
        return AsyncEvent(agent, stamp, limits, visible, end, self.foreign[first])

    def _known_to_all(self, first: int, last: int) -> tuple[Array, Array]:
        """Return what several warps know is ordered, and visible to the asynchronous proxy.

        It stays while none of them learns anything: its own clock each warp knows best, so that
        the minimum is never that.
        """
        found = self._common.get((first, last))
        if found is not None and found[0] == self._learned and first < last:
            return found[1:]
        ordered = np.minimum.reduce(self.ordered[first : last + 1])
        visible = np.minimum.reduce(self.visible[first : last + 1])
        self._common[first, last] = self._learned, ordered, visible
        return ordered, visible

    def _start(self, warp: int, agent: int, instruction: int) -> AsyncEvent:
        limits, visible = self.ordered[warp].copy(), self.visible[warp].copy()
        agent, stamp, end = self._issue(warp, agent, instruction)
        return AsyncEvent(agent, stamp, limits, visible, end, self.foreign[warp])

    def _issue(self, warp: int, agent: int, instruction: int) -> tuple[int, int, int]:
        """Advance a warp and its asynchronous agent; return the agent, its stamp, and its limit
        above it."""
        clock = self._issued[agent] = self._issued[agent] + 1
        self.effects.add(warp)
        self.own[warp] += TICK
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
        return self._zeros

    def are_copies(self, agents: Array) -> Array:
        """Return which agents are copies of the asynchronous proxy."""
        copies = (agents >= 3 * self.warps) & (agents < self.no_agent)
        return copies | (agents >= self.warps) & (agents < 2 * self.warps)

    def are_signalled(self, agents: Array) -> Array:
        """Return which agents are operations that mbarriers observe: not those in groups that
        their warp waits for."""
        return (agents >= 2 * self.warps) & (agents < self.no_agent)

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
