"""Shadow memory of a buffer of global memory: its last writes and two of the reads since.

A buffer is tracked in units of 16 bytes until an access covers a part of one: the units are halved
then as often as it takes, so that neighbours of 4 bytes are no false race, while a tensor copy of
whole rows stays a few hundred entries.  Reads of a buffer that nothing has written are only
listed; they enter the arrays with its first write.  An entry of `who` is

    (agent in the launch + 1) << 2 | scope         0: nobody; scope 0: a weak access
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.memory.access_pattern import AccessPattern
from tileas_xdsl.layout.integers import ceil_div

MAX_UNIT = 16
MAX_PENDING = 4096
"""Listed reads of an unwritten buffer before they enter the arrays."""

Units: TypeAlias = "slice | Array"
Who: TypeAlias = "int | Array"
"""Of all units, or of each."""


class AccessPlane:
    """One access of every unit: who made it, and its stamp."""

    __slots__ = ("stamp", "who")

    def __init__(self, size: int) -> None:
        self.who = np.zeros(size, np.int64)
        self.stamp = np.zeros(size, np.int64)

    def put(self, at: Units, who: Who, stamp: Who) -> None:
        """Record an access."""
        self.who[at] = who
        self.stamp[at] = stamp

    def repeated(self, times: int) -> AccessPlane:
        """Return the same accesses of smaller units."""
        found = AccessPlane(0)
        found.who, found.stamp = np.repeat(self.who, times), np.repeat(self.stamp, times)
        return found


class GlobalShadow:
    """The accesses of one buffer."""

    def __init__(self, size: int) -> None:
        self.unit = MAX_UNIT
        self._size = size
        self.writer: AccessPlane | None = None
        """The last write; None while there is none."""
        self.readers: tuple[AccessPlane, AccessPlane] | None = None
        """The last read, and the last read by somebody else."""
        self.messages: Array | None = None
        """By unit, the number of what its last strong write released; 0 for nothing."""
        self.pending: list[tuple[Units, Who, Who]] = []
        """Reads that are not in the arrays yet: units, by whom, stamps."""

    def units(self, first: int, pattern: AccessPattern) -> Units:
        """Return the units of accesses from a first offset on; smaller units from now on if
        needed."""
        span, size = pattern.run, pattern.size
        if span is not None:
            self._refine((first | span | MAX_UNIT) & -(first | span | MAX_UNIT))
            return slice(first // self.unit, (first + span) // self.unit)
        self._refine(min(size & -size, MAX_UNIT))
        if not (first | pattern.bits) % self.unit:
            return pattern.units(self.unit) + first // self.unit
        index = (pattern.relative + first) // self.unit
        if size == self.unit:
            return index
        return (index[:, None] + np.arange(size // self.unit)).ravel()

    def rows(self, first: int, pattern: AccessPattern) -> Units:
        """Return the units of rows from a first offset on, whole ones of an alignment of all."""
        low = first | pattern.bits | pattern.size | MAX_UNIT
        self._refine(low & -low)
        begin = first // self.unit
        if pattern.run is not None:
            return slice(begin, begin + pattern.run // self.unit)
        return pattern.units(self.unit) + begin

    def _refine(self, unit: int) -> None:
        if unit >= self.unit:
            return
        self._flush()
        times, self.unit = self.unit // unit, unit
        if self.writer is not None:
            self.writer = self.writer.repeated(times)
        if self.readers is not None:
            one, other = self.readers
            self.readers = one.repeated(times), other.repeated(times)
        if self.messages is not None:
            self.messages = np.repeat(self.messages, times)

    def is_quiet(self, at: Units, *, write: bool) -> bool:
        """Return whether no recorded access can race with a read, or a write, of some units."""
        if self.writer is not None and self.writer.who[at].any():
            return False
        if not write:
            return True
        self.written()
        return not any(plane.who[at].any() for plane in self.readers or ())

    def is_last(self, at: Units, who: Who) -> bool:
        """Return whether these were the last to write some units."""
        return bool((self.written().who[at] == who).all())

    def read(self, at: Units, who: Who, stamp: Who) -> None:
        """Record a read."""
        if self.writer is None:
            self.pending.append((at, who, stamp))
            if len(self.pending) > MAX_PENDING:
                self._flush()
            return
        self._put_read(at, who, stamp)

    def _flush(self) -> None:
        pending, self.pending = self.pending, []
        for at, who, stamp in pending:
            self._put_read(at, who, stamp)

    def _put_read(self, at: Units, who: Who, stamp: Who) -> None:
        if self.readers is None:
            count = self.count
            self.readers = AccessPlane(count), AccessPlane(count)
        last, other = self.readers
        before = last.who[at]
        moved = (before != who) & (before != 0)
        if moved.any():
            other.who[at] = np.where(moved, before, other.who[at])
            other.stamp[at] = np.where(moved, last.stamp[at], other.stamp[at])
        last.put(at, who, stamp)

    def write(self, at: Units, who: Who, stamp: Who) -> None:
        """Record a write; the reads before it have been checked and are dropped."""
        writer = self.written()
        writer.put(at, who, stamp)
        if self.messages is not None:
            self.messages[at] = 0
        for plane in self.readers or ():
            plane.who[at] = 0

    def written(self) -> AccessPlane:
        """Return the writes, with all reads in their arrays."""
        if self.writer is None:
            self._flush()
            self.writer = AccessPlane(self.count)
        return self.writer

    def publish(self, at: Units, message: int) -> None:
        """Record the message that a strong write releases, for reads that observe it."""
        if self.messages is None:
            self.messages = np.zeros(self.count, np.int32)
        self.messages[at] = message

    @property
    def count(self) -> int:
        """The number of units."""
        return ceil_div(self._size, self.unit)
