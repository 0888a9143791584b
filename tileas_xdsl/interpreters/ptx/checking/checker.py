"""Checks of a running cluster: knowledge of its warps, and shadows of its memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tileas_xdsl.interpreters.ptx.checking.diagnosis import (
    conflict_finding,
    shared_place,
    tensor_place,
)
from tileas_xdsl.interpreters.ptx.checking.findings import Findings
from tileas_xdsl.interpreters.ptx.checking.shadow_memory import Access, Conflict, Places, Shadow
from tileas_xdsl.interpreters.ptx.checking.smem_layout_tags import LayoutTags
from tileas_xdsl.interpreters.ptx.checking.vector_clocks import (
    FOREVER,
    TICK,
    Clocks,
    Knowledge,
    Started,
)
from tileas_xdsl.interpreters.ptx.execution.lane_mask import WARP, Array
from tileas_xdsl.interpreters.ptx.memory.shared_memory import GRANULE, TENSOR_COLUMNS

if TYPE_CHECKING:
    from tileas_xdsl.interpreters.ptx.execution.state import Cta, Gang

TENSOR_GRANULES = 8 * TENSOR_COLUMNS
"""Tensor memory is remembered by column, in groups of 16 lanes."""


class Checker:
    """The knowledge and the shadows of one cluster."""

    def __init__(self, warps: int, ctas: int, granules: int, findings: Findings) -> None:
        self.clocks = Clocks(warps)
        self.findings = findings
        self.shared = [Shadow(granules, self.clocks.nobody) for _ in range(ctas)]
        self.tags = [LayoutTags(granules) for _ in range(ctas)]
        self.tensor = [Shadow(TENSOR_GRANULES, self.clocks.nobody) for _ in range(ctas)]

    # Shared memory

    def lanes(
        self,
        cta: Cta,
        gang: Gang,
        active: Array,
        offsets: Array,
        size: int,
        at: int,
        *,
        write: bool,
    ) -> None:
        """Generic accesses of `size` bytes, one a lane of `active`, at offsets of a CTA."""
        if cta.mbarriers and write:
            self._keep_barriers(cta, offsets, size, at)
        warps = active // WARP
        for warp in range(int(warps[0]), int(warps[-1]) + 1):
            mine = offsets if warps[0] == warps[-1] else offsets[warps == warp]
            if mine.size:
                self._warp_access(cta, gang.agents[warp], mine, size, at, write=write)

    def _warp_access(
        self, cta: Cta, agent: int, offsets: Array, size: int, at: int, *, write: bool
    ) -> None:
        clocks = self.clocks
        access = Access(agent, clocks.stamp(agent, at), clocks.seen[agent])
        shadow = self.shared[cta.rank]
        granules = _whole_granules(offsets, size)
        if granules is not None:
            found = (shadow.write if write else shadow.read)(granules, access)
        else:
            places = (offsets.astype(np.int64)[:, None] + np.arange(size)).ravel()
            found = (shadow.write_bytes if write else shadow.read_bytes)(places, access)
        if write:
            self.tags[cta.rank].forget(offsets.astype(np.int64) >> 4)
        if found is not None:
            self._tell(cta, found, at)

    def atomics(
        self, cta: Cta, gang: Gang, active: Array, offsets: Array, size: int, at: int
    ) -> None:
        """Atomics are never in a race with one another: only accesses of others are compared."""
        clocks = self.clocks
        for warp in sorted({int(lane) // WARP for lane in active}):
            agent = gang.agents[warp]
            limits = clocks.seen[agent].copy()
            access = Access(agent, clocks.stamp(agent, at), limits, atomic=True)
            mine = offsets[active // WARP == warp].astype(np.int64)
            places = np.unique((mine[:, None] + np.arange(size)).ravel())
            found = self.shared[cta.rank].write_bytes(places, access)
            if found is not None:
                self._tell(cta, found, at)

    def _keep_barriers(self, cta: Cta, offsets: Array, size: int, at: int) -> None:
        low, high = int(offsets.min()), int(offsets.max()) + size
        for place, barrier in cta.mbarriers.items():
            if place + 8 <= low or place >= high:
                continue
            if bool(((offsets < place + 8) & (offsets + size > place)).any()):
                self.findings.add(
                    "barrier-overwritten",
                    at,
                    f"ordinary data is written over {barrier.name}, a live mbarrier",
                    ["hint: mbarrier.inval ends the life of a barrier"],
                )
                return

    def copy(self, cta: Cta, places: Places, started: Started, at: int, *, write: bool) -> None:
        """Granules that an asynchronous operation reads or writes."""
        access = Access(started.agent, started.stamp, started.limits, started.visible)
        shadow = self.shared[cta.rank]
        found = (shadow.write if write else shadow.read)(places, access)
        if found is not None:
            self._tell(cta, found, at)

    def copy_generic(self, cta: Cta, offsets: Array, size: int, started: Started, at: int) -> None:
        """Writes of a copy through the generic proxy (`cp.async`)."""
        access = Access(started.agent, started.stamp, started.limits)
        granules = _whole_granules(offsets, size)
        shadow = self.shared[cta.rank]
        if granules is not None:
            found = shadow.write(granules, access)
        else:
            places = (offsets.astype(np.int64)[:, None] + np.arange(size)).ravel()
            found = shadow.write_bytes(places, access)
        if found is not None:
            self._tell(cta, found, at)

    def _tell(self, cta: Cta, conflict: Conflict, at: int) -> None:
        what = f"'{self._opcode(cta, at)}'"
        where = shared_place(cta, conflict)
        kind, message, story = conflict_finding(cta, conflict, what, where)
        self.findings.add(kind, at, message, story)

    def _opcode(self, cta: Cta, at: int) -> str:
        parts = cta.cluster.program.code[at].parts
        return ".".join(parts[:4]) + ("..." if len(parts) > 4 else "")

    # Tensor memory

    def tensor_lanes(self, cta: Cta, agent: int, places: Array, at: int, *, write: bool) -> None:
        """Cells that a warp loads or stores."""
        clocks = self.clocks
        limits = clocks.tensor[agent].copy()
        limits[agent] = clocks.seen[agent][agent]
        own = 2 * clocks.warps + agent
        limits[own] = clocks.seen[agent][own]
        access = Access(agent, clocks.stamp(agent, at), limits)
        self._tensor(cta, places, access, agent, at, write=write)

    def tensor_free(self, cta: Cta, agent: int, places: Array, at: int) -> None:
        """Columns that a warp frees: everybody else is done with them."""
        clocks = self.clocks
        access = Access(agent, clocks.stamp(agent, at), clocks.seen[agent])
        self._tensor(cta, places, access, agent, at, write=True)

    def tensor_operation(
        self, cta: Cta, places: Array, started: Started, agent: int, at: int, *, write: bool
    ) -> None:
        """Cells that an asynchronous tensor-core instruction reads or writes.

        Those of one thread are done in order, so they never race with one another.
        """
        limits = self.clocks.tensor[agent].copy()
        limits[agent] = self.clocks.seen[agent][agent]
        limits[started.agent] = FOREVER
        access = Access(started.agent, started.stamp, limits)
        self._tensor(cta, places, access, agent, at, write=write)

    def _tensor(
        self, cta: Cta, places: Array, access: Access, agent: int, at: int, *, write: bool
    ) -> None:
        shadow = self.tensor[cta.rank]
        found = (shadow.write if write else shadow.read)(places, access)
        if found is None:
            return
        if found.kind in ("RAW", "WAR", "WAW"):
            found.kind = self._tensor_kind(found, agent)
        where = tensor_place(cta, found)
        told = conflict_finding(cta, found, f"'{self._opcode(cta, at)}'", where)
        self.findings.add(told[0], at, told[1], told[2])

    def _tensor_kind(self, conflict: Conflict, agent: int) -> str:
        """A race, or a fence that is missing on one of the two sides."""
        clocks = self.clocks
        if conflict.stamp < clocks.tensor_heard[agent][conflict.other]:
            return "unheard"
        if conflict.stamp < clocks.seen[agent][conflict.other]:
            return "untold"
        return conflict.kind

    # Knowledge

    def release(self, gang: Gang, warps: tuple[int, ...]) -> Knowledge:
        """What some warps of a gang hand on together."""
        agents = gang.agents
        known = self.clocks.release(agents[warps[0]])
        for warp in warps[1:]:
            known.join(self.clocks.release(agents[warp]))
        return known

    def acquire(self, gang: Gang, warps: tuple[int, ...], known: Knowledge | None) -> None:
        """What some warps of a gang learn at a barrier."""
        if known is None:
            return
        agents = gang.agents
        for warp in warps:
            self.clocks.acquire(agents[warp], known)

    def start_warpgroup(self, gang: Gang, at: int) -> Started:
        """A matrix instruction of all warps of a gang; its agent is that of the first."""
        clocks, agents = self.clocks, gang.agents
        started = clocks.start_tensor(agents[0], at)
        for agent in agents[1:]:
            np.maximum(started.limits, clocks.seen[agent], out=started.limits)
            np.maximum(started.visible, clocks.visible[agent], out=started.visible)
            clocks.seen[agent, agent] += TICK
        own = int(started.done[started.agent])
        np.maximum(started.done, started.limits, out=started.done)
        started.done[started.agent] = own
        return started

    def leave(self, cta: Cta) -> None:
        """A CTA ends: nobody may reach into it any more."""
        clocks = self.clocks
        first = cta.rank * cta.warp_count
        seen = clocks.seen[first : first + cta.warp_count].max(0)
        for agent, clock in cta.remote_touch.items():
            if seen[agent] < clock:
                name = cta.cluster.warp_name(agent)
                self.findings.add(
                    "exit-race",
                    None,
                    f"{cta.name} may end before {name} last reaches into its shared memory",
                    ["hint: end the kernel with barrier.cluster.arrive and barrier.cluster.wait"],
                )
                return
        self._check_arrived(cta, seen)

    def _check_arrived(self, cta: Cta, seen: Array) -> None:
        """Copies into the shared memory of a CTA that ends, which no thread of it waited for."""
        clocks, plane = self.clocks, self.shared[cta.rank].granules
        late = (plane.clock >= seen[plane.writer]) & clocks.are_copies(plane.writer)
        if not late.any():
            return
        first = int(np.flatnonzero(late)[0])
        warp, prefix = clocks.describe(int(plane.writer[first]))
        self.findings.add(
            "exit-race",
            int(plane.clock[first]) % TICK,
            f"{cta.name} may end while {prefix}{cta.cluster.warp_name(warp)} still writes its "
            "shared memory",
            ["hint: a thread has to wait for the mbarrier that the copy tells"],
        )


def _whole_granules(offsets: Array, size: int) -> Array | None:
    """The granules that accesses of consecutive lanes fill; None where they touch parts."""
    if size == GRANULE:
        return offsets.astype(np.int64) >> 4
    first, count = int(offsets[0]), len(offsets)
    if first % GRANULE or count * size % GRANULE:
        return None
    if int(offsets[-1]) != first + size * (count - 1):
        return None
    if count > 2 and not bool((np.diff(offsets.astype(np.int64)) == size).all()):
        return None
    return np.arange(first >> 4, (first + count * size) >> 4)
