"""Conflicts of accesses to global memory: what happens before, moral strength, and the reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.checking.global_memory.foreign_clocks import ForeignClocks
from tileas_xdsl.interpreters.ptx.checking.global_memory.part_races import Footprint, footprint_of
from tileas_xdsl.interpreters.ptx.checking.global_memory.release_patterns import (
    NO_MESSAGE,
    Location,
    Message,
    ReleasePatterns,
    Thread,
)
from tileas_xdsl.interpreters.ptx.checking.global_memory.shadow import (
    AccessPlane,
    GlobalShadow,
    Units,
)
from tileas_xdsl.interpreters.ptx.checking.reports.conflicts import CheckedProgram
from tileas_xdsl.interpreters.ptx.checking.reports.findings import Findings
from tileas_xdsl.interpreters.ptx.checking.vector_clocks import TICK, Clocks
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.memory.global_memory import Buffer, GlobalMemory
from tileas_xdsl.interpreters.ptx.memory.memory_order import DEVICE


class CheckedCluster(Protocol):
    """A cluster whose accesses are checked (`state.Cluster`)."""

    number: int

    @property
    def program(self) -> CheckedProgram:
        """The kernel that runs."""
        ...

    @property
    def memory(self) -> GlobalMemory:
        """The memory that all clusters share."""
        ...

    def warp_name(self, agent: int) -> str:
        """Return the name of a warp of the cluster in diagnostics."""
        ...


class LaunchShadow:
    """What all clusters of a launch have done to global memory."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.messages: list[Message] = [NO_MESSAGE]
        self.names: dict[int, Callable[[int], str]] = {}
        """By cluster, the names of its agents."""
        self._shadows: dict[int, GlobalShadow] = {}
        self.effects: dict[int, set[int]] = {}
        """By cluster, the warps that have written anything."""
        self._deferred: list[tuple[int, int, Callable[[], None]]] = []
        self._empty: dict[Message, int] = {}
        """The numbers of messages that release nothing, of which there may be many."""

    def defer(self, cluster: int, warp: int, report: Callable[[], None]) -> None:
        """Report a race with a read at the end, if the warp that read has written anything.

        Lanes that only repeat what others do load values that nobody uses: a kernel in place would
        be blamed for them.
        """
        if warp in self.effects[cluster]:
            report()
        else:
            self._deferred.append((cluster, warp, report))

    def finish(self) -> None:
        """Report the deferred races whose values may have been used."""
        deferred, self._deferred = self._deferred, []
        for cluster, warp, report in deferred:
            if warp in self.effects[cluster]:
                report()

    def number_of(self, message: Message) -> int:
        """Return the number of a new message."""
        empty = not message.releases and message.tensor is None
        number = self._empty.get(message) if empty else None
        if number is None:
            number = len(self.messages)
            self.messages.append(message)
            if empty:
                self._empty[message] = number
        return number

    def footprints(self) -> dict[int, Footprint]:
        """Return by address of a buffer what has been accessed."""
        return {base: footprint_of(shadow) for base, shadow in self._shadows.items()}

    def forget(self, buffer: Buffer) -> None:
        """Drop the shadow of a buffer that is none any more."""
        self._shadows.pop(buffer.base, None)

    def of(self, buffer: Buffer) -> GlobalShadow:
        """Return the shadow of a buffer."""
        found = self._shadows.get(buffer.base)
        if found is None:
            found = self._shadows[buffer.base] = GlobalShadow(buffer.data.size)
        return found


@dataclass(slots=True, eq=False)
class Where:
    """Units of the shadow of a buffer."""

    buffer: Buffer
    shadow: GlobalShadow
    units: Units

    @property
    def location(self) -> Location:
        """The buffer and the first byte."""
        units = self.units
        first = units.start if isinstance(units, slice) else int(units[0])
        return self.buffer.base, first * self.shadow.unit


@dataclass(slots=True)
class GlobalAccess:
    """An access by an agent of this cluster, and what happened before it."""

    who: int
    thread: Thread
    stamp: int
    limits: Array
    foreign: ForeignClocks | None
    at: int
    scope: int = 0
    visible: Array | None = None
    """Of the asynchronous proxy: the generic writes that it may see."""


@dataclass(slots=True)
class Race:
    """The kind of a race, the first byte of the buffer, and the other access."""

    kind: str
    location: int
    who: int
    stamp: int


class GlobalConflicts:
    """Judges the accesses of one cluster against those that were recorded, and reports races."""

    def __init__(
        self,
        launch: LaunchShadow,
        cluster: CheckedCluster,
        clocks: Clocks,
        patterns: ReleasePatterns,
    ) -> None:
        self._launch = launch
        self._cluster = cluster
        self._clocks = clocks
        self._patterns = patterns
        self._count = clocks.agents
        self._first = cluster.number * clocks.agents
        launch.names[cluster.number] = _agent_names(clocks, cluster)
        launch.effects[cluster.number] = clocks.effects

    def of_write(self, where: Where, access: GlobalAccess) -> Race | None:
        shadow = where.shadow
        race = self.with_writes("race-WAW", where, shadow.written(), access)
        for plane in shadow.readers or ():
            race = race or self._check("race-WAR", where, plane, access)
        return race

    def with_writes(
        self, kind: str, where: Where, writes: AccessPlane, access: GlobalAccess
    ) -> Race | None:
        race = self._check(kind, where, writes, access)
        if race is None and access.visible is not None:
            race = self._unfenced(where, writes, access)
        return race

    def _check(
        self, kind: str, where: Where, plane: AccessPlane, access: GlobalAccess
    ) -> Race | None:
        """Return the first recorded access that is not ordered before this one."""
        who = plane.who[where.units]
        bad = who > 3
        if not bad.any():
            return None
        stamps = plane.stamp[where.units]
        bad &= ~self._before(who, stamps, access.limits, access.foreign and access.foreign.ordered)
        if access.scope and bad.any():
            bad &= ~self._morally_strong(who, access)
        if kind != "race-WAR" and bad.any():
            bad &= ~self._acquired(where, access)
        return _race(kind, where, bad, who, stamps) if bad.any() else None

    def _acquired(self, where: Where, access: GlobalAccess) -> Array:
        """Return which units hold a message whose release has been acquired: its write is before.

        The clocks of a release by a fence do not include the strong write after the fence.
        """
        numbers = where.shadow.messages
        if numbers is None:
            return np.zeros(1, np.bool_)
        numbers = numbers[where.units]
        known = [i for i in np.unique(numbers).tolist() if i and self._knows(access, i)]
        return np.isin(numbers, known)

    def _knows(self, access: GlobalAccess, number: int) -> bool:
        message = self._launch.messages[number]
        by = message.by
        if by.cluster == self._cluster.number:
            mine: Array | None = access.limits
        else:
            mine = access.foreign and access.foreign.ordered.get(by.cluster)
        released = [release.clocks.ordered.get(by.cluster) for release in message.releases]
        return mine is not None and any(
            limits is not None and mine[by.warp] >= limits[by.warp] for limits in released
        )

    def _before(
        self, who: Array, stamps: Array, limits: Array, foreign: Mapping[int, Array] | None
    ) -> Array:
        """Return which accesses happened before, by the limits of this and of other clusters."""
        agents = (who >> 2) - 1 - self._first
        own = (agents >= 0) & (agents < self._count)
        before = own & (stamps < limits[np.where(own, agents, 0)])
        if foreign is None or bool(own.all()):
            return before
        clusters, agents = np.divmod((who >> 2) - 1, self._count)
        for cluster in np.unique(clusters[~own]).tolist():
            known = foreign.get(cluster)
            if known is not None:
                before |= (clusters == cluster) & (stamps < known[agents])
        return before

    def _morally_strong(self, who: Array, access: GlobalAccess) -> Array:
        """Return which accesses are strong, like this one, with scopes that include each other."""
        if access.scope == DEVICE and bool((who & 3 == DEVICE).all()):
            return np.ones(who.shape, np.bool_)
        every, inverse = np.unique(who, return_inverse=True)
        far = [self._thread_of(w).distance(access.thread) if w > 3 else 0 for w in every.tolist()]
        return np.minimum(who & 3, access.scope) >= np.array(far)[inverse]

    def _thread_of(self, who: int) -> Thread:
        cluster, agent = divmod((who >> 2) - 1, self._count)
        if cluster != self._cluster.number:
            return Thread(cluster, 0, agent)
        return self._patterns.thread(self._clocks.describe(agent)[0])

    def _unfenced(self, where: Where, writes: AccessPlane, access: GlobalAccess) -> Race | None:
        """Return the first generic write that no fence made visible to the asynchronous proxy."""
        assert access.visible is not None
        who, stamps = writes.who[where.units], writes.stamp[where.units]
        generic = (who > 3) & (((who >> 2) - 1) % self._count < self._clocks.warps)
        if not generic.any():
            return None
        foreign = access.foreign and access.foreign.visible
        bad = generic & ~self._before(who, stamps, access.visible, foreign)
        return _race("missing-proxy-fence", where, bad, who, stamps) if bad.any() else None

    # Reports

    def report(
        self, race: Race, where: Where, access: GlobalAccess, *, same_value: bool = False
    ) -> None:
        launch, findings = self._launch, self._launch.findings
        cluster, agent = divmod((race.who >> 2) - 1, self._count)
        other = launch.names[cluster](agent)
        me = self._cluster.warp_name(access.thread.warp)
        parts = self._cluster.program.code[access.at].parts
        opcode = ".".join(parts[:4]) + ("..." if len(parts) > 4 else "")
        did = "read" if race.kind == "race-WAR" else "wrote"
        does = "reads" if race.kind in ("race-RAW", "read-only-load") else "writes"
        message = (
            f"'{opcode}' of {me} {does} {where.buffer.name}+{race.location:#x}, which {other} "
            f"{did}{_ENDINGS[race.kind]}"
        )
        notes = [f"{other} was there at {findings.line_of(race.stamp % TICK)}"]
        kind = race.kind
        if same_value:
            message += "; the value is the same"
            kind = "same-value"
        near = self._patterns.near_misses.get((access.thread.warp, cluster))
        if near is not None and race.kind != "read-only-load":
            notes.append(f"the two meet at {findings.line_of(near[1])}, {near[0]}")
        notes.append(f"hint: {self._hint(race, access, cluster)}")

        def add() -> None:
            findings.add(kind, access.at, message, notes)

        if race.kind == "race-WAR" and agent < self._clocks.warps:
            launch.defer(cluster, agent, add)
        elif race.kind == "race-RAW":
            launch.defer(self._cluster.number, access.thread.warp, add)
        else:
            add()

    def _hint(self, race: Race, access: GlobalAccess, cluster: int) -> str:
        if race.kind in _HINTS:
            return _HINTS[race.kind]
        agent = ((race.who >> 2) - 1) % self._count
        if agent >= self._clocks.warps and race.kind != "race-WAR":
            return "a bulk store has written when cp.async.bulk.wait_group without .read returns"
        if (race.who & 3 and not access.scope) or (access.scope and not race.who & 3):
            return "one of the two is a plain access: make it .relaxed, or order the two"
        if self._thread_of(race.who).distance(access.thread) == 1:
            return "a barrier of the block between the two would order them"
        return (
            "blocks are ordered by a release (of scope gpu) on a flag, and an acquire by those who "
            "read it"
        )


_ENDINGS = {
    "race-RAW": "; nothing orders the two",
    "race-WAW": "; nothing orders the two",
    "race-WAR": "; nothing orders the two",
    "read-only-load": " during the kernel",
    "missing-proxy-fence": " through the generic proxy, with no fence.proxy.async in between",
}

_HINTS = {
    "read-only-load": "ld.global.nc is for memory that nobody writes while the kernel runs",
    "missing-proxy-fence": (
        "fence.proxy.async by the writer before it releases, or by the reader after it acquires"
    ),
}


def _agent_names(clocks: Clocks, cluster: CheckedCluster) -> Callable[[int], str]:
    def name(agent: int) -> str:
        warp, prefix = clocks.describe(agent)
        return prefix + cluster.warp_name(warp)

    return name


def _race(kind: str, where: Where, bad: Array, who: Array, stamps: Array) -> Race:
    first = int(np.flatnonzero(bad)[0])
    units = where.units
    start = units.start + first if isinstance(units, slice) else int(units[first])
    return Race(kind, start * where.shadow.unit, int(who[first]), int(stamps[first]))


def first_of(kind: str, where: Where, plane: AccessPlane) -> Race | None:
    """Return the first unit that has been accessed at all."""
    who = plane.who[where.units]
    return _race(kind, where, who > 3, who, plane.stamp[where.units]) if who.any() else None
