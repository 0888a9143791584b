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

from tileas_xdsl.interpreters.ptx.checking.shadow_plane import (
    UNKNOWN_LANE,
    Access,
    Conflict,
    LaneAccess,
    ShadowPlane,
)
from tileas_xdsl.interpreters.ptx.checking.shared_memory.shadow_tiles import (
    Locations,
    TileOverlaps,
    TileShadow,
    TileState,
    indices_of,
)
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array

GRANULE_BYTES = np.arange(16)


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
