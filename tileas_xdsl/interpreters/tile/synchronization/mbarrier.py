"""The mbarrier: agents and engines arrive on it, copies complete bytes of its transaction count.

State: the phase, the arrivals it still waits for, how many it expects, and the transaction count.
A phase completes when no arrival is pending and the transaction count is zero; then the parity
flips and the next phase begins.  Source: PTX ISA 9.7.13.15, mbarrier.

    MBarrier("full", expected=1)      phase 0, pending 1, tx 0
    arrive_expect_tx(4096)            phase 0, pending 0, tx 4096
    complete_tx(4096)                 phase 1, pending 1, tx 0: test_parity(0) holds from here on
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import field

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.tile.faults import RuleBroken
from tileas_xdsl.interpreters.tile.synchronization.vector_clocks import joined

MAX_COUNT = (1 << 20) - 1
"""The largest number of arrivals, and of bytes in flight."""

REMEMBERED_EVENTS = 16


class BarrierError(RuleBroken):
    """Misuse of a barrier."""


@dataclass(frozen=True, slots=True)
class BarrierEvent:
    """An operation on a barrier, for the event trace."""

    time: int
    who: str
    what: str

    def __str__(self) -> str:
        return f"at {self.time}: {self.who} {self.what}".replace("  ", " ")


@dataclass
class MBarrier:
    """An initialised mbarrier; `name` identifies it in diagnostics.

    Arrivals and completed copies release their vector clocks; a wait for a completed phase
    acquires them (`released_clock`).
    """

    name: str
    expected: int
    phase: int = 0
    """The phase in progress, counted from 0; its parity is what waits compare."""
    pending: int = field(init=False)
    tx_count: int = 0
    announced: int = 0
    """Bytes announced in the phase in progress."""
    released_clock: dict[str, int] = field(default_factory=dict[str, int])
    """The joined clocks of the arrivals of completed phases."""
    completed_at: int = 0
    """The virtual time at which the last phase completed."""
    _joined: dict[str, int] = field(default_factory=dict[str, int])
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
        """Append to the event trace."""
        self.events.append(BarrierEvent(time, who, what))

    def expect_tx(self, count: int, who: str = "", time: int = 0) -> None:
        """Add `count` bytes to the transaction count."""
        if count < 0:
            raise BarrierError(f"{who} announces {count} bytes on {self.name}")
        self.tx_count += count
        self.announced += count
        self._check_bytes(who)
        self.log(time, who, f"expects {count} bytes, {self.tx_count} outstanding")

    def complete_tx(
        self, count: int, who: str = "", time: int = 0, snapshot: Mapping[str, int] | None = None
    ) -> None:
        """Subtract `count` bytes from the transaction count."""
        self._gather(time, snapshot)
        self.tx_count -= count
        self._check_bytes(who)
        self.log(time, who, f"delivered {count} bytes, {self.tx_count} outstanding")
        self._complete_if_due()

    def arrive(
        self,
        count: int = 1,
        who: str = "",
        time: int = 0,
        snapshot: Mapping[str, int] | None = None,
    ) -> int:
        """Arrive `count` times; return the phase, the state token of PTX."""
        if count < 1:
            raise BarrierError(f"{who} arrives {count} times on {self.name}")
        if count > self.pending:
            raise BarrierError(
                f"{who} arrives {count} times on {self.name}, which waits for {self.pending} of "
                f"{self.expected} arrivals in this phase",
                self.event_trace(),
            )
        self._gather(time, snapshot)
        phase = self.phase
        self.pending -= count
        self.log(time, who, f"arrived, {self.pending} of {self.expected} arrivals pending")
        self._complete_if_due()
        return phase

    def arrive_expect_tx(self, count: int, who: str = "", time: int = 0) -> int:
        """Announce bytes and arrive once, as one step of the phase."""
        self.expect_tx(count, who, time)
        return self.arrive(1, who, time)

    def test_parity(self, parity: int) -> bool:
        """Return whether the phase of a parity has completed: the current phase or the last one."""
        if parity not in (0, 1):
            raise BarrierError(f"a parity is 0 or 1, not {parity}")
        return self.parity != parity

    def missing(self) -> str:
        """Return what the current phase still waits for, in words."""
        parts: list[str] = []
        if self.pending:
            parts.append(f"{self.pending} of {self.expected} arrivals")
        if self.tx_count > 0:
            parts.append(f"{self.tx_count} bytes")
        if self.tx_count < 0:
            parts.append(f"the announcement of {-self.tx_count} bytes that came already")
        return " and ".join(parts)

    def event_trace(self) -> list[str]:
        """Return the last events, as one note."""
        events = "".join(f"\n  {event}" for event in self.events)
        return [f"{self.name} in phase {self.phase}, its last events:{events or ' none'}"]

    def _gather(self, time: int, snapshot: Mapping[str, int] | None) -> None:
        self._latest = max(self._latest, time)
        for agent, step in (snapshot or {}).items():
            if step > self._joined.get(agent, 0):
                self._joined[agent] = step

    def _check_bytes(self, who: str) -> None:
        if abs(self.tx_count) > MAX_COUNT:
            raise BarrierError(
                f"{who} brings the transaction count of {self.name} to {self.tx_count}: "
                f"it holds {-MAX_COUNT} to {MAX_COUNT}"
            )

    def _complete_if_due(self) -> None:
        if self.pending or self.tx_count:
            return
        self.completed_at = self._latest
        text = f"phase {self.phase} (parity {self.parity}) completed"
        self.log(self.completed_at, "", text)
        self.phase += 1
        self.pending = self.expected
        self.announced = 0
        self.released_clock, self._joined = joined((self.released_clock, self._joined)), {}
