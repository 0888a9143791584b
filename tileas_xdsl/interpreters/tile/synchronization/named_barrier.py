"""Named barriers: the 16 barriers of a block, on which whole warps synchronise.

`sync` arrives and waits, `arrive` only arrives.  All participants must agree on the number of
threads, a multiple of 32.  Source: PTX ISA, bar and barrier.
"""

from __future__ import annotations

from collections.abc import Mapping

from tileas_xdsl.interpreters.tile.faults import RuleBroken
from tileas_xdsl.interpreters.tile.synchronization.mbarrier import BarrierError
from tileas_xdsl.interpreters.tile.synchronization.vector_clocks import joined
from tileas_xdsl.layout.units import WARP

BARRIERS = 16
"""Named barriers of a block."""


class NamedBarrier:
    """A barrier by id; a generation completes when all expected threads have arrived."""

    def __init__(self, number: int, name: str = "") -> None:
        if not 0 <= number < BARRIERS:
            raise BarrierError(f"named barriers have numbers 0 to {BARRIERS - 1}, not {number}")
        self.name = name or f"barrier {number}"
        self.generation = 0
        """The number of completed generations."""
        self.threads = 0
        """The expected threads of the current generation; 0 before the first arrival."""
        self.arrived = 0
        self.released_clock: dict[str, int] = {}
        self.completed_at = 0
        self._here: dict[str, int] = {}
        self._joined: dict[str, int] = {}
        self._latest = 0

    def arrive(
        self,
        who: str,
        threads: int,
        expected: int,
        time: int = 0,
        snapshot: Mapping[str, int] | None = None,
    ) -> int:
        """Arrive with `threads` threads of `expected`; return the generation."""
        self._check(who, threads, expected)
        self.threads = expected
        self.arrived += threads
        self._here[who] = self._here.get(who, 0) + threads
        self._latest = max(self._latest, time)
        self._joined = joined((self._joined, snapshot or {}))
        number = self.generation
        if self.arrived == expected:
            self._complete()
        return number

    def passed(self, number: int) -> bool:
        """Return whether a generation has completed."""
        return self.generation > number

    def missing(self) -> str:
        """Return what the current generation waits for, in words."""
        come = ", ".join(f"{who} ({threads})" for who, threads in self._here.items()) or "nobody"
        return f"{self.threads - self.arrived} of {self.threads} threads; here: {come}"

    def _check(self, who: str, threads: int, expected: int) -> None:
        for count in (threads, expected):
            if count < WARP or count % WARP:
                raise RuleBroken(f"whole warps meet on {self.name}: {count} threads are none")
        if self.threads and expected != self.threads:
            raise RuleBroken(
                f"{who} meets {expected} threads on {self.name}, others {self.threads}",
                [f"{self.name} waits for {self.missing()}"],
            )
        if self.arrived + threads > expected:
            raise RuleBroken(
                f"{who} brings {self.arrived + threads} threads to {self.name}, where {expected} "
                f"meet"
            )

    def _complete(self) -> None:
        self.generation += 1
        self.completed_at = self._latest
        self.released_clock = joined((self.released_clock, self._joined))
        self.threads = self.arrived = 0
        self._here, self._joined = {}, {}
