"""One scheduler for agents and engines: deterministic, with a policy that chooses who runs.

A process is a generator that yields `Wait`s.  The scheduler resumes one process at a time, until
its next wait; the policy chooses among those whose wait is over.  Each process has a virtual clock:
a wait ends no earlier than what it waited for.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from xdsl.ir import Operation

from tileas_xdsl.diagnostics.emission import note
from tileas_xdsl.diagnostics.report import Diagnostic
from tileas_xdsl.interpreters.tile.faults import SimulationError, fault
from tileas_xdsl.interpreters.tile.synchronization.mbarrier import MBarrier
from tileas_xdsl.interpreters.tile.synchronization.vector_clocks import Clock


@dataclass
class Wait:
    """Why a process cannot go on: until `ready()`; `why` completes "waits for ..."."""

    ready: Callable[[], bool]
    why: str
    op: Operation | None = None
    barrier: MBarrier | None = None
    ready_time: Callable[[], int] = lambda: 0
    """The virtual time at which it became ready."""
    stage: int | None = None
    """The stage of a pipeline that it is about."""
    joins: bool = False
    """Whether it only waits for others to end, who have their own stories."""
    sight: Callable[[], object] | None = None
    """What is seen by whoever only looks again: it goes on when nobody else can, so that nobody
    starves."""


MAX_LOOKS = 500
"""So often all who can only look see what they saw before, until they are stuck."""

Steps: TypeAlias = Generator[Wait, None, Any]
"""What runs as a process: it yields waits and returns its result."""


@dataclass(eq=False)
class Process:
    """An agent or an engine; a `daemon` serves others and may wait forever."""

    name: str
    steps: Steps
    daemon: bool = False
    time: int = 0
    """Virtual cycles."""
    wait: Wait | None = None
    result: Any = None
    done: bool = False
    last_run: int = -1
    """The turn in which it ran last."""
    seen: dict[Operation | None, object] = field(default_factory=dict)
    """What it saw when it last looked, by the operation that looks."""
    looks: int = 0
    """How often it has seen that, one time after the other."""
    on_wait: Callable[[Wait, int, int], None] | None = None
    """Told of every wait that took time: the wait, when it began and when it ended."""
    clock: Clock = field(init=False)

    def __post_init__(self) -> None:
        self.clock = Clock(self.name)

    @property
    def runnable(self) -> bool:
        """Whether it can go on now."""
        return not self.done and (self.wait is None or self.wait.ready())

    def run(self) -> None:
        """Go on to the next wait, or to the end."""
        if self.wait is not None:
            self._look(self.wait)
            began, self.time = self.time, max(self.time, self.wait.ready_time())
            if self.on_wait is not None and self.time > began:
                self.on_wait(self.wait, began, self.time)
        try:
            self.wait = next(self.steps)
        except StopIteration as end:
            self.result, self.done, self.wait = end.value, True, None

    def _look(self, wait: Wait) -> None:
        """Count how often every look shows what it showed before."""
        if wait.sight is None:
            self.looks = 0
            return
        seen = wait.sight()
        self.looks = self.looks + 1 if seen == self.seen.get(wait.op) else 0
        self.seen[wait.op] = seen


class Policy(ABC):
    """Who runs next, and which of several things in flight an engine finishes first."""

    @abstractmethod
    def choose(self, runnable: Sequence[Process]) -> Process:
        """One of the processes that can go on."""

    @abstractmethod
    def pick(self, count: int) -> int:
        """One of `count` things, oldest first."""

    def look(self, looking: Sequence[Process]) -> Process:
        """One of those that only look again; each has its turn."""
        return min(looking, key=lambda process: process.last_run)


class RoundRobin(Policy):
    """Whoever has waited longest; things finish in the order they were issued."""

    def choose(self, runnable: Sequence[Process]) -> Process:
        return min(runnable, key=lambda process: process.last_run)

    def pick(self, count: int) -> int:
        return 0


class SeededRandom(Policy):
    """Any, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def choose(self, runnable: Sequence[Process]) -> Process:
        return runnable[self._random.randrange(len(runnable))]

    def pick(self, count: int) -> int:
        return self._random.randrange(count)


class Adversarial(Policy):
    """Whoever has the least reason to run: the one that ran last goes on, engines come last.

    Producers and consumers race ahead as far as they can, and what is in flight lands as late as
    possible, the newest first.
    """

    def choose(self, runnable: Sequence[Process]) -> Process:
        return max(runnable, key=lambda process: (not process.daemon, process.last_run))

    def pick(self, count: int) -> int:
        return count - 1


class Scheduler:
    """Runs processes to their end, or says why they cannot end."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.processes: list[Process] = []
        self.turn = 0

    def add(self, name: str, steps: Steps, *, daemon: bool = False, time: int = 0) -> Process:
        """A new process; it starts when it is first chosen."""
        process = Process(name, steps, daemon, time)
        self.processes.append(process)
        return process

    def remove(self, leaving: Sequence[Process]) -> None:
        """Forget processes that have ended, or serve nobody any more."""
        gone = {id(process) for process in leaving}
        self.processes = [process for process in self.processes if id(process) not in gone]

    def run(self) -> None:
        """Run until every process that is no daemon has ended; raises a fault on deadlock."""
        while any(not process.done and not process.daemon for process in self.processes):
            self._turn()
        while any(process.runnable for process in self.processes):
            self._turn()

    def _turn(self) -> None:
        runnable, looking = self._ready()
        if not runnable and all(process.looks >= MAX_LOOKS for process in looking):
            raise self.deadlock()
        process = self.policy.choose(runnable) if runnable else self.policy.look(looking)
        process.last_run = self.turn
        self.turn += 1
        process.run()

    def _ready(self) -> tuple[list[Process], list[Process]]:
        """Who can go on, and who could only look again."""
        runnable: list[Process] = []
        looking: list[Process] = []
        for process in self.processes:
            wait = process.wait
            if wait is None:
                if not process.done:
                    runnable.append(process)
            elif wait.ready():
                (runnable if wait.sight is None else looking).append(process)
        return runnable, looking

    def deadlock(self) -> SimulationError:
        """The story of a run that cannot go on: who waits for what, and what is missing."""
        stuck = [p for p in self.processes if not p.done and not p.daemon and p.wait is not None]
        blocked = [p for p in stuck if p.wait is not None and not p.wait.joins] or stuck
        first = blocked[0].wait if blocked else None
        names = ", ".join(process.name for process in blocked)
        verb = "waits" if len(blocked) == 1 else "wait"
        told: set[int] = set()
        notes = [line for process in blocked for line in _story(process, told)]
        return fault(
            None if first is None else first.op, f"deadlock: {names} {verb} forever", notes=notes
        )


def _story(process: Process, told: set[int]) -> list[Diagnostic]:
    """What a process waits for and where; what became of the barrier, once for each barrier."""
    wait = process.wait
    assert wait is not None
    where = note(wait.op, f"{process.name} waits for {wait.why}")
    barrier = wait.barrier
    if barrier is None or id(barrier) in told:
        return [where]
    told.add(id(barrier))
    missing = f"{barrier.name} misses {barrier.missing() or 'nothing'}"
    return [where, *[note(wait.op, line) for line in (missing, *barrier.story())]]
