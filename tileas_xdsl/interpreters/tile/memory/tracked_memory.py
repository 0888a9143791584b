"""Memory that records its accesses and reports races by vector clocks.

A memory is an array of bytes with a record of accesses.  An access must be ordered, by the vector
clock of its actor, after the accesses it conflicts with; uninitialised memory may not be read.
Strong accesses (relaxed and more) do not race with one another, and those that acquire join the
clocks of those that released (PTX ISA, memory consistency model).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import note
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.interpreters.tile.faults import RuleBroken
from tileas_xdsl.interpreters.tile.memory.byte_regions import Region
from tileas_xdsl.interpreters.tile.synchronization.vector_clocks import Clock

Knowledge: TypeAlias = dict[str, int]


class AccessError(RuleBroken):
    """An access that breaks a rule; the notes name the conflicting accesses."""


@dataclass(slots=True)
class Actor:
    """The actor of an access: an agent, or an engine on behalf of one."""

    name: str
    """The name of the agent or engine in diagnostics."""
    holder: str
    """The agent on whose behalf it acts, whose ownership of stages applies."""
    clock: Clock
    op: Operation | None = None
    title: str = ""
    """Its name in diagnostics of its own block."""


@dataclass(frozen=True, slots=True)
class Access:
    """The memory semantics of an access, and the clock that it releases."""

    is_strong: bool = False
    acquires: bool = False
    releases: bool = False
    updates: bool = False
    """A part of an atomic update: it continues earlier releases (PTX ISA, release patterns)."""


WEAK = Access()


@dataclass(frozen=True, slots=True)
class Record:
    """A recorded access; later conflicting ones have to be ordered after it."""

    region: Region
    owner: str
    step: int
    is_write: bool
    is_strong: bool
    op: Operation | None

    def without_op(self) -> Record:
        """Return a copy without IR, which can be pickled for another process."""
        return replace(self, op=None)


class Guard(Protocol):
    """Checks the accesses of a part of a memory: a stage of a pipeline."""

    @property
    def low(self) -> int:
        """The first byte."""
        ...

    @property
    def high(self) -> int:
        """The byte past the last."""
        ...

    def check(self, actor: Actor, *, writes: bool) -> None:
        """Raise `AccessError` if the actor may not access this part now."""
        ...


@dataclass(eq=False)
class Memory:
    """A block of memory; `name` identifies it in diagnostics."""

    name: str
    space: Space
    data: NDArray[Any]
    """The elements, contiguous; `bytes` are the same memory."""
    is_initialised: bool = False
    """Whether the memory was initialised before the kernel, so that all of it may be read."""
    guards: list[Guard] = field(default_factory=list["Guard"])
    key: tuple[Any, ...] = ()
    """The key of the corresponding memory in the other blocks of a cluster."""
    address: int = 0
    """Its address; 0 where pointers cannot point to it."""

    def __post_init__(self) -> None:
        assert self.data.flags.c_contiguous
        self.bytes = self.data.reshape(-1).view(np.uint8)
        self._written = None if self.is_initialised else np.zeros(self.bytes.size, dtype=np.bool_)
        self._writes: list[Record] = []
        self._reads: list[Record] = []
        self._released: list[tuple[Region, Knowledge]] = []

    def replace(self, data: NDArray[Any]) -> None:
        """Replace the storage; `data` has the same elements."""
        self.data = data
        self.bytes = data.reshape(-1).view(np.uint8)

    def records(self) -> Sequence[Record]:
        """Return the recorded accesses."""
        return [*self._writes, *self._reads]

    def forget(self) -> None:
        """Drop all recorded accesses."""
        self._writes, self._reads, self._released = [], [], []

    @property
    def size(self) -> int:
        """Bytes."""
        return self.bytes.size

    def check_read(self, region: Region, actor: Actor, access: Access = WEAK) -> None:
        """Check and record a read; raise `AccessError` for a race or an uninitialised read."""
        self._acquire(region, actor.clock, access)
        self._check_order(self._writes, region, actor, access, "reads what", "wrote")
        self._check_written(region)
        self._record(self._reads, region, actor, access, is_write=False)

    def check_write(self, region: Region, actor: Actor, access: Access = WEAK) -> None:
        """Check and record a write; raise `AccessError` for a race."""
        self._acquire(region, actor.clock, access)
        self._check_order(self._writes, region, actor, access, "overwrites what", "wrote")
        self._check_order(self._reads, region, actor, access, "overwrites what", "read")
        self._writes = self._left(self._writes, region, actor, access)
        self._reads = self._left(self._reads, region, actor, access)
        self._record(self._writes, region, actor, access, is_write=True)
        self._mark_written(region)
        self._publish(region, actor.clock, access)

    def check_copy(self, region: Region, actor: Actor) -> NDArray[np.bool_]:
        """Check a read that may copy uninitialised bytes; return the mask of written bytes."""
        self._check_order(self._writes, region, actor, WEAK, "reads what", "wrote")
        self._record(self._reads, region, actor, WEAK, is_write=False)
        if self._written is None:
            return np.ones(len(region.starts) * region.run, np.bool_)
        return self._window(self._written, region).reshape(-1)

    def mark(self, written: NDArray[np.bool_]) -> None:
        """Set which bytes of a new memory are initialised, in order."""
        self._written = written.copy()

    def _check_order(
        self,
        records: Sequence[Record],
        region: Region,
        actor: Actor,
        access: Access,
        verb: str,
        did: str,
    ) -> None:
        known = actor.clock.known
        for record in records:
            if known.get(record.owner, 0) >= record.step or record.owner == actor.name:
                continue
            if (record.is_strong and access.is_strong) or not region.overlaps(record.region):
                continue
            position = self.coordinates_text(region.first_common(record.region))
            raise AccessError(
                f"race on {self.name}{position}: {actor.name} {verb} {record.owner} {did}, and "
                f"nothing orders the two",
                notes=[note(record.op, f"{record.owner} {did} it here")],
            )

    @staticmethod
    def _left(
        records: Sequence[Record], region: Region, actor: Actor, access: Access
    ) -> list[Record]:
        """Return the records that a write does not supersede, as it is not ordered after them.

        A strong write does not supersede weak accesses, which race with other strong ones.
        """
        if not access.is_strong:
            return [r for r in records if not region.covers(r.region)]
        known = actor.clock.known
        return [
            r
            for r in records
            if not r.is_strong
            or not (r.owner == actor.name or known.get(r.owner, 0) >= r.step)
            or not region.covers(r.region)
        ]

    def _record(
        self,
        records: list[Record],
        region: Region,
        actor: Actor,
        access: Access,
        *,
        is_write: bool,
    ) -> None:
        step = actor.clock.known[actor.name]
        if access.is_strong:
            # Those who look again and again, in turns, leave one record each.
            records[:] = [
                r
                for r in records
                if not (r.is_strong and r.owner == actor.name and r.region.is_like(region))
            ]
        elif records and (last := records[-1]).owner == actor.name and last.region.is_like(region):
            records.pop()
        records.append(Record(region, actor.name, step, is_write, access.is_strong, actor.op))

    def _check_written(self, region: Region) -> None:
        if self._written is None:
            return
        written = self._window(self._written, region)
        if not written.all():
            bytes_of = self._window(np.arange(self.size), region)
            position = self.coordinates_text(int(bytes_of[~written].flat[0]))
            raise AccessError(f"{self.name}{position} is read, and nobody wrote it")

    def _mark_written(self, region: Region) -> None:
        if self._written is None:
            return
        if region.is_contiguous:
            self._written[region.low : region.high] = True
        else:
            self._written[region.byte_offsets] = True

    @staticmethod
    def _window(of: NDArray[Any], region: Region) -> NDArray[Any]:
        if region.is_contiguous:
            return of[region.low : region.high]
        return of[region.byte_offsets]

    def _acquire(self, region: Region, clock: Clock, access: Access) -> None:
        """Join what was published here: at once, or at the next fence if the access is relaxed."""
        if not access.is_strong:
            return
        for released, snapshot in self._released:
            if region.overlaps(released):
                (clock.join if access.acquires else clock.observe)(snapshot)

    def _publish(self, region: Region, clock: Clock, access: Access) -> None:
        """Publish a release to later acquires; a plain write ends earlier releases.

        An update continues them, so the clock it has itself acquired need not be kept twice.
        A relaxed write publishes what a fence before it released.
        """
        snapshot = clock.snapshot() if access.releases else clock.fenced
        if self._released:
            self._released = [
                (released, known)
                for released, known in self._released
                if not region.covers(released)
                or (access.updates and not _contains(snapshot, known))
            ]
        if access.is_strong and snapshot:
            self._released.append((region, snapshot))
        if access.releases:
            clock.tick()

    def coordinates_text(self, byte: int) -> str:
        """Return the coordinates of the element at a byte, as `[i, j]`."""
        element = min(byte // max(self.data.itemsize, 1), max(self.data.size - 1, 0))
        coordinates = np.unravel_index(element, self.data.shape) if self.data.shape else ()
        return f"[{', '.join(str(int(i)) for i in coordinates)}]"


def _contains(snapshot: Knowledge, other: Knowledge) -> bool:
    return all(snapshot.get(name, 0) >= step for name, step in other.items())
