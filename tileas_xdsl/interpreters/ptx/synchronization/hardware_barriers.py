"""Hardware barriers: the 16 named barriers of a CTA, and the barrier of a cluster.

Sources: PTX ISA 9.7.13.1 barrier.cta and 9.7.13.3 barrier.cluster.
"""

from __future__ import annotations

from dataclasses import field

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.checking.vector_clocks import ClockSnapshot, joined

NAMED_BARRIERS = 16


@dataclass
class NamedBarrier:
    """One of the barriers 0 to 15 of a CTA; counts threads."""

    number: int
    expected: int = 0
    arrived: int = 0
    generation: int = 0
    snapshot: ClockSnapshot | None = None
    before: dict[int, int] = field(default_factory=dict[int, int])
    """Arrivals of the last generation: by warp, its clock then."""
    now: dict[int, int] = field(default_factory=dict[int, int])
    """Arrivals of this generation."""
    waiting: list[int] = field(default_factory=list[int])
    """Warps (of the cluster) that wait for completion."""
    arrivals: list[str] = field(default_factory=list[str])
    """Names of the warps that have arrived, for diagnostics."""
    votes: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """For `barrier.red`: by arrival, its threads, and those whose predicate is true."""
    result: tuple[int, int] = (0, 0)

    def join(self, snapshot: ClockSnapshot | None) -> None:
        """Join the clocks of an arrival."""
        self.snapshot = joined(self.snapshot, snapshot)

    def reset(self) -> None:
        """Begin the next generation after all threads have arrived."""
        self.generation += 1
        self.result = (sum(n for n, _ in self.votes), sum(yes for _, yes in self.votes))
        self.arrived = self.expected = 0
        self.snapshot = None
        self.before, self.now = self.now, {}
        self.waiting = []
        self.arrivals = []
        self.votes = []


@dataclass
class ClusterBarrier:
    """The barrier of all threads of a cluster; `exited` threads count as arrived."""

    threads: int
    arrived: int = 0
    exited: int = 0
    generation: int = 0
    current: ClockSnapshot | None = None
    ended: ClockSnapshot | None = None
    arrivals: dict[int, int] = field(default_factory=dict[int, int])
    """By warp, the generation it has arrived for but not waited for yet."""
    clocks: dict[int, int] = field(default_factory=dict[int, int])
    """By warp, its clock at its arrival in this phase."""
    ended_clocks: dict[int, int] = field(default_factory=dict[int, int])
    passed: dict[int, int] = field(default_factory=dict[int, int])
    """By warp, the phases that it has waited for."""

    def join(self, snapshot: ClockSnapshot | None) -> None:
        """Join the clocks of an arrival."""
        self.current = joined(self.current, snapshot)

    def try_complete_phase(self) -> bool:
        """Complete the phase if all threads have arrived; return whether it completed."""
        if self.arrived == 0 or self.arrived + self.exited < self.threads:
            return False
        self.arrived = 0
        self.generation += 1
        self.ended, self.current = self.current, None
        self.ended_clocks, self.clocks = self.clocks, {}
        return True
