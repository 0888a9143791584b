"""The mbarrier: phases, pending arrivals and transaction bytes.

Source: PTX ISA 9.7.13.15, mbarrier.  A phase ends when no arrival is pending and the bytes
announced equal the bytes delivered; `phase` counts the phases that have ended.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from tileas_xdsl.interpreters.ptx.checking.vector_clocks import Knowledge

MAX_COUNT = (1 << 20) - 1
"""The largest expected count and the largest transaction count of a phase."""

STORY = 8
"""How many events a barrier remembers."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a barrier, and its state afterwards."""

    who: str
    at: int
    what: str
    phase: int
    pending: int
    bytes: int


class MBarrier:
    """One barrier of a CTA; `name` is how stories call it."""

    __slots__ = (
        "bytes",
        "count",
        "current",
        "ended",
        "events",
        "fenced",
        "heard",
        "made_by",
        "name",
        "next_count",
        "offset",
        "pending",
        "phase",
    )

    def __init__(self, name: str, offset: int, count: int) -> None:
        self.name = name
        self.offset = offset
        self.count = self.next_count = self.pending = count
        self.bytes = 0
        self.phase = 0
        self.fenced = False
        self.made_by: tuple[int, int] | None = None
        """The warp that initialised it and the stamp of that."""
        self.current: Knowledge | None = None
        self.ended: Knowledge | None = None
        """What the arrivals of the phase that ended last handed on."""
        self.events: deque[Event] = deque(maxlen=STORY)
        self.heard: dict[int, int] = {}
        """By warp, the phase whose end it saw last."""

    def hand_on(self, known: Knowledge | None) -> None:
        """What an arrival gives to those who wait."""
        if known is None:
            return
        if self.current is None:
            self.current = known.copy()
        else:
            self.current.join(known)

    def has_ended(self, parity: int) -> bool:
        """Whether the phase of this parity has ended: the present one has the other parity."""
        return (self.phase & 1) != parity

    def settle(self) -> bool:
        """End the phase if everything has come; whether it ended."""
        if self.pending > 0 or self.bytes != 0:
            return False
        self.phase += 1
        self.count = self.next_count
        self.pending = self.count
        self.ended, self.current = self.current, None
        return True

    def note(self, who: str, at: int, what: str) -> None:
        """Remember an event."""
        self.events.append(Event(who, at, what, self.phase, self.pending, self.bytes))

    def state(self) -> str:
        """The state as a story tells it."""
        return (
            f"phase {self.phase} is running, {self.pending} of {self.count} arrivals pending, "
            f"{self.bytes} bytes announced and not delivered"
        )

    def missing(self) -> str:
        """What keeps the phase from ending, as a hint."""
        if self.bytes < 0:
            return f"{-self.bytes} bytes more arrived than expect_tx announced"
        if self.bytes > 0 and self.pending <= 0:
            return f"expect_tx announced {self.bytes} bytes that no copy in flight delivers"
        if self.pending == self.count and not any(e.what != "init" for e in self.events):
            return "nobody ever arrives on it"
        if self.pending > 0:
            return f"{self.pending} of {self.count} arrivals are missing in phase {self.phase}"
        return "the phase has ended, with the other parity: the waiter's parity is wrong"
