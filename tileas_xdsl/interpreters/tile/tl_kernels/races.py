"""Races between the iterations of a parallel loop: they are to be independent.

An element that one iteration writes no other may read, update, or write with another value; any
number of them may update it atomically.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import note
from tileas_xdsl.interpreters.tile.faults import SimulationError, fault
from tileas_xdsl.interpreters.tile.memory.byte_regions import ascends
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Memory
from tileas_xdsl.interpreters.tile.numerics.element_types import Array

Numbers = NDArray[np.int64]


class AccessKind(IntEnum):
    """What an iteration does to an element."""

    READ = 0
    WRITE = 1
    UPDATE = 2


_VERBS = {AccessKind.READ: "reads", AccessKind.WRITE: "writes", AccessKind.UPDATE: "updates"}


@dataclass(frozen=True)
class Event:
    """What some iterations did at one operation: an element each, at byte `offsets`."""

    op: Operation
    does: AccessKind
    iterations: Numbers
    offsets: Numbers
    itemsize: int
    values: Array | None = None
    """What was written."""


@dataclass(frozen=True)
class _Columns:
    """The events of one memory, a row for each unit of bytes that an iteration touched."""

    offsets: Numbers
    iterations: Numbers
    does: NDArray[np.int8]
    bits: NDArray[np.uint64]
    events: Numbers


class Log:
    """What the iterations of one loop did to the memories that some of them write."""

    def __init__(self, extents: tuple[int, ...]) -> None:
        self._extents = extents
        self._events: dict[Memory, list[Event]] = {}

    def add(self, memory: Memory, event: Event) -> None:
        """Note what iterations did."""
        if event.offsets.size:
            self._events.setdefault(memory, []).append(event)

    def check(self) -> None:
        """Raise the fault of the first element that iterations race for."""
        for memory, events in self._events.items():
            if (found := self._race(memory, events)) is not None:
                raise found

    def _race(self, memory: Memory, events: Sequence[Event]) -> SimulationError | None:
        if len(events) == 1 and _is_alone(events[0]):
            return None
        rows = _columns(events)
        starts = np.flatnonzero(np.diff(rows.offsets, prepend=-1))
        several = _differs(rows.iterations, starts)
        plain = np.logical_or.reduceat(rows.does == AccessKind.WRITE, starts)
        mixed = _differs(rows.does, starts)
        changed = _differs(np.where(rows.does == AccessKind.WRITE, rows.bits, 0), starts)
        is_race = several & (mixed | (plain & changed))
        ends = [*starts[1:], len(rows.offsets)]
        for group in np.flatnonzero(is_race):
            pair = _pair(rows, int(starts[group]), int(ends[group]))
            if pair is not None:
                return self._records_of(memory, events, rows, pair)
        return None

    def _records_of(
        self, memory: Memory, events: Sequence[Event], rows: _Columns, pair: tuple[int, int]
    ) -> SimulationError:
        ops = [events[int(rows.events[row])] for row in pair]
        who = [self._iteration(int(rows.iterations[row])) for row in pair]
        position = f"{memory.name}{memory.coordinates_text(int(rows.offsets[pair[0]]))}"
        if ops[0].does is ops[1].does:
            text = f"iterations {who[0]} and {who[1]} of one loop write different values"
        else:
            verbs = [_VERBS[event.does] for event in ops]
            text = f"iteration {who[1]} {verbs[1]} what iteration {who[0]} of its loop {verbs[0]}"
        verb = _VERBS[ops[0].does]
        other = note(ops[0].op, f"iteration {who[0]} {verb} it here")
        return fault(ops[1].op, f"race on {position}: {text}", notes=[other])

    def _iteration(self, number: int) -> list[int]:
        return [int(i) for i in np.unravel_index(number, self._extents)]


def _is_alone(event: Event) -> bool:
    """Whether nobody else touches what each iteration touches, or all only read or update."""
    if event.does is not AccessKind.WRITE:
        return True
    return ascends(event.offsets) or len(np.unique(event.offsets)) == len(event.offsets)


def _columns(events: Sequence[Event]) -> _Columns:
    """All events by ascending place, those of one place in their order; elements as small units."""
    unit = min(event.itemsize for event in events)
    parts = [_units(event, unit) for event in events]
    offsets = np.concatenate([part[0] for part in parts])
    order = np.argsort(offsets, kind="stable")
    does = [np.full(len(p[0]), e.does, np.int8) for e, p in zip(events, parts, strict=True)]
    numbers = [np.full(len(p[0]), k, np.int64) for k, p in enumerate(parts)]
    return _Columns(
        offsets[order],
        np.concatenate([part[1] for part in parts])[order],
        np.concatenate(does)[order],
        np.concatenate([part[2] for part in parts])[order],
        np.concatenate(numbers)[order],
    )


def _units(event: Event, unit: int) -> tuple[Numbers, Numbers, NDArray[np.uint64]]:
    """Offsets, iterations and bits of the units of an event."""
    count = event.itemsize // unit
    offsets = (event.offsets[:, None] + np.arange(count) * unit).reshape(-1)
    iterations = np.repeat(event.iterations, count)
    if event.values is None:
        return offsets, iterations, np.zeros(len(offsets), np.uint64)
    plain = np.ascontiguousarray(event.values)
    return offsets, iterations, plain.view(f"u{unit}").reshape(-1).astype(np.uint64)


def _differs(values: NDArray[np.generic], starts: Numbers) -> NDArray[np.bool_]:
    """By group, whether its values are not all one."""
    least, most = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    return np.asarray(least != most)


def _pair(rows: _Columns, start: int, end: int) -> tuple[int, int] | None:
    """Two rows of a group that are in each other's way; the one that is at fault comes last."""
    for first in range(start, end):
        if rows.does[first] == AccessKind.READ:
            continue
        for second in range(start, end):
            if _conflict(rows, first, second):
                return first, second
    return None


def _conflict(rows: _Columns, first: int, second: int) -> bool:
    if rows.iterations[first] == rows.iterations[second]:
        return False
    if rows.does[first] != rows.does[second]:
        return True
    return bool(rows.does[first] == AccessKind.WRITE and rows.bits[first] != rows.bits[second])
