"""What the checker remembers of a memory: who wrote and read each part of it last.

Shared memory is remembered in granules of 16 bytes.  A granule of which a warp touches a part only
is remembered byte by byte from then on, until somebody writes all of it, so that neighbours who
share a granule do not look like a race.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array

Places: TypeAlias = "slice | Array"

GRANULE_BYTES = np.arange(16)


@dataclass(slots=True)
class Access:
    """Who touches memory: an agent, its stamp, and the limits of what happened before.

    `visible` are the limits of generic writes that may be seen; None for generic accesses.
    """

    agent: int
    stamp: int
    limits: Array
    visible: Array | None = None
    atomic: bool = False


@dataclass(slots=True)
class Conflict:
    """An access that is not ordered after another: what it is, where, and whom it meets."""

    kind: str
    place: int
    other: int
    stamp: int
    is_byte: bool


class Plane:
    """Who touched each of `size` parts of a memory last; `nobody` is no agent."""

    __slots__ = (
        "_any_generic",
        "atomic",
        "clock",
        "generic",
        "nobody",
        "readers",
        "size",
        "writer",
    )

    def __init__(self, size: int, nobody: int) -> None:
        self.size = size
        self.nobody = nobody
        self.writer = np.full(size, nobody, np.int64)
        self.clock = np.zeros(size, np.int64)
        self.generic = np.zeros(size, np.bool_)
        self._any_generic = False
        self.atomic: Array | None = None
        """Where the last write was an atomic; None while there was none."""
        self.readers: dict[int, Array] = {}

    def read(self, at: Places, access: Access) -> Conflict | None:
        """Remember a read; the first conflict, if any."""
        writer, clock = self.writer[at], self.clock[at]
        found: Conflict | None = None
        bad = clock >= access.limits[writer]
        if bad.any():
            found = self._bad_read(at, bad, writer, clock)
        if found is None and access.visible is not None:
            found = self._unseen(at, writer, clock, access.visible)
        reader = self.readers.get(access.agent)
        if reader is None:
            reader = self.readers[access.agent] = np.zeros(self.size, np.int64)
        reader[at] = access.stamp
        return found

    def write(self, at: Places, access: Access) -> Conflict | None:
        """Remember a write; the first conflict, if any."""
        writer, clock = self.writer[at], self.clock[at]
        found: Conflict | None = None
        bad = clock >= access.limits[writer]
        if bad.any():
            found = self._bad_write(at, bad, writer, clock, access)
        if found is None:
            found = self._readers_left(at, access)
        if found is None and access.visible is not None:
            found = self._unseen(at, writer, clock, access.visible)
        self.writer[at] = access.agent
        self.clock[at] = access.stamp
        self.generic[at] = access.visible is None
        self._any_generic = self._any_generic or access.visible is None
        self._mark_atomic(at, access)
        return found

    def _mark_atomic(self, at: Places, access: Access) -> None:
        if self.atomic is None and access.atomic:
            self.atomic = np.zeros(self.size, np.bool_)
        if self.atomic is not None:
            self.atomic[at] = access.atomic

    def _bad_read(self, at: Places, bad: Array, writer: Array, clock: Array) -> Conflict:
        """A write that is not ordered before; or none at all, which no limit lets pass."""
        fresh = bad & (writer == self.nobody)
        kind = "uninitialised" if fresh.any() else "RAW"
        return self._conflict(kind, at, fresh if fresh.any() else bad, writer, clock)

    def _bad_write(
        self, at: Places, bad: Array, writer: Array, clock: Array, access: Access
    ) -> Conflict | None:
        bad &= writer != self.nobody
        if access.atomic and self.atomic is not None:
            bad &= ~self.atomic[at]
        return self._conflict("WAW", at, bad, writer, clock) if bad.any() else None

    def _readers_left(self, at: Places, access: Access) -> Conflict | None:
        for agent, reader in self.readers.items():
            stamps = reader[at]
            bad = stamps >= access.limits[agent]
            if bad.any():
                others = np.full(stamps.shape, agent)
                return self._conflict("WAR", at, bad, others, stamps)
        return None

    def _unseen(self, at: Places, writer: Array, clock: Array, visible: Array) -> Conflict | None:
        """Generic writes that no proxy fence made visible."""
        if not self._any_generic:
            return None
        generic = self.generic[at]
        if not generic.any():
            return None
        bad = generic & (clock >= visible[writer])
        return self._conflict("unfenced", at, bad, writer, clock) if bad.any() else None

    def _conflict(self, kind: str, at: Places, bad: Array, writer: Array, clock: Array) -> Conflict:
        first = int(np.flatnonzero(bad)[0])
        place = at.start + first if isinstance(at, slice) else int(at[first])
        return Conflict(kind, place, int(writer[first]), int(clock[first]), is_byte=False)


def _indices(at: Places) -> Array:
    if isinstance(at, slice):
        return np.arange(int(at.start), int(at.stop))
    return at


class Shadow:
    """A memory of `granules`, with bytes where granules are shared."""

    __slots__ = ("_bytes", "_fine", "_fine_count", "granules")

    def __init__(self, granules: int, nobody: int) -> None:
        self.granules = Plane(granules, nobody)
        self._bytes: Plane | None = None
        self._fine = np.zeros(granules, np.bool_)
        self._fine_count = 0

    def read(self, at: Places, access: Access) -> Conflict | None:
        """Whole granules are read."""
        if not self._fine_count or not self._fine[at].any():
            return self.granules.read(at, access)
        coarse, fine = self._apart(at)
        found = self.granules.read(coarse, access) if coarse.size else None
        return found or self._of_bytes(self._byte_plane().read(fine, access))

    def write(self, at: Places, access: Access) -> Conflict | None:
        """Whole granules are written."""
        if not self._fine_count or not self._fine[at].any():
            return self.granules.write(at, access)
        _, fine = self._apart(at)
        found = self._of_bytes(self._byte_plane().write(fine, access))
        self._fine[at] = False
        whole = self.granules.write(at, access)
        return found or whole

    def read_bytes(self, at: Array, access: Access) -> Conflict | None:
        """Single bytes are read."""
        self._refine(at)
        return self._of_bytes(self._byte_plane().read(at, access))

    def write_bytes(self, at: Array, access: Access) -> Conflict | None:
        """Single bytes are written."""
        self._refine(at)
        return self._of_bytes(self._byte_plane().write(at, access))

    def _of_bytes(self, conflict: Conflict | None) -> Conflict | None:
        if conflict is not None:
            conflict.is_byte = True
        return conflict

    def _byte_plane(self) -> Plane:
        if self._bytes is None:
            self._bytes = Plane(self.granules.size * 16, self.granules.nobody)
        return self._bytes

    def _apart(self, at: Places) -> tuple[Array, Array]:
        """The granules that are whole, and the bytes of the others."""
        places = _indices(at)
        fine = self._fine[places]
        return places[~fine], (places[fine][:, None] * 16 + GRANULE_BYTES).ravel()

    def _refine(self, at: Array) -> None:
        """Remember the granules of some bytes byte by byte from now on."""
        granules = np.unique(at >> 4)
        fresh = granules[~self._fine[granules]]
        if not fresh.size:
            return
        plane, coarse = self._byte_plane(), self.granules
        places = (fresh[:, None] * 16 + GRANULE_BYTES).ravel()
        plane.writer[places] = np.repeat(coarse.writer[fresh], 16)
        plane.clock[places] = np.repeat(coarse.clock[fresh], 16)
        plane.generic[places] = np.repeat(coarse.generic[fresh], 16)
        for reader in plane.readers.values():
            reader[places] = 0
        for agent, reader in coarse.readers.items():
            mine = plane.readers.setdefault(agent, np.zeros(plane.size, np.int64))
            mine[places] = np.repeat(reader[fresh], 16)
        self._fine[fresh] = True
        self._fine_count += 1
