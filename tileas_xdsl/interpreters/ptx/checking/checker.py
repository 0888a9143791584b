"""The race checker of a cluster: vector clocks of its agents, shadow memory of its CTAs.

Every access is compared with the accesses recorded for the same bytes, in the manner of a
happens-before detector (FastTrack): it is a race unless the recorded one's stamp is below the
accessing agent's limit for the agent that made it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileas_xdsl.interpreters.ptx.checking.lifetimes import check_ended, check_started
from tileas_xdsl.interpreters.ptx.checking.reports.conflicts import (
    CheckedCta,
    CheckedWarps,
    read_before_write,
    report_conflict,
    shared_location,
    tensor_location,
)
from tileas_xdsl.interpreters.ptx.checking.reports.findings import Findings, Severity
from tileas_xdsl.interpreters.ptx.checking.shadow_memory import Locations, ShadowMemory, lane_keys
from tileas_xdsl.interpreters.ptx.checking.shadow_plane import Access, Conflict, LaneAccess
from tileas_xdsl.interpreters.ptx.checking.shared_memory.layout_tags import LayoutTags
from tileas_xdsl.interpreters.ptx.checking.shared_memory.shadow_tiles import Tile, TileOverlaps
from tileas_xdsl.interpreters.ptx.checking.vector_clocks import (
    FOREVER,
    TICK,
    AsyncEvent,
    Clocks,
    ClockSnapshot,
)
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.memory.shared_memory import GRANULE, TENSOR_COLUMNS
from tileas_xdsl.layout.units import WARP

TENSOR_GRANULES = 8 * TENSOR_COLUMNS
"""Tensor memory is tracked by column, in groups of 16 lanes."""


class Checker:
    """Vector clocks and shadow memories of one cluster."""

    def __init__(
        self, warps: int, ctas: int, granules: int, findings: Findings, overlaps: TileOverlaps
    ) -> None:
        self.clocks = Clocks(warps, ctas)
        self.findings = findings
        no_agent = self.clocks.no_agent
        self.shared = [ShadowMemory(granules, no_agent, overlaps) for _ in range(ctas)]
        self.tags = [LayoutTags(granules) for _ in range(ctas)]
        self.tensor = [ShadowMemory(TENSOR_GRANULES, self.clocks.no_agent) for _ in range(ctas)]
        self._storing = [np.full(TENSOR_GRANULES, -1, np.int64) for _ in range(ctas)]
        """By CTA, the stamp of the `tcgen05.st` of each cell that nobody has waited for, or -1."""
        self._storing_warps: dict[tuple[int, int], list[Array]] = {}
        """By CTA and warp, the cells of its stores that it has not waited for."""

    # Shared memory

    def lanes(
        self,
        cta: CheckedCta,
        warpgroup: CheckedWarps,
        active: Array,
        offsets: Array,
        size: int,
        at: int,
        *,
        write: bool,
    ) -> None:
        """Check accesses of `size` bytes through the generic proxy, one per lane of `active`."""
        if cta.mbarriers and write:
            self._keep_barriers(cta, offsets, size, at)
        warps = active // WARP
        for warp in range(int(warps[0]), int(warps[-1]) + 1):
            one = warps[0] == warps[-1]
            mine = offsets if one else offsets[warps == warp]
            if mine.size:
                lanes = (active if one else active[warps == warp]) % WARP
                self._warp_access(cta, warpgroup, warp, lanes, mine, size, at, write=write)

    def _warp_access(
        self,
        cta: CheckedCta,
        warpgroup: CheckedWarps,
        warp: int,
        lanes: Array,
        offsets: Array,
        size: int,
        at: int,
        *,
        write: bool,
    ) -> None:
        clocks, agent = self.clocks, warpgroup.agents[warp]
        access = Access(agent, clocks.stamp(agent, at), clocks.ordered[agent])
        shadow = self.shared[cta.rank]
        granules = _whole_granules(offsets, size)
        synced = int(clocks.synced[agent])
        if granules is not None:
            access.lanes = LaneAccess(lane_keys(lanes, size, GRANULE // size), synced)
            found = (shadow.write if write else shadow.read)(granules, access)
        else:
            locations = (offsets.astype(np.int64)[:, None] + np.arange(size)).ravel()
            access.lanes = LaneAccess(np.repeat(lane_keys(lanes, 1), size), synced)
            found = (shadow.write_bytes if write else shadow.read_bytes)(locations, access)
        if write:
            clocks.effects.add(agent)
            self.tags[cta.rank].forget(offsets.astype(np.int64) >> 4)
        if found is None:
            return
        severity = None
        if found.kind.startswith("lane-") and warpgroup.is_converged(warp):
            severity = Severity.ISA
        self._report(cta, found, at, severity)
        if found.kind == "WAR":
            read_before_write(cta, found, at, self.findings)

    def strong(
        self,
        cta: CheckedCta,
        warpgroup: CheckedWarps,
        active: Array,
        offsets: Array,
        size: int,
        at: int,
        *,
        reads: bool,
        writes: bool,
    ) -> None:
        """Check strong accesses, which never race with one another, only with ordinary ones."""
        clocks = self.clocks
        for warp in sorted({int(lane) // WARP for lane in active}):
            agent = warpgroup.agents[warp]
            if writes:
                clocks.effects.add(agent)
            access = Access(agent, clocks.stamp(agent, at), clocks.ordered[agent])
            mine = offsets[active // WARP == warp].astype(np.int64)
            locations = np.unique((mine[:, None] + np.arange(size)).ravel())
            shadow = self.shared[cta.rank]
            found = shadow.update_bytes(locations, access, reads=reads, writes=writes)
            if found is not None:
                self._report(cta, found, at)

    def reduce(
        self, cta: CheckedCta, location: int, size: int, started: AsyncEvent, at: int
    ) -> None:
        """Check a reduction by `red.async`: it never races with others."""
        access = Access(started.agent, started.stamp, started.limits)
        locations = np.arange(location, location + size)
        shadow = self.shared[cta.rank]
        found = shadow.update_bytes(locations, access, reads=True, writes=True)
        if found is not None:
            self._report(cta, found, at)

    def lanes_agree(
        self, cta: CheckedCta, offsets: Array, stored: Array, values: Array, at: int
    ) -> None:
        """Check, after a store, that lanes which wrote to one address wrote the same."""
        lost = (stored != values).any(1)
        if not lost.any():
            return
        name = cta.cluster.program.shared_name(int(offsets[lost][0]))
        self.findings.add(
            "race-WAW",
            at,
            f"lanes of one instruction write different values to {name} of {cta.name}",
            ["hint: one lane should write, or an atomic combine the values"],
        )

    def _keep_barriers(self, cta: CheckedCta, offsets: Array, size: int, at: int) -> None:
        low, high = int(offsets.min()), int(offsets.max()) + size
        for location, barrier in cta.mbarriers.items():
            if location + 8 <= low or location >= high:
                continue
            if bool(((offsets < location + 8) & (offsets + size > location)).any()):
                self.findings.add(
                    "barrier-overwritten",
                    at,
                    f"ordinary data is written over {barrier.name}, a live mbarrier",
                    ["hint: mbarrier.inval ends the life of a barrier"],
                )
                return

    def copy(
        self, cta: CheckedCta, locations: Locations, started: AsyncEvent, at: int, *, write: bool
    ) -> None:
        """Check 16-byte granules that the asynchronous proxy reads or writes."""
        access = Access(started.agent, started.stamp, started.limits, started.visible)
        shadow = self.shared[cta.rank]
        found = (shadow.write if write else shadow.read)(locations, access)
        if found is not None:
            # What was used before the reader released it has arrived, on all hardware.
            is_of_isa = found.kind == "unfenced-read"
            self._report(cta, found, at, Severity.ISA if is_of_isa else None)

    def copy_tile(
        self, cta: CheckedCta, tile: Tile, started: AsyncEvent, at: int, *, write: bool
    ) -> None:
        """Check a tile that a tensor copy or a matrix instruction reads or writes."""
        shadow = self.shared[cta.rank]
        tiles, agent, stamp, limits = shadow.tiles, started.agent, started.stamp, started.limits
        if not (tiles.write if write else tiles.read)(tile, agent, stamp, limits):
            self.copy(cta, tile.at, started, at, write=write)

    def copy_generic(
        self, cta: CheckedCta, offsets: Array, size: int, started: AsyncEvent, at: int
    ) -> None:
        """Check writes of a non-bulk copy (`cp.async`), which uses the generic proxy."""
        access = Access(started.agent, started.stamp, started.limits)
        granules = _whole_granules(offsets, size)
        shadow = self.shared[cta.rank]
        if granules is not None:
            found = shadow.write(granules, access)
        else:
            locations = (offsets.astype(np.int64)[:, None] + np.arange(size)).ravel()
            found = shadow.write_bytes(locations, access)
        if found is not None:
            self._report(cta, found, at)

    def _report(
        self, cta: CheckedCta, conflict: Conflict, at: int, severity: Severity | None = None
    ) -> None:
        where = shared_location(cta, conflict)
        report_conflict(cta, conflict, at, where, self.clocks, self.findings, severity)

    # Tensor memory

    def tensor_lanes(
        self, cta: CheckedCta, agent: int, locations: Array, at: int, *, write: bool
    ) -> None:
        """Check tensor memory that a warp loads or stores."""
        clocks = self.clocks
        limits = clocks.tensor[agent].copy()
        limits[agent] = clocks.ordered[agent][agent]
        own = 2 * clocks.warps + agent
        limits[own] = clocks.ordered[agent][own]
        access = Access(agent, clocks.stamp(agent, at), limits)
        self._tensor(cta, locations, access, agent, at, write=write)
        if write:
            self._storing[cta.rank][locations] = access.stamp
            self._storing_warps.setdefault((cta.rank, agent), []).append(locations)

    def tensor_stores_done(self, cta: CheckedCta, agent: int) -> None:
        """Execute `tcgen05.wait::st` of a warp."""
        for locations in self._storing_warps.pop((cta.rank, agent), ()):
            self._storing[cta.rank][locations] = -1

    def _check_stored(self, cta: CheckedCta, locations: Array, at: int) -> None:
        """Report an access to cells whose `tcgen05.st` may not have completed."""
        if not self._storing_warps:
            return
        stamps = self._storing[cta.rank][locations]
        if (stamps < 0).all():
            return
        stamp = int(stamps.max())
        parts = cta.cluster.program.code[at].parts
        self.findings.add(
            "tcgen05-wait",
            at,
            f"'{'.'.join(parts[:2])}' reaches tensor memory that tcgen05.st may still write",
            [
                f"it was stored at {self.findings.line_of(stamp % TICK)}",
                "hint: tcgen05.wait::st.sync.aligned by the warp that stored, before others use it",
            ],
        )

    def tensor_free(self, cta: CheckedCta, agent: int, locations: Array, at: int) -> None:
        """Check columns that a warp deallocates: all accesses have to be ordered before it."""
        clocks = self.clocks
        access = Access(agent, clocks.stamp(agent, at), clocks.ordered[agent])
        self._tensor(cta, locations, access, agent, at, write=True)

    def tensor_operation(
        self,
        cta: CheckedCta,
        locations: Array,
        started: AsyncEvent,
        agent: int,
        at: int,
        *,
        write: bool,
    ) -> None:
        """Check tensor memory that an asynchronous tcgen05 instruction reads or writes.

        Those of one thread execute in order, so they never race with one another.
        """
        limits = self.clocks.tensor[agent].copy()
        limits[agent] = self.clocks.ordered[agent][agent]
        limits[started.agent] = FOREVER
        access = Access(started.agent, started.stamp, limits)
        self._tensor(cta, locations, access, agent, at, write=write)

    def _tensor(
        self, cta: CheckedCta, locations: Array, access: Access, agent: int, at: int, *, write: bool
    ) -> None:
        shadow = self.tensor[cta.rank]
        found = (shadow.write if write else shadow.read)(locations, access)
        if found is None:
            if not write or access.agent != agent:
                self._check_stored(cta, locations, at)
            return
        if found.kind in ("RAW", "WAR", "WAW"):
            found.kind = self._tensor_kind(found, agent)
        where = tensor_location(cta, found)
        report_conflict(cta, found, at, where, self.clocks, self.findings)

    def _tensor_kind(self, conflict: Conflict, agent: int) -> str:
        """Classify a conflict: a race, or a tcgen05.fence missing on one of the two sides."""
        clocks = self.clocks
        if conflict.stamp < clocks.tensor_acquired[agent][conflict.other]:
            return "unacquired"
        if conflict.stamp < clocks.ordered[agent][conflict.other]:
            return "unreleased"
        return conflict.kind

    # Knowledge

    def release(self, warpgroup: CheckedWarps, warps: tuple[int, ...]) -> ClockSnapshot:
        """Return the joined release snapshot of some warps of a warpgroup."""
        (first, last), *others = _consecutive(warpgroup.agents, warps)
        snapshot = self.clocks.release(first, last)
        for first, last in others:
            snapshot.join(self.clocks.release(first, last))
        return snapshot

    def acquire(
        self, warpgroup: CheckedWarps, warps: tuple[int, ...], snapshot: ClockSnapshot | None
    ) -> None:
        """Join a snapshot into the clocks of some warps of a warpgroup (acquire)."""
        if snapshot is None:
            return
        for first, last in _consecutive(warpgroup.agents, warps):
            self.clocks.acquire(first, snapshot, last)

    def start_warpgroup(self, warpgroup: CheckedWarps, at: int) -> AsyncEvent:
        """Start a wgmma of a whole warpgroup; its agent is that of the first warp."""
        agents = warpgroup.agents
        return self.clocks.start_of_warps(agents[0], agents[-1], at)

    def reach(self, cta: CheckedCta, agent: int, at: int) -> None:
        """Check that a warp of another CTA reaches the shared memory of one that has started."""
        check_started(cta, agent, at, self.clocks, self.findings)

    def leave(self, cta: CheckedCta) -> None:
        """Check that no access to the shared memory of a CTA may come after it has exited."""
        check_ended(cta, self.shared[cta.rank], self.clocks, self.findings)


def _whole_granules(offsets: Array, size: int) -> Array | None:
    """Return the granules that consecutive lanes fill; None where some are covered partly."""
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


def _consecutive(agents: range, warps: tuple[int, ...]) -> Sequence[tuple[int, int]]:
    """Return the first and the last agent of some warps of a warpgroup, run by run."""
    first, last = warps[0], warps[-1]
    if last - first == len(warps) - 1:
        return ((agents[first], agents[last]),)
    return [(agents[warp], agents[warp]) for warp in warps]
