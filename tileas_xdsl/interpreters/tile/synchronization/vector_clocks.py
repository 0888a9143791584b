"""Vector clocks: the happens-before order of the events of agents and engines.

Every agent and engine counts its own steps.  A release publishes the clock of one, an acquire joins
it into the clock of another; two accesses that neither clock orders are a race:

    producer at step 3 writes, arrives   barrier joins {producer: 3}, the producer ticks to 4
    consumer waits, reads                its clock {producer: 3, consumer: 1}: the write is before
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from tileas_xdsl.data_classes import dataclass


@dataclass
class Clock:
    """The clock of one agent: by agent, the number of its steps that happened before now."""

    owner: str
    known: dict[str, int] = field(default_factory=dict[str, int])
    fenced: dict[str, int] = field(default_factory=dict[str, int])
    """What a fence has released: relaxed writes after it publish it."""
    observed: dict[str, int] = field(default_factory=dict[str, int])
    """What relaxed reads saw published: a fence after them acquires it."""

    def __post_init__(self) -> None:
        self.known.setdefault(self.owner, 1)

    def tick(self) -> None:
        """Begin a new step of the owner, which earlier snapshots do not include."""
        self.known[self.owner] += 1

    def now(self) -> tuple[str, int]:
        """Return the current step, the stamp of an access."""
        return self.owner, self.known[self.owner]

    def snapshot(self) -> dict[str, int]:
        """Return a copy of the clock, for a release."""
        return dict(self.known)

    def join(self, other: Mapping[str, int]) -> None:
        """Acquire a released clock: what happened before it happens before the next step."""
        for agent, step in other.items():
            if step > self.known.get(agent, 0):
                self.known[agent] = step

    def fence(self, *, acquires: bool, releases: bool) -> None:
        """Order relaxed accesses on one side of a fence with all accesses on the other."""
        if acquires:
            self.join(self.observed)
        if releases:
            self.fenced = self.snapshot()
            self.tick()

    def observe(self, published: Mapping[str, int]) -> None:
        """Note what a relaxed read saw published."""
        self.observed = joined((self.observed, published))

    def happens_after(self, event: tuple[str, int]) -> bool:
        """Return whether the current step happens after an event."""
        agent, step = event
        return self.known.get(agent, 0) >= step


def joined(snapshots: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the element-wise maximum of clocks."""
    result: dict[str, int] = {}
    for snapshot in snapshots:
        for agent, step in snapshot.items():
            result[agent] = max(step, result.get(agent, 0))
    return result
