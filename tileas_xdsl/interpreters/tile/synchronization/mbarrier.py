"""The mbarrier: an object in shared memory on which agents and engines arrive, with bytes.

State: the phase, the arrivals it still waits for, how many it expects, and the transaction count.
A phase completes when no arrival is pending and the transaction count is zero; then the parity
flips and the next phase begins.  Source: PTX ISA, parallel synchronization (mbarrier).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from tileas_xdsl.interpreters.tile.faults import RuleBroken
from tileas_xdsl.interpreters.tile.synchronization.vector_clocks import joined

MAX_COUNT = (1 << 20) - 1
"""The largest number of arrivals, and of bytes in flight."""

REMEMBERED_EVENTS = 16


class BarrierError(RuleBroken):
    """Misuse of a barrier."""


@dataclass(frozen=True, slots=True)
class BarrierEvent:
    """One thing that happened to a barrier."""

    time: int
    who: str
    what: str

    def __str__(self) -> str:
        return f"at {self.time}: {self.who} {self.what}".replace("  ", " ")


@dataclass
class MBarrier:
    """An initialised mbarrier; `name` is how stories speak of it.

    Whoever arrives or delivers hands on what it knows; whoever waits for a completed phase learns
    it (`handed_on`).
    """

    name: str
    expected: int
    phase: int = 0
    """The phase in progress, counted from 0; its parity is what waits compare."""
    pending: int = field(init=False)
    tx_count: int = 0
    announced: int = 0
    """Bytes announced in the phase in progress."""
    handed_on: dict[str, int] = field(default_factory=dict[str, int])
    """What those who took part in completed phases knew."""
    completed_at: int = 0
    """The virtual time at which the last phase completed."""
    _gathered: dict[str, int] = field(default_factory=dict[str, int])
    _latest: int = 0
    events: deque[BarrierEvent] = field(
        default_factory=lambda: deque[BarrierEvent](maxlen=REMEMBERED_EVENTS)
    )

    def __post_init__(self) -> None:
        if not 1 <= self.expected <= MAX_COUNT:
            raise BarrierError(f"{self.name} expects {self.expected} arrivals: 1 to {MAX_COUNT}")
        self.pending = self.expected

    @property
    def parity(self) -> int:
        """The parity of the phase in progress."""
        return self.phase & 1

    def log(self, time: int, who: str, what: str) -> None:
        """Remember an event for stories."""
        self.events.append(BarrierEvent(time, who, what))

    def expect_tx(self, count: int, who: str = "", time: int = 0) -> None:
        """Announce `count` bytes that will arrive in this phase."""
        if count < 0:
            raise BarrierError(f"{who} announces {count} bytes on {self.name}")
        self.tx_count += count
        self.announced += count
        self._check_bytes(who)
        self.log(time, who, f"expects {count} bytes, {self.tx_count} outstanding")

    def complete_tx(
        self, count: int, who: str = "", time: int = 0, knowledge: Mapping[str, int] | None = None
    ) -> None:
        """`count` bytes have arrived."""
        self._gather(time, knowledge)
        self.tx_count -= count
        self._check_bytes(who)
        self.log(time, who, f"delivered {count} bytes, {self.tx_count} outstanding")
        self._complete_if_due(time)

    def arrive(
        self,
        count: int = 1,
        who: str = "",
        time: int = 0,
        knowledge: Mapping[str, int] | None = None,
    ) -> int:
        """Arrive `count` times; returns the phase arrived on, the state token of PTX."""
        if count < 1:
            raise BarrierError(f"{who} arrives {count} times on {self.name}")
        if count > self.pending:
            raise BarrierError(
                f"{who} arrives {count} times on {self.name}, which waits for {self.pending} of "
                f"{self.expected} arrivals in this phase",
                self.story(),
            )
        self._gather(time, knowledge)
        phase = self.phase
        self.pending -= count
        self.log(time, who, f"arrived, {self.pending} of {self.expected} arrivals pending")
        self._complete_if_due(time)
        return phase

    def arrive_expect_tx(self, count: int, who: str = "", time: int = 0) -> int:
        """Announce bytes and arrive once, as one step of the phase."""
        self.expect_tx(count, who, time)
        return self.arrive(1, who, time)

    def test_parity(self, parity: int) -> bool:
        """Has the phase of this parity completed?  Right for the phase in progress and the last."""
        if parity not in (0, 1):
            raise BarrierError(f"a parity is 0 or 1, not {parity}")
        return self.parity != parity

    def missing(self) -> str:
        """What the phase in progress still waits for, as words for a story."""
        parts: list[str] = []
        if self.pending:
            parts.append(f"{self.pending} of {self.expected} arrivals")
        if self.tx_count > 0:
            parts.append(f"{self.tx_count} bytes")
        if self.tx_count < 0:
            parts.append(f"the announcement of {-self.tx_count} bytes that came already")
        return " and ".join(parts)

    def story(self) -> list[str]:
        """The last events, as one note."""
        events = "".join(f"\n  {event}" for event in self.events)
        return [f"{self.name} in phase {self.phase}, its last events:{events or ' none'}"]

    def _gather(self, time: int, knowledge: Mapping[str, int] | None) -> None:
        self._latest = max(self._latest, time)
        for agent, step in (knowledge or {}).items():
            if step > self._gathered.get(agent, 0):
                self._gathered[agent] = step

    def _check_bytes(self, who: str) -> None:
        if abs(self.tx_count) > MAX_COUNT:
            raise BarrierError(
                f"{who} brings the transaction count of {self.name} to {self.tx_count}: "
                f"it holds {-MAX_COUNT} to {MAX_COUNT}"
            )

    def _complete_if_due(self, time: int) -> None:
        if self.pending or self.tx_count:
            return
        self.completed_at = self._latest
        text = f"phase {self.phase} (parity {self.parity}) completed"
        self.log(self.completed_at, "", text)
        self.phase += 1
        self.pending = self.expected
        self.announced = 0
        self.handed_on, self._gathered = joined((self.handed_on, self._gathered)), {}
