"""Data races on global memory, between all warps and copies of a launch.  Source: PTX ISA 8.

Two accesses of a byte, one of which writes, race unless one happens before the other or both are
strong with scopes that include each other (morally strong, PTX ISA 8.7.1).  What happens before is
the clocks of a cluster (barriers, mbarriers, completion of copies) and what its warps acquired from
other clusters (`release_patterns`).  Writes of the value that is there already are notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from tileas_xdsl.interpreters.ptx.checking.global_memory.conflicts import (
    CheckedCluster,
    GlobalAccess,
    GlobalConflicts,
    LaunchShadow,
    Race,
    Where,
    first_of,
)
from tileas_xdsl.interpreters.ptx.checking.global_memory.release_patterns import (
    Message,
    ReleasePatterns,
)
from tileas_xdsl.interpreters.ptx.checking.global_memory.shadow import MAX_UNIT
from tileas_xdsl.interpreters.ptx.checking.reports.conflicts import CheckedWarps
from tileas_xdsl.interpreters.ptx.checking.reports.findings import Severity
from tileas_xdsl.interpreters.ptx.checking.shared_memory.release_patterns import SharedMessages
from tileas_xdsl.interpreters.ptx.checking.vector_clocks import TICK, AsyncEvent, Clocks
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.memory.access_pattern import pattern_of
from tileas_xdsl.interpreters.ptx.memory.global_memory import Buffer
from tileas_xdsl.interpreters.ptx.memory.memory_order import (
    DEVICE,
    WEAK_ACCESS,
    MemoryOrder,
)
from tileas_xdsl.layout.units import WARP


class ClusterRaces:
    """Checks the accesses of one cluster to global memory."""

    def __init__(
        self, launch: LaunchShadow, cluster: CheckedCluster, warps_per_cta: int, clocks: Clocks
    ) -> None:
        self._launch = launch
        self._cluster = cluster
        self._clocks = clocks
        self._count = clocks.agents
        self._first = cluster.number * clocks.agents
        self.patterns = ReleasePatterns(cluster.number, warps_per_cta, clocks)
        self.shared = SharedMessages(self.patterns)
        self._conflicts = GlobalConflicts(launch, cluster, clocks, self.patterns)

    # Accesses

    def read(
        self,
        warps: CheckedWarps,
        lanes: Array,
        addresses: Array,
        size: int,
        at: int,
        order: MemoryOrder,
    ) -> None:
        """Check loads of `size` bytes, one for each of `lanes`."""
        quiet = self._quiet(warps, lanes, addresses, size, at, order, write=False)
        if quiet is not None:
            where, who, stamps = quiet
            where.shadow.read(where.units, who, stamps)
            return
        for warp, mine in _by_warp(warps, lanes, addresses):
            found = self._locate(mine, size)
            if found is not None:
                self._check_defined(found, len(mine), warp, at)
                self._read(found, self._of_warp(warp, at, order.scope), order)

    def _read(self, where: Where, access: GlobalAccess, order: MemoryOrder) -> None:
        shadow = where.shadow
        if shadow.writer is not None:
            race = self._conflicts.with_writes("race-RAW", where, shadow.writer, access)
            if race is None and order.read_only:
                race = first_of("read-only-load", where, shadow.writer)
            if race is not None:
                self._conflicts.report(race, where, access)
            if order.scope:
                warp, location = access.thread.warp, where.location
                self.patterns.acquire_again(warp, location, order)
                for message in self._messages(where):
                    self.patterns.observe(warp, message, order, location)
        shadow.read(where.units, access.who, access.stamp)

    def _check_defined(self, where: Where, count: int, warp: int, at: int) -> None:
        """Report reads of heap memory that nothing has written: a note if others of the same
        vector are, since compilers copy structures with padding."""
        if where.buffer.pieces is None:
            return
        fresh = where.shadow.written().who[where.units] == 0
        if not fresh.any():
            return
        whole = fresh.reshape(count, -1).all(1).any() if not fresh.size % count else fresh.all()
        self._launch.findings.add(
            "uninitialised",
            at,
            f"{self._cluster.warp_name(warp)} reads memory of malloc that nothing has written",
            ["hint: malloc leaves memory as it was"],
            severity=None if whole else Severity.NOTE,
        )

    def free(self, warps: CheckedWarps, lane: int, start: int, size: int, at: int) -> None:
        """Check that all accesses to memory happen before `free` of it, as before a write."""
        unit = min(size & -size, MAX_UNIT)
        if not unit:
            return
        addresses = np.arange(start, start + size, unit)
        other = ~self._cluster.memory.load(addresses, 1, unit)
        lanes = np.full(len(addresses), lane)
        self.write(warps, lanes, addresses, other, at, WEAK_ACCESS)

    def forget(self, buffer: Buffer) -> None:
        """Drop what is known of a buffer that is none any more."""
        self._launch.forget(buffer)

    def write(
        self,
        warps: CheckedWarps,
        lanes: Array,
        addresses: Array,
        values: Array,
        at: int,
        order: MemoryOrder,
    ) -> None:
        """Check stores of the rows of `values`, one for each of `lanes`, before they happen."""
        size = values.shape[1] * values.itemsize
        first, last = int(lanes[0]) // WARP, int(lanes[-1]) // WARP
        self._clocks.effects.update(warps.agents[first : last + 1])
        quiet = self._quiet(warps, lanes, addresses, size, at, order, write=True)
        if quiet is not None:
            where, who, stamps = quiet
            where.shadow.write(where.units, who, stamps)
            apart = isinstance(where.units, slice) or pattern_of(addresses, size)[1].apart
            if apart or where.shadow.is_last(where.units, who):
                return
        changed = None
        rows = np.arange(len(lanes))
        for warp, mine in _by_warp(warps, lanes, rows):
            found = self._locate(addresses[mine], size)
            if found is None:
                continue
            access = self._of_warp(warp, at, order.scope)
            race = self._conflicts.of_write(found, access)
            if race is not None:
                if changed is None:
                    in_turn = quiet is None
                    changed = self._changed_by(addresses, values, in_turn=in_turn)
                self._report_write(race, found, access, addresses[mine][changed[mine]], size)
            before = self._messages(found) if order.scope else ()
            found.shadow.write(found.units, access.who, access.stamp)
            if order.scope:
                self._publish(found, self.patterns.message(warp, order, at, before))

    def _quiet(
        self,
        warps: CheckedWarps,
        lanes: Array,
        addresses: Array,
        size: int,
        at: int,
        order: MemoryOrder,
        *,
        write: bool,
    ) -> tuple[Where, Array, Array] | None:
        """Return where weak accesses of several warps are that no recorded access may race with,
        by whom, unit by unit, and their stamps; None where each warp has to be checked."""
        if order.scope or lanes[0] // WARP == lanes[-1] // WARP:
            return None
        where = self._locate(addresses, size)
        if where is None or where.buffer.pieces is not None:
            return None
        if not where.shadow.is_quiet(where.units, write=write):
            return None
        units, shadow = where.units, where.shadow
        count = units.stop - units.start if isinstance(units, slice) else len(units)
        of_unit = _warp_of_unit(lanes.tobytes(), shadow.unit, count, size)
        if of_unit is None:
            return None
        agents = _array_of(warps.agents)
        stamps = self._clocks.ordered[agents, agents] - TICK | at
        who = (self._first + agents + 1) << 2
        return where, who[of_unit], stamps[of_unit]

    def lanes_agree(self, addresses: Array, values: Array, at: int, order: MemoryOrder) -> None:
        """Check, after a store, that lanes which wrote to one address wrote the same."""
        width = values.shape[1] * values.itemsize
        if order.scope or pattern_of(addresses, width)[1].apart:
            return
        lost = self._changed(addresses, values)
        if not lost.any():
            return
        address = int(addresses[lost][0])
        buffer = self._cluster.memory.find(address, width)
        self._launch.findings.add(
            "race-WAW",
            at,
            f"lanes of one instruction write different values to "
            f"{buffer.name}+{address - buffer.base:#x}",
            ["hint: one lane should write, or an atomic combine the values"],
        )

    def _changed(self, addresses: Array, values: Array) -> Array:
        old = self._cluster.memory.load(addresses, values.itemsize, values.shape[1])
        return (old != values).any(1)

    def _changed_by(self, addresses: Array, values: Array, *, in_turn: bool) -> Array:
        """Return which rows of one instruction write something else than is there.

        Each finds what those in front of it have written; or, where nothing written before the
        instruction races with it, all that write to one address are compared with one another.
        """
        _, first, group = np.unique(addresses, return_index=True, return_inverse=True)
        if not in_turn:
            differ = np.zeros(len(first), np.bool_)
            differ[group[(values != values[first[group]]).any(1)]] = True
            return differ[group]
        old = self._cluster.memory.load(addresses, values.itemsize, values.shape[1])
        order = np.argsort(group, kind="stable")
        again = np.flatnonzero(group[order[1:]] == group[order[:-1]])
        old[order[again + 1]] = values[order[again]]
        return (old != values).any(1)

    def _report_write(
        self, race: Race, where: Where, access: GlobalAccess, changed: Array, size: int
    ) -> None:
        """Report the race of a store: a note where only lanes that change nothing race."""
        if changed.size:
            found = self._locate(changed, size)
            worse = None if found is None else self._conflicts.of_write(found, access)
            if found is not None and worse is not None:
                self._conflicts.report(worse, found, access)
                return
        self._conflicts.report(race, where, access, same_value=True)

    def update(
        self,
        warps: CheckedWarps,
        lanes: Array,
        addresses: Array,
        size: int,
        at: int,
        order: MemoryOrder,
        wrote: Array,
    ) -> None:
        """Check atomics, of which those of `wrote` have changed their location."""
        rows = np.arange(len(lanes))
        for warp, mine in _by_warp(warps, lanes, rows):
            found = self._locate(addresses[mine], size)
            if found is None:
                continue
            self._clocks.effects.add(warp)
            self._check_defined(found, len(mine), warp, at)
            access = self._of_warp(warp, at, order.scope)
            race = self._conflicts.of_write(found, access)
            if race is not None:
                self._conflicts.report(race, found, access)
            messages = self._messages(found)
            self.patterns.acquire_again(warp, found.location, order)
            for message in messages:
                self.patterns.observe(warp, message, order, found.location)
            written = mine[wrote[mine]]
            if not written.size:
                found.shadow.read(found.units, access.who, access.stamp)
                continue
            if len(written) < len(mine):
                found = self._locate(addresses[written], size)
                assert found is not None
            message = self.patterns.message(warp, order, at, messages, is_atomic=True)
            found.shadow.write(found.units, access.who, access.stamp)
            self._publish(found, message)

    def copy_rows(
        self, starts: Array, size: int, started: AsyncEvent, warp: int, at: int, *, write: bool
    ) -> None:
        """Check rows of `size` bytes that the asynchronous proxy reads or writes."""
        found = self._locate_rows(starts, size)
        if found is not None:
            self._copy(found, self._of_copy(started, warp, at, started.visible), write=write)

    def reduce_rows(
        self, starts: Array, size: int, started: AsyncEvent, warp: int, at: int
    ) -> None:
        """Check rows that a bulk reduction updates, each element with `.relaxed.gpu`."""
        found = self._locate_rows(starts, size)
        if found is None:
            return
        access = self._of_copy(started, warp, at, started.visible)
        access.scope, access.who = DEVICE, access.who | DEVICE
        self._copy(found, access, write=True)

    def copy_lanes(
        self, addresses: Array, size: int, started: AsyncEvent, warp: int, at: int
    ) -> None:
        """Check what a non-bulk copy (`cp.async`) reads through the generic proxy."""
        found = self._locate(addresses, size)
        if found is not None:
            self._copy(found, self._of_copy(started, warp, at, None), write=False)

    def _copy(self, where: Where, access: GlobalAccess, *, write: bool) -> None:
        shadow = where.shadow
        if write:
            race = self._conflicts.of_write(where, access)
        elif shadow.writer is not None:
            race = self._conflicts.with_writes("race-RAW", where, shadow.writer, access)
        else:
            race = None
        if race is not None:
            self._conflicts.report(race, where, access)
        if write:
            shadow.write(where.units, access.who, access.stamp)
        else:
            shadow.read(where.units, access.who, access.stamp)

    # Where, and by whom

    def _of_warp(self, warp: int, at: int, scope: int) -> GlobalAccess:
        clocks = self._clocks
        return GlobalAccess(
            (self._first + warp + 1) << 2 | scope,
            self.patterns.thread(warp),
            clocks.stamp(warp, at),
            clocks.ordered[warp],
            clocks.foreign[warp],
            at,
            scope,
        )

    def _of_copy(
        self, started: AsyncEvent, warp: int, at: int, visible: Array | None
    ) -> GlobalAccess:
        return GlobalAccess(
            (self._first + started.agent + 1) << 2,
            self.patterns.thread(warp),
            started.stamp,
            started.limits,
            started.foreign,
            at,
            visible=visible,
        )

    def _locate(self, addresses: Array, size: int) -> Where | None:
        """Return the units of accesses to one buffer; None for constants and several buffers."""
        first, pattern = pattern_of(addresses, size)
        low, high = first + pattern.low, first + pattern.high
        buffer = self._cluster.memory.find(low, size)
        if buffer.read_only or high + size > buffer.end or low % size:
            return None
        shadow = self._launch.of(buffer)
        return Where(buffer, shadow, shadow.units(first - buffer.base, pattern))

    def _locate_rows(self, starts: Array, size: int) -> Where | None:
        if not starts.size or not size:
            return None
        first, pattern = pattern_of(starts, size)
        buffer = self._cluster.memory.find(first + pattern.low, 1)
        if buffer.read_only:
            return None
        shadow = self._launch.of(buffer)
        return Where(buffer, shadow, shadow.rows(first - buffer.base, pattern))

    def _messages(self, where: Where) -> list[Message]:
        numbers = where.shadow.messages
        if numbers is None:
            return []
        every = self._launch.messages
        return [every[i] for i in np.unique(numbers[where.units]).tolist() if i]

    def _publish(self, where: Where, message: Message) -> None:
        where.shadow.publish(where.units, self._launch.number_of(message))


def _by_warp(warps: CheckedWarps, lanes: Array, rows: Array) -> Sequence[tuple[int, Array]]:
    """Return the rows of each warp that has lanes."""
    numbers = lanes // WARP
    first, last = int(numbers[0]), int(numbers[-1])
    if first == last:
        return [(warps.agents[first], rows)]
    parts = [(warps.agents[w], rows[numbers == w]) for w in range(first, last + 1)]
    return [(warp, mine) for warp, mine in parts if mine.size]


@lru_cache(maxsize=1024)
def _array_of(agents: range) -> Array:
    return np.asarray(agents)


@lru_cache(maxsize=1024)
def _warp_of_unit(lane_bytes: bytes, unit: int, count: int, size: int) -> Array | None:
    """Return the warp of each of `count` units that lanes access; None where lanes of two warps
    share units."""
    warps = np.frombuffer(lane_bytes, np.int64) // WARP
    if size >= unit:
        found = np.repeat(warps, size // unit) if size > unit else warps
    elif len(warps) % WARP or unit > size * WARP:
        return None
    else:
        found = warps[:: unit // size]
    return found if len(found) == count else None
