"""Barriers of warps: the 16 named ones of a CTA, and the one of a cluster.

Sources: PTX ISA 9.7.13.1 barrier.cta and 9.7.13.3 barrier.cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tileas_xdsl.interpreters.ptx.checking.vector_clocks import Knowledge

NAMED_BARRIERS = 16


@dataclass
class NamedBarrier:
    """One of the barriers 0 to 15 of a CTA; counts threads."""

    number: int
    expected: int = 0
    arrived: int = 0
    generation: int = 0
    known: Knowledge | None = None
    before: dict[int, int] = field(default_factory=dict[int, int])
    """Who came to the last generation: by warp, its clock then."""
    now: dict[int, int] = field(default_factory=dict[int, int])
    """Who has come to this one."""
    waiting: list[int] = field(default_factory=list[int])
    """Warps (of the cluster) that wait for it to fill."""
    came: list[str] = field(default_factory=list[str])
    """Who has come, as a story tells it."""
    votes: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """For reductions: threads that voted, and how many of them yes."""
    result: tuple[int, int] = (0, 0)

    def hand_on(self, known: Knowledge | None) -> None:
        """What an arrival gives to those who wait."""
        if known is None:
            return
        if self.known is None:
            self.known = known.copy()
        else:
            self.known.join(known)

    def reset(self) -> None:
        """Begin anew after it filled."""
        self.generation += 1
        self.result = (sum(n for n, _ in self.votes), sum(yes for _, yes in self.votes))
        self.arrived = self.expected = 0
        self.known = None
        self.before, self.now = self.now, {}
        self.waiting = []
        self.came = []
        self.votes = []


@dataclass
class ClusterBarrier:
    """The barrier of all threads of a cluster; `exited` threads count as arrived."""

    threads: int
    arrived: int = 0
    exited: int = 0
    generation: int = 0
    current: Knowledge | None = None
    ended: Knowledge | None = None
    came: dict[int, int] = field(default_factory=dict[int, int])
    """By warp, the generation it has arrived for and not waited for yet."""

    def hand_on(self, known: Knowledge | None) -> None:
        """What an arrival gives to those who wait."""
        if known is None:
            return
        if self.current is None:
            self.current = known.copy()
        else:
            self.current.join(known)

    def settle(self) -> bool:
        """End the phase if all threads have come; whether it ended."""
        if self.arrived == 0 or self.arrived + self.exited < self.threads:
            return False
        self.arrived = 0
        self.generation += 1
        self.ended, self.current = self.current, None
        return True
