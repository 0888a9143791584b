"""The mbarrier: phases, pending arrivals and transaction bytes.

Source: PTX ISA 9.7.13.15, mbarrier.  A phase completes when no arrival is pending and the
transaction count is zero; `phase` counts the completed phases, and a wait names the parity of the
phase that it waits for:

    init 2           phase 0  pending 2  tx 0
    arrive.expect_tx phase 0  pending 1  tx 4096
    complete_tx      phase 0  pending 1  tx 0
    arrive           phase 1  pending 2  tx 0       try_wait.parity 0 succeeds from here on

A waiter two phases behind sees the parity that it waited for before (finding `phase-lap`).
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from tileas_xdsl.interpreters.ptx.checking.vector_clocks import ClockSnapshot, joined

MAX_COUNT = (1 << 20) - 1
"""The largest expected count and the largest transaction count of a phase."""

MAX_EVENTS = 8
"""Length of the event trace of an mbarrier."""


class Event(NamedTuple):
    """An operation on an mbarrier, and the state after it."""

    who: str
    at: int
    what: str
    phase: int
    pending: int
    bytes: int


class MBarrier:
    """An mbarrier in the shared memory of a CTA; `name` identifies it in diagnostics."""

    __slots__ = (
        "acquired_phase",
        "bytes",
        "count",
        "current",
        "ended",
        "events",
        "fenced",
        "initialised_before",
        "initialised_by",
        "name",
        "next_count",
        "offset",
        "pending",
        "phase",
        "published",
        "waited",
    )

    def __init__(self, name: str, offset: int, count: int) -> None:
        self.name = name
        self.offset = offset
        self.count = self.next_count = self.pending = count
        self.bytes = 0
        self.phase = 0
        self.fenced = False
        self.initialised_by: tuple[int, int] | None = None
        """The warp that initialised it, and the stamp of that write."""
        self.initialised_before: set[int] = set()
        """Warps that are known to come after that."""
        self.published: int | None = None
        """The phase of the barrier of the cluster that passes on its fenced initialisation."""
        self.current: ClockSnapshot | None = None
        self.ended: ClockSnapshot | None = None
        """The joined clocks of the arrivals of the last completed phase."""
        self.events: deque[Event] = deque(maxlen=MAX_EVENTS)
        self.acquired_phase: dict[int, int] = {}
        """By warp, the phase whose completion it observed last."""
        self.waited: dict[int, int] = {}
        """By warp, the stamp of that observation."""

    def join(self, snapshot: ClockSnapshot | None) -> None:
        """Join the clocks of an arrival into the current phase."""
        self.current = joined(self.current, snapshot)

    def has_ended(self, parity: int) -> bool:
        """Return whether the phase of a parity has completed: the current one has the other
        parity."""
        return (self.phase & 1) != parity

    def try_complete_phase(self) -> bool:
        """Complete the phase if nothing is pending; return whether it completed."""
        if self.pending > 0 or self.bytes != 0:
            return False
        self.phase += 1
        self.count = self.next_count
        self.pending = self.count
        self.ended, self.current = self.current, None
        return True

    def note(self, who: str, at: int, what: str) -> None:
        """Append to the event trace."""
        self.events.append(Event(who, at, what, self.phase, self.pending, self.bytes))

    def state(self) -> str:
        """Return the state in words."""
        return (
            f"phase {self.phase} is running, {self.pending} of {self.count} arrivals pending, "
            f"{self.bytes} bytes announced and not delivered"
        )

    def missing(self) -> str:
        """Return what keeps the phase from completing, as a hint."""
        if self.bytes < 0:
            return f"{-self.bytes} bytes more arrived than expect_tx announced"
        if self.bytes > 0 and self.pending <= 0:
            return f"expect_tx announced {self.bytes} bytes that no copy in flight delivers"
        if self.pending == self.count and not any(e.what != "init" for e in self.events):
            return "nobody ever arrives on it"
        if self.pending > 0:
            return f"{self.pending} of {self.count} arrivals are missing in phase {self.phase}"
        return "the phase has ended, with the other parity: the waiter's parity is wrong"
