"""Shadow memory: the last writer and the last reads of every part of a memory.

Shared memory is tracked in granules of 16 bytes, the unit of TMA and of matrix descriptors.  A
granule that is accessed in part is tracked byte by byte from then on, until it is written as a
whole, so that neighbours within a granule are no false race:

    warp 0 writes bytes 0..7, warp 1 writes bytes 8..15   ->  16 byte entries, no conflict
    a copy writes bytes 0..15                             ->  one granule entry again

An access by agent `a` conflicts with a recorded one (agent `w`, stamp `s`) unless `s` is below
`limits[w]` of the access, its vector clock (see `vector_clocks.py`).  Accesses through the
asynchronous proxy also need generic writes to be fenced: `s < visible[w]` (PTX ISA 9.7.13.4,
fence.proxy.async), and its writes generic reads.  Strong accesses (atomics, `.relaxed`,
`.volatile`) never conflict with one another.  Accesses of one warp by different lanes conflict
unless `bar.warp.sync`, or a barrier that the warp took part in, is between them:

    lane 0: st.shared [x]      lane 1: ld.shared [x]      needs bar.warp.sync between the two
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.checking.shared_memory.shadow_tiles import (
    Locations,
    TileOverlaps,
    TileShadow,
    TileState,
    indices_of,
)
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array

GRANULE_BYTES = np.arange(16)

UNKNOWN_LANE = -1
"""The key of accesses that are not known by lane: they conflict with no other lane."""


@dataclass(slots=True)
class Access:
    """An access: its agent and stamp, and the vector clock `limits` of what happened before.

    `visible` is the clock of generic writes fenced for the asynchronous proxy; None for accesses
    through the generic proxy.
    """

    agent: int
    stamp: int
    limits: Array
    visible: Array | None = None
    strong: bool = False
    lanes: LaneAccess | None = None
    """Which lanes of the warp access; None where only the warp matters."""


@dataclass(slots=True)
class LaneAccess:
    """The lanes of a warp that access each location, and what is ordered among them.

    `keys` are equal for two accesses of a location if and only if the same lanes access the same
    bytes of it.  Accesses of the warp with a stamp from `synced` on are not ordered among lanes.
    """

    keys: Array
    synced: int


@dataclass(slots=True)
class Conflict:
    """An access not ordered after a recorded one: the kind, the location, the other's agent,
    stamp."""

    kind: str
    location: int
    other: int
    stamp: int
    is_byte: bool


class ShadowPlane:
    """The last write and the last reads of each of `size` parts; `no_agent`: never written."""

    __slots__ = (
        "_any_generic",
        "clock",
        "generic",
        "generic_readers",
        "lane",
        "no_agent",
        "readers",
        "reading_lanes",
        "size",
        "strong",
        "writer",
    )

    def __init__(self, size: int, no_agent: int) -> None:
        self.size = size
        self.no_agent = no_agent
        self.writer = np.full(size, no_agent, np.int64)
        self.clock = np.zeros(size, np.int64)
        self.generic = np.zeros(size, np.bool_)
        self._any_generic = False
        self.lane = np.full(size, UNKNOWN_LANE, np.int32)
        """The key of the lanes that wrote last (`LaneAccess.keys`)."""
        self.readers: dict[int, Array] = {}
        self.generic_readers: set[int] = set()
        """The agents that read through the generic proxy: warps."""
        self.reading_lanes: dict[int, Array] = {}
        """By agent, the key of the lanes that read last."""
        self.strong: dict[int, Array] = {}
        """By agent, the stamps of its last strong accesses."""

    def read(self, at: Locations, access: Access) -> Conflict | None:
        """Record a read; return the first conflict, if any."""
        writer, clock = self.writer[at], self.clock[at]
        found: Conflict | None = None
        bad = clock >= access.limits[writer]
        if bad.any():
            found = self._read_conflict(at, bad, writer, clock)
        if found is None and self.strong:
            found = self._unordered("RAW", self.strong, at, access)
        if found is None and access.visible is not None:
            found = self._unfenced(at, writer, clock, access.visible)
        if access.lanes is not None:
            found = found or self._other_lane("RAW", at, writer, clock, self.lane[at], access)
            self.lanes_of(access.agent)[at] = access.lanes.keys
        self.of_agent(self.readers, access.agent)[at] = access.stamp
        if access.visible is None:
            self.generic_readers.add(access.agent)
        return found

    def write(self, at: Locations, access: Access) -> Conflict | None:
        """Record a write; return the first conflict, if any."""
        writer, clock = self.writer[at], self.clock[at]
        found = self._write_conflict(at, writer, clock, access)
        if found is None and self.strong:
            found = self._unordered("WAW", self.strong, at, access)
        if access.lanes is not None:
            found = found or self._overwritten_lane(at, writer, clock, access)
        self.writer[at] = access.agent
        self.clock[at] = access.stamp
        self.generic[at] = access.visible is None
        self._any_generic = self._any_generic or access.visible is None
        self.lane[at] = UNKNOWN_LANE if access.lanes is None else access.lanes.keys
        return found

    def update(
        self, at: Locations, access: Access, *, reads: bool, writes: bool
    ) -> Conflict | None:
        """Record a strong access; return the first conflict with one that is not."""
        writer, clock = self.writer[at], self.clock[at]
        fresh = writer == self.no_agent
        found: Conflict | None = None
        if reads and fresh.any():
            found = self._conflict("uninitialised", at, fresh, writer, clock)
        elif not writes:
            bad = (clock >= access.limits[writer]) & ~fresh
            found = self._conflict("RAW", at, bad, writer, clock) if bad.any() else None
        else:
            found = self._write_conflict(at, writer, clock, access)
        if writes and fresh.any():
            locations = indices_of(at)[fresh]
            self.writer[locations], self.clock[locations] = access.agent, 0
            self.generic[locations] = self._any_generic = True
        self.of_agent(self.strong, access.agent)[at] = access.stamp
        return found

    def of_agent(self, planes: dict[int, Array], agent: int) -> Array:
        """Return the plane of an agent, a new one if it has none yet."""
        found = planes.get(agent)
        if found is None:
            found = planes[agent] = np.zeros(self.size, np.int64)
        return found

    def lanes_of(self, agent: int) -> Array:
        """Return which lanes of an agent read last: none where nothing has been read."""
        found = self.reading_lanes.get(agent)
        if found is None:
            found = self.reading_lanes[agent] = np.full(self.size, UNKNOWN_LANE, np.int32)
        return found

    def _write_conflict(
        self, at: Locations, writer: Array, clock: Array, access: Access
    ) -> Conflict | None:
        bad = clock >= access.limits[writer]
        if bad.any():
            bad &= writer != self.no_agent
            if bad.any():
                return self._conflict("WAW", at, bad, writer, clock)
        found = self._unordered("WAR", self.readers, at, access)
        if found is None and access.visible is not None:
            found = self._unfenced(at, writer, clock, access.visible)
        if found is None and access.visible is not None and self.generic_readers:
            readers = {agent: self.readers[agent] for agent in self.generic_readers}
            fenced = replace(access, limits=access.visible)
            found = self._unordered("unfenced-read", readers, at, fenced)
        return found

    def _other_lane(
        self, kind: str, at: Locations, agents: Array, stamps: Array, keys: Array, access: Access
    ) -> Conflict | None:
        """Return the first access by another lane of the warp that nothing has ordered."""
        lanes = access.lanes
        assert lanes is not None
        bad = (stamps >= lanes.synced) & (keys != lanes.keys)
        if not bad.any():
            return None
        bad &= (agents == access.agent) & (keys != UNKNOWN_LANE)
        return self._conflict(f"lane-{kind}", at, bad, agents, stamps) if bad.any() else None

    def _overwritten_lane(
        self, at: Locations, writer: Array, clock: Array, access: Access
    ) -> Conflict | None:
        found = self._other_lane("WAW", at, writer, clock, self.lane[at], access)
        reader, keys = self.readers.get(access.agent), self.reading_lanes.get(access.agent)
        if found is not None or reader is None or keys is None:
            return found
        mine = np.full(clock.shape, access.agent)
        return self._other_lane("WAR", at, mine, reader[at], keys[at], access)

    def _read_conflict(self, at: Locations, bad: Array, writer: Array, clock: Array) -> Conflict:
        """Return the conflict of a read: not ordered after the write, or without any write
        before."""
        fresh = bad & (writer == self.no_agent)
        kind = "uninitialised" if fresh.any() else "RAW"
        return self._conflict(kind, at, fresh if fresh.any() else bad, writer, clock)

    def _unordered(
        self, kind: str, planes: dict[int, Array], at: Locations, access: Access
    ) -> Conflict | None:
        """Return the first recorded access of `planes` that is not ordered before this one."""
        for agent, plane in planes.items():
            stamps = plane[at]
            bad = stamps >= access.limits[agent]
            if bad.any():
                others = np.full(stamps.shape, agent)
                return self._conflict(kind, at, bad, others, stamps)
        return None

    def _unfenced(
        self, at: Locations, writer: Array, clock: Array, visible: Array
    ) -> Conflict | None:
        """Return the first generic write that no proxy fence made visible."""
        if not self._any_generic:
            return None
        generic = self.generic[at]
        if not generic.any():
            return None
        bad = generic & (clock >= visible[writer])
        return self._conflict("unfenced", at, bad, writer, clock) if bad.any() else None

    def _conflict(
        self, kind: str, at: Locations, bad: Array, writer: Array, clock: Array
    ) -> Conflict:
        first = int(np.flatnonzero(bad)[0])
        location = at.start + first if isinstance(at, slice) else int(at[first])
        return Conflict(kind, location, int(writer[first]), int(clock[first]), is_byte=False)


def lane_keys(lanes: Array, size: int, count: int = 1) -> Array:
    """Return the keys of lanes that access `size` bytes each, `count` lanes for each location."""
    return (lanes[::count] << 5 | size).astype(np.int32)


def _of_each_byte(keys: Array) -> Array:
    """Return the keys of the bytes of granules."""
    sizes = np.maximum(keys[:, None] & 31, 1)
    found = ((keys[:, None] >> 5) + GRANULE_BYTES // sizes) << 5 | 1
    return np.where(keys[:, None] == UNKNOWN_LANE, UNKNOWN_LANE, found).ravel()


class ShadowMemory:
    """Shadow memory of granules, with bytes where granules are accessed in part, and tiles where
    they are only accessed as a whole."""

    __slots__ = (
        "_by_bytes",
        "_by_bytes_count",
        "_bytes",
        "_overlaps",
        "_tiles",
        "_used",
        "granules",
    )

    def __init__(self, granules: int, no_agent: int, overlaps: TileOverlaps | None = None) -> None:
        self.granules = ShadowPlane(granules, no_agent)
        self._bytes: ShadowPlane | None = None
        self._by_bytes = np.zeros(granules, np.bool_)
        self._by_bytes_count = 0
        self._overlaps = overlaps or TileOverlaps()
        self._tiles: TileShadow | None = None
        self._used = False
        """Whether granules or bytes have been accessed otherwise than as tiles."""

    @property
    def tiles(self) -> TileShadow:
        """The tiles that are kept as a whole."""
        return self._tiles or self._new_tiles()

    def unordered(
        self, ordered: Array, writers: Array, readers: Array
    ) -> tuple[int, int, bool] | None:
        """Return a write or a read that did not happen before the clock `ordered`: its agent, its
        stamp and whether it writes. `writers` and `readers` are masks of agents."""
        if self._tiles is not None and self._tiles.has_unordered(ordered):
            self.release_tiles()
        parts = [(self.granules, ~self._by_bytes)]
        if self._bytes is not None:
            parts.append((self._bytes, np.repeat(self._by_bytes, 16)))
        for plane, present in parts:
            late = (plane.clock >= ordered[plane.writer]) & writers[plane.writer] & present
            if late.any():
                first = int(np.flatnonzero(late)[0])
                return int(plane.writer[first]), int(plane.clock[first]), True
            for agents, accesses, writes in (
                (writers, plane.strong, True),
                (readers, plane.readers, False),
            ):
                for agent in [agent for agent in accesses if agents[agent]]:
                    late = (accesses[agent] >= ordered[agent]) & present
                    if late.any():
                        return agent, int(accesses[agent][late][0]), writes
        return None

    def release_tiles(self) -> None:
        """Record the accesses of all tiles by granules."""
        self._used = True
        if self._tiles is not None:
            self._tiles.release(slice(0, self.granules.size))

    def forget_tiles(self) -> None:
        """Drop the tiles, which refer to one another, when nothing is accessed any more."""
        if self._tiles is not None:
            self._tiles.forget()

    def _new_tiles(self) -> TileShadow:
        count = self.granules.size
        self._tiles = TileShadow(count, self._overlaps, self._is_untouched, self._record_tile)
        return self._tiles

    def _is_untouched(self, at: Locations) -> bool:
        if not self._used:
            return True
        plane = self.granules
        if self._by_bytes[at].any() or (plane.writer[at] != plane.no_agent).any():
            return False
        return not any(stamps[at].any() for stamps in plane.readers.values())

    def _record_tile(self, state: TileState) -> None:
        """Record the accesses of a tile by granules."""
        plane, at = self.granules, state.tile.at
        if state.is_written:
            plane.writer[at], plane.clock[at] = state.writer, state.stamp
        for agent, stamp in state.readers.items():
            stamps = plane.of_agent(plane.readers, agent)
            stamps[at] = np.maximum(stamps[at], stamp)

    def read(self, at: Locations, access: Access) -> Conflict | None:
        """Record a read of whole granules."""
        self._used = True
        if self._tiles is not None:
            self._tiles.release(at)
        if not self._by_bytes_count or not self._by_bytes[at].any():
            return self.granules.read(at, access)
        coarse, fine, whole, parts = self._partition(at, access)
        found = self.granules.read(coarse, whole) if coarse.size else None
        return found or self._of_bytes(self._byte_plane().read(fine, parts))

    def write(self, at: Locations, access: Access) -> Conflict | None:
        """Record a write of whole granules."""
        self._used = True
        if self._tiles is not None:
            self._tiles.release(at)
        if not self._by_bytes_count or not self._by_bytes[at].any():
            return self.granules.write(at, access)
        _, fine, _, parts = self._partition(at, access)
        found = self._of_bytes(self._byte_plane().write(fine, parts))
        self._by_bytes[at] = False
        whole = self.granules.write(at, access)
        return found or whole

    def read_bytes(self, at: Array, access: Access) -> Conflict | None:
        """Record a read of single bytes."""
        self._refine(at)
        return self._of_bytes(self._byte_plane().read(at, access))

    def write_bytes(self, at: Array, access: Access) -> Conflict | None:
        """Record a write of single bytes."""
        self._refine(at)
        return self._of_bytes(self._byte_plane().write(at, access))

    def update_bytes(
        self, at: Array, access: Access, *, reads: bool, writes: bool
    ) -> Conflict | None:
        """Record a strong access of single bytes."""
        self._refine(at)
        return self._of_bytes(self._byte_plane().update(at, access, reads=reads, writes=writes))

    def _of_bytes(self, conflict: Conflict | None) -> Conflict | None:
        if conflict is not None:
            conflict.is_byte = True
        return conflict

    def _byte_plane(self) -> ShadowPlane:
        if self._bytes is None:
            self._bytes = ShadowPlane(self.granules.size * 16, self.granules.no_agent)
        return self._bytes

    def _partition(self, at: Locations, access: Access) -> tuple[Array, Array, Access, Access]:
        """Return the granules tracked as a whole, the bytes of the others, and the access to
        each."""
        locations = indices_of(at)
        fine = self._by_bytes[locations]
        parts = locations[~fine], (locations[fine][:, None] * 16 + GRANULE_BYTES).ravel()
        if access.lanes is None:
            return *parts, access, access
        keys, synced = access.lanes.keys, access.lanes.synced
        whole = replace(access, lanes=LaneAccess(keys[~fine], synced))
        return *parts, whole, replace(access, lanes=LaneAccess(_of_each_byte(keys[fine]), synced))

    def _refine(self, at: Array) -> None:
        """Track the granules of some bytes byte by byte from now on."""
        self._used = True
        granules = at >> 4
        if self._tiles is not None:
            self._tiles.release(granules)
        coarse_ones = granules[~self._by_bytes[granules]]
        if not coarse_ones.size:
            return
        fresh = np.unique(coarse_ones)
        shadow_plane, coarse = self._byte_plane(), self.granules
        locations = (fresh[:, None] * 16 + GRANULE_BYTES).ravel()
        shadow_plane.writer[locations] = np.repeat(coarse.writer[fresh], 16)
        shadow_plane.clock[locations] = np.repeat(coarse.clock[fresh], 16)
        shadow_plane.generic[locations] = np.repeat(coarse.generic[fresh], 16)
        shadow_plane.lane[locations] = _of_each_byte(coarse.lane[fresh])
        for name in ("readers", "strong"):
            fine = getattr(shadow_plane, name)
            for stamps in fine.values():
                stamps[locations] = 0
            shadow_plane.generic_readers |= coarse.generic_readers
            for agent, stamps in getattr(coarse, name).items():
                mine = shadow_plane.of_agent(fine, agent)
                mine[locations] = np.repeat(stamps[fresh], 16)
        for keys in shadow_plane.reading_lanes.values():
            keys[locations] = UNKNOWN_LANE
        for agent, keys in coarse.reading_lanes.items():
            mine = shadow_plane.lanes_of(agent)
            mine[locations] = _of_each_byte(keys[fresh])
        self._by_bytes[fresh] = True
        self._by_bytes_count += 1
