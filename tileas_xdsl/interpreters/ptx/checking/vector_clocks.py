"""Vector clocks: what every warp knows of the accesses of all agents of its cluster.

Agents are the warps, for each warp the copies it started (the asynchronous proxy), for each warp
its tensor-core instructions, and the copies of a warp that tell one mbarrier: those of different
barriers end in any order.  An access is remembered as a stamp, `clock << 20 | instruction`;
what a warp knows is one limit an agent: accesses with a stamp below it happened before now.

Three kinds of knowledge travel together: `seen` (happens before), `visible` (which generic writes
the asynchronous proxy may see: only `fence.proxy.async` adds to it), and `tensor` (which
tensor-core accesses are ordered: `tcgen05.fence` adds to it).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array

STAMP_BITS = 20
TICK = 1 << STAMP_BITS
COPY_AGENTS = 32
"""So many pairs of a warp and an mbarrier get an agent; further ones share that of the warp."""
FOREVER = np.iinfo(np.int64).max


@dataclass(slots=True)
class Knowledge:
    """What a barrier hands on."""

    seen: Array
    visible: Array
    tensor: Array

    def join(self, other: Knowledge) -> None:
        """Add what somebody else knows."""
        np.maximum(self.seen, other.seen, out=self.seen)
        np.maximum(self.visible, other.visible, out=self.visible)
        np.maximum(self.tensor, other.tensor, out=self.tensor)

    def copy(self) -> Knowledge:
        """The same, to be changed."""
        return Knowledge(self.seen.copy(), self.visible.copy(), self.tensor.copy())


@dataclass(slots=True)
class Started:
    """An asynchronous operation: its agent, its stamp, and what happened before it."""

    agent: int
    stamp: int
    limits: Array
    visible: Array
    done: Array
    """What those know who have waited for it."""


class Clocks:
    """The knowledge of all warps of a cluster; `warps` is their number."""

    def __init__(self, warps: int) -> None:
        self.warps = warps
        self.agents = 3 * warps + COPY_AGENTS
        self.nobody = self.agents
        shape = (warps, self.agents + 1)
        self.seen = np.full(shape, TICK, np.int64)
        self.seen[:, self.nobody] = 0
        own = np.arange(warps)
        self.seen[own, own] = 2 * TICK
        self.visible = np.full(shape, TICK, np.int64)
        self.visible[:, self.nobody] = 0
        self.tensor = self.visible.copy()
        """What a warp's own tensor-core instructions may rely on."""
        self.tensor_heard = self.visible.copy()
        """What it has heard of others', but has not fenced yet."""
        self.tensor_told = self.visible.copy()
        """What it hands on: what it knew at its last fence before a synchronisation."""
        self._issued = np.ones(self.agents, np.int64)
        self._copiers: dict[tuple[int, object], int] = {}
        self._issuers: list[int] = []

    def stamp(self, warp: int, instruction: int) -> int:
        """The stamp of an access by a warp now."""
        return int(self.seen[warp, warp]) - TICK | instruction

    def release(self, warp: int) -> Knowledge:
        """What a warp hands on; what it does next is not part of it."""
        known = Knowledge(
            self.seen[warp].copy(), self.visible[warp].copy(), self.tensor_told[warp].copy()
        )
        self.seen[warp, warp] += TICK
        return known

    def acquire(self, warp: int, known: Knowledge) -> None:
        """Everything before `known` happened before what the warp does next."""
        np.maximum(self.seen[warp], known.seen, out=self.seen[warp])
        np.maximum(self.visible[warp], known.visible, out=self.visible[warp])
        heard = self.tensor_heard[warp]
        np.maximum(heard, known.tensor, out=heard)

    def learn(self, warp: int, seen: Array) -> None:
        """The same of an operation of the warp's own."""
        np.maximum(self.seen[warp], seen, out=self.seen[warp])

    def fence_proxy(self, warp: int) -> None:
        """`fence.proxy.async`: the asynchronous proxy sees what the warp has seen."""
        np.maximum(self.visible[warp], self.seen[warp], out=self.visible[warp])
        self.seen[warp, warp] += TICK

    def fence_tensor_before(self, warp: int) -> None:
        """`tcgen05.fence::before_thread_sync`."""
        told, own = self.tensor_told[warp], self.seen[warp]
        np.maximum(told, self.tensor[warp], out=told)
        for agent in (warp, 2 * self.warps + warp):
            told[agent] = own[warp] if agent == warp else self._last(agent)
        self.seen[warp, warp] += TICK

    def fence_tensor_after(self, warp: int) -> None:
        """`tcgen05.fence::after_thread_sync`."""
        mine = self.tensor[warp]
        np.maximum(mine, self.tensor_heard[warp], out=mine)

    def _last(self, agent: int) -> int:
        """The limit that covers all operations of an asynchronous agent so far."""
        return int(self._issued[agent] + 1) * TICK

    def start_copy(self, warp: int, instruction: int, signal: int | None = None) -> Started:
        """A copy by the asynchronous proxy that a warp starts, and the mbarrier it tells."""
        return self._start(warp, self._copier(warp, signal), instruction)

    def _copier(self, warp: int, signal: int | None) -> int:
        found = self._copiers.get((warp, signal))
        if found is not None:
            return found
        if signal is None or len(self._issuers) == COPY_AGENTS:
            return self.warps + warp
        agent = self._copiers[warp, signal] = 3 * self.warps + len(self._issuers)
        self._issuers.append(warp)
        return agent

    def start_tensor(self, warp: int, instruction: int) -> Started:
        """A tensor-core instruction that a warp starts."""
        return self._start(warp, 2 * self.warps + warp, instruction)

    def _start(self, warp: int, agent: int, instruction: int) -> Started:
        self._issued[agent] += 1
        clock = int(self._issued[agent])
        limits = self.seen[warp].copy()
        self.seen[warp, warp] += TICK
        done = limits.copy()
        done[agent] = (clock + 1) * TICK
        visible = self.visible[warp].copy()
        return Started(agent, clock * TICK | instruction, limits, visible, done)

    def knowledge_of(self, started: Started) -> Knowledge:
        """What the end of an asynchronous operation tells those who wait for it."""
        return Knowledge(started.done.copy(), self._none(), self._none())

    def tensor_knowledge_of(self, started: Started, warp: int) -> Knowledge:
        """The same for tensor-core operations, which `tcgen05.commit` orders without a fence."""
        tensor = np.maximum(started.done, self.tensor[warp])
        return Knowledge(started.done.copy(), self._none(), tensor)

    def _none(self) -> Array:
        return np.zeros(self.agents + 1, np.int64)

    def are_copies(self, agents: Array) -> Array:
        """Which agents stand for copies of the asynchronous proxy."""
        copies = (agents >= 3 * self.warps) & (agents < self.nobody)
        return copies | (agents >= self.warps) & (agents < 2 * self.warps)

    def describe(self, agent: int) -> tuple[int, str]:
        """The warp (in the cluster) behind an agent and what of it the agent is."""
        if agent < self.warps:
            return agent, ""
        if agent < 2 * self.warps:
            return agent - self.warps, "a copy of "
        if agent < 3 * self.warps:
            return agent - 2 * self.warps, "a tensor-core instruction of "
        return self._issuers[agent - 3 * self.warps], "a copy of "
