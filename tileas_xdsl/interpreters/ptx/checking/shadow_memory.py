"""Shadow memory: the last writer and the last reads of every part of a memory.

Shared memory is tracked in granules of 16 bytes, the unit of TMA and of matrix descriptors.  A
granule that is accessed in part is tracked byte by byte from then on, until it is written as a
whole, so that neighbours within a granule are no false race:

    warp 0 writes bytes 0..7, warp 1 writes bytes 8..15   ->  16 byte entries, no conflict
    a copy writes bytes 0..15                             ->  one granule entry again

An access by agent `a` conflicts with a recorded one (agent `w`, stamp `s`) unless `s` is below
`limits[w]` of the access, its vector clock (see `vector_clocks.py`).  Accesses through the
asynchronous proxy also need generic writes to be fenced: `s < visible[w]` (PTX ISA 9.7.13.4,
fence.proxy.async).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array

Locations: TypeAlias = "slice | Array"

GRANULE_BYTES = np.arange(16)


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
    atomic: bool = False


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
        "atomic",
        "clock",
        "generic",
        "no_agent",
        "readers",
        "size",
        "writer",
    )

    def __init__(self, size: int, no_agent: int) -> None:
        self.size = size
        self.no_agent = no_agent
        self.writer = np.full(size, no_agent, np.int64)
        self.clock = np.zeros(size, np.int64)
        self.generic = np.zeros(size, np.bool_)
        self._any_generic = False
        self.atomic: Array | None = None
        """Whether the last write of each part was an atomic; None while there was none."""
        self.readers: dict[int, Array] = {}

    def read(self, at: Locations, access: Access) -> Conflict | None:
        """Record a read; return the first conflict, if any."""
        writer, clock = self.writer[at], self.clock[at]
        found: Conflict | None = None
        bad = clock >= access.limits[writer]
        if bad.any():
            found = self._read_conflict(at, bad, writer, clock)
        if found is None and access.visible is not None:
            found = self._unfenced(at, writer, clock, access.visible)
        reader = self.readers.get(access.agent)
        if reader is None:
            reader = self.readers[access.agent] = np.zeros(self.size, np.int64)
        reader[at] = access.stamp
        return found

    def write(self, at: Locations, access: Access) -> Conflict | None:
        """Record a write; return the first conflict, if any."""
        writer, clock = self.writer[at], self.clock[at]
        found: Conflict | None = None
        bad = clock >= access.limits[writer]
        if bad.any():
            found = self._write_conflict(at, bad, writer, clock, access)
        if found is None:
            found = self._unordered_readers(at, access)
        if found is None and access.visible is not None:
            found = self._unfenced(at, writer, clock, access.visible)
        self.writer[at] = access.agent
        self.clock[at] = access.stamp
        self.generic[at] = access.visible is None
        self._any_generic = self._any_generic or access.visible is None
        self._mark_atomic(at, access)
        return found

    def _mark_atomic(self, at: Locations, access: Access) -> None:
        if self.atomic is None and access.atomic:
            self.atomic = np.zeros(self.size, np.bool_)
        if self.atomic is not None:
            self.atomic[at] = access.atomic

    def _read_conflict(self, at: Locations, bad: Array, writer: Array, clock: Array) -> Conflict:
        """Return the conflict of a read: not ordered after the write, or without any write
        before."""
        fresh = bad & (writer == self.no_agent)
        kind = "uninitialised" if fresh.any() else "RAW"
        return self._conflict(kind, at, fresh if fresh.any() else bad, writer, clock)

    def _write_conflict(
        self, at: Locations, bad: Array, writer: Array, clock: Array, access: Access
    ) -> Conflict | None:
        bad &= writer != self.no_agent
        if access.atomic and self.atomic is not None:
            bad &= ~self.atomic[at]
        return self._conflict("WAW", at, bad, writer, clock) if bad.any() else None

    def _unordered_readers(self, at: Locations, access: Access) -> Conflict | None:
        for agent, reader in self.readers.items():
            stamps = reader[at]
            bad = stamps >= access.limits[agent]
            if bad.any():
                others = np.full(stamps.shape, agent)
                return self._conflict("WAR", at, bad, others, stamps)
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


def _indices(at: Locations) -> Array:
    if isinstance(at, slice):
        return np.arange(int(at.start), int(at.stop))
    return at


class ShadowMemory:
    """Shadow memory of granules, with bytes where granules are accessed in part."""

    __slots__ = ("_by_bytes", "_by_bytes_count", "_bytes", "granules")

    def __init__(self, granules: int, no_agent: int) -> None:
        self.granules = ShadowPlane(granules, no_agent)
        self._bytes: ShadowPlane | None = None
        self._by_bytes = np.zeros(granules, np.bool_)
        self._by_bytes_count = 0

    def read(self, at: Locations, access: Access) -> Conflict | None:
        """Record a read of whole granules."""
        if not self._by_bytes_count or not self._by_bytes[at].any():
            return self.granules.read(at, access)
        coarse, fine = self._partition(at)
        found = self.granules.read(coarse, access) if coarse.size else None
        return found or self._of_bytes(self._byte_plane().read(fine, access))

    def write(self, at: Locations, access: Access) -> Conflict | None:
        """Record a write of whole granules."""
        if not self._by_bytes_count or not self._by_bytes[at].any():
            return self.granules.write(at, access)
        _, fine = self._partition(at)
        found = self._of_bytes(self._byte_plane().write(fine, access))
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

    def _of_bytes(self, conflict: Conflict | None) -> Conflict | None:
        if conflict is not None:
            conflict.is_byte = True
        return conflict

    def _byte_plane(self) -> ShadowPlane:
        if self._bytes is None:
            self._bytes = ShadowPlane(self.granules.size * 16, self.granules.no_agent)
        return self._bytes

    def _partition(self, at: Locations) -> tuple[Array, Array]:
        """Return the granules tracked as a whole, and the bytes of the others."""
        locations = _indices(at)
        fine = self._by_bytes[locations]
        return locations[~fine], (locations[fine][:, None] * 16 + GRANULE_BYTES).ravel()

    def _refine(self, at: Array) -> None:
        """Track the granules of some bytes byte by byte from now on."""
        granules = np.unique(at >> 4)
        fresh = granules[~self._by_bytes[granules]]
        if not fresh.size:
            return
        shadow_plane, coarse = self._byte_plane(), self.granules
        locations = (fresh[:, None] * 16 + GRANULE_BYTES).ravel()
        shadow_plane.writer[locations] = np.repeat(coarse.writer[fresh], 16)
        shadow_plane.clock[locations] = np.repeat(coarse.clock[fresh], 16)
        shadow_plane.generic[locations] = np.repeat(coarse.generic[fresh], 16)
        for reader in shadow_plane.readers.values():
            reader[locations] = 0
        for agent, reader in coarse.readers.items():
            mine = shadow_plane.readers.setdefault(agent, np.zeros(shadow_plane.size, np.int64))
            mine[locations] = np.repeat(reader[fresh], 16)
        self._by_bytes[fresh] = True
        self._by_bytes_count += 1
