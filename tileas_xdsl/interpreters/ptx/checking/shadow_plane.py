"""A plane of shadow memory: the last write and the last reads of each of its parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.checking.shared_memory.shadow_tiles import (
    Locations,
    indices_of,
)
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array

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
