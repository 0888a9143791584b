"""Vector clocks: which events of which agents are ordered before which.

Every agent and engine counts its own steps.  A synchronisation hands the giver's clock to the
taker; two accesses that neither clock orders are a race.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass
class Clock:
    """What one agent knows: for each agent, how many of its steps happened before now."""

    owner: str
    known: dict[str, int] = field(default_factory=dict[str, int])

    def __post_init__(self) -> None:
        self.known.setdefault(self.owner, 1)

    def tick(self) -> None:
        """Begin a new step of the owner: what follows is not ordered before an earlier snapshot."""
        self.known[self.owner] += 1

    def now(self) -> tuple[str, int]:
        """The step in progress, as others will remember it."""
        return self.owner, self.known[self.owner]

    def snapshot(self) -> dict[str, int]:
        """What the owner knows now, to be handed on."""
        return dict(self.known)

    def learn(self, other: Mapping[str, int]) -> None:
        """Everything that happened before `other` happened before what the owner does next."""
        for agent, step in other.items():
            if step > self.known.get(agent, 0):
                self.known[agent] = step

    def has_seen(self, event: tuple[str, int]) -> bool:
        """Is the event ordered before what the owner does now?"""
        agent, step = event
        return self.known.get(agent, 0) >= step


def joined(snapshots: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The least knowledge that contains all of `snapshots`."""
    result: dict[str, int] = {}
    for snapshot in snapshots:
        for agent, step in snapshot.items():
            result[agent] = max(step, result.get(agent, 0))
    return result
