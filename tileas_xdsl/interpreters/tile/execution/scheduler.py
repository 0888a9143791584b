"""A deterministic scheduler of agents and engines, with a policy that chooses who runs next.

A process is a generator that yields `Wait`s.  The scheduler resumes one process at a time, until
its next wait; the policy chooses among those whose wait is over.  Each process has a virtual clock:
a wait ends no earlier than the event it waited for.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from dataclasses import field
from typing import Any, TypeAlias

from xdsl.ir import Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import note
from tileas_xdsl.diagnostics.report import Diagnostic
from tileas_xdsl.interpreters.tile.faults import SimulationError, fault
from tileas_xdsl.interpreters.tile.synchronization.mbarrier import MBarrier
from tileas_xdsl.interpreters.tile.synchronization.vector_clocks import Clock


@dataclass
class Wait:
    """A wait of a process until `ready()`; `why` completes the sentence "waits for ..."."""

    ready: Callable[[], bool]
    why: str
    op: Operation | None = None
    barrier: MBarrier | None = None
    ready_time: Callable[[], int] = lambda: 0
    """The virtual time at which it became ready."""
    stage: int | None = None
    """The pipeline stage that is waited for."""
    joins: bool = False
    """Whether it only waits for other processes to end, which are diagnosed themselves."""
    observed: Callable[[], object] | None = None
    """For polling loops: the polled state.  They run when nothing else can, so nothing starves."""


MAX_UNCHANGED_POLLS = 500
"""Polls without a change, of every process that can only poll, after which it is a deadlock."""

Steps: TypeAlias = Generator[Wait, None, Any]
"""A process: a generator that yields waits and returns its result."""


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
    """The turn of its last run."""
    seen: dict[Operation | None, object] = field(default_factory=dict)
    """The last observed state by polling operation."""
    unchanged_polls: int = 0
    """Consecutive polls that observed the same state."""
    on_wait: Callable[[Wait, int, int], None] | None = None
    """Called for every wait that took time, with the wait, its begin and its end."""
    clock: Clock = field(init=False)

    def __post_init__(self) -> None:
        self.clock = Clock(self.name)

    @property
    def runnable(self) -> bool:
        """Whether it can run now."""
        return not self.done and (self.wait is None or self.wait.ready())

    def run(self) -> None:
        """Run to the next wait or to the end."""
        if self.wait is not None:
            self._count_unchanged(self.wait)
            began, self.time = self.time, max(self.time, self.wait.ready_time())
            if self.on_wait is not None and self.time > began:
                self.on_wait(self.wait, began, self.time)
        try:
            self.wait = next(self.steps)
        except StopIteration as end:
            self.result, self.done, self.wait = end.value, True, None

    def _count_unchanged(self, wait: Wait) -> None:
        """Count consecutive polls that observe the same state."""
        if wait.observed is None:
            self.unchanged_polls = 0
            return
        seen = wait.observed()
        self.unchanged_polls = self.unchanged_polls + 1 if seen == self.seen.get(wait.op) else 0
        self.seen[wait.op] = seen


class Policy(ABC):
    """Chooses the next process, and the task in flight that an engine completes first."""

    @abstractmethod
    def choose(self, runnable: Sequence[Process]) -> Process:
        """Return one of the runnable processes."""

    @abstractmethod
    def pick(self, count: int) -> int:
        """Return an index of `count` tasks, oldest first."""

    def choose_polling(self, polling: Sequence[Process]) -> Process:
        """Return one of the polling processes; each gets its turn."""
        return min(polling, key=lambda process: process.last_run)


class RoundRobin(Policy):
    """The process that has waited longest; tasks complete in the order of issue."""

    def choose(self, runnable: Sequence[Process]) -> Process:
        return min(runnable, key=lambda process: process.last_run)

    def pick(self, count: int) -> int:
        return 0


class SeededRandom(Policy):
    """A random process and task, deterministic for a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def choose(self, runnable: Sequence[Process]) -> Process:
        return runnable[self._random.randrange(len(runnable))]

    def pick(self, count: int) -> int:
        return self._random.randrange(count)


class Adversarial(Policy):
    """The order that exposes missing synchronisation: the last process again, engines last.

    Producers and consumers run ahead as far as they can, and tasks in flight complete as late as
    possible, the newest first.
    """

    def choose(self, runnable: Sequence[Process]) -> Process:
        return max(runnable, key=lambda process: (not process.daemon, process.last_run))

    def pick(self, count: int) -> int:
        return count - 1


class Scheduler:
    """Runs processes to their end, or reports a deadlock."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.processes: list[Process] = []
        self.turn = 0

    def add(self, name: str, steps: Steps, *, daemon: bool = False, time: int = 0) -> Process:
        """Add a process; it starts when it is first chosen."""
        process = Process(name, steps, daemon, time)
        self.processes.append(process)
        return process

    def remove(self, leaving: Sequence[Process]) -> None:
        """Remove processes that have ended or whose block has."""
        removed = {id(process) for process in leaving}
        self.processes = [process for process in self.processes if id(process) not in removed]

    def run(self) -> None:
        """Run until every process that is no daemon has ended; raises a fault on deadlock."""
        while any(not process.done and not process.daemon for process in self.processes):
            self._turn()
        while any(process.runnable for process in self.processes):
            self._turn()

    def _turn(self) -> None:
        runnable, polling = self._ready()
        if not runnable and all(
            process.unchanged_polls >= MAX_UNCHANGED_POLLS for process in polling
        ):
            raise self.deadlock()
        process = self.policy.choose(runnable) if runnable else self.policy.choose_polling(polling)
        process.last_run = self.turn
        self.turn += 1
        process.run()

    def _ready(self) -> tuple[list[Process], list[Process]]:
        """Return the runnable processes and those that could only poll."""
        runnable: list[Process] = []
        polling: list[Process] = []
        for process in self.processes:
            wait = process.wait
            if wait is None:
                if not process.done:
                    runnable.append(process)
            elif wait.ready():
                (runnable if wait.observed is None else polling).append(process)
        return runnable, polling

    def deadlock(self) -> SimulationError:
        """Return the diagnosis of a deadlock: every blocked process and the state of its
        barrier."""
        stuck = [p for p in self.processes if not p.done and not p.daemon and p.wait is not None]
        # A parent that joins its agents is stuck because they are; the agents are the cause.
        blocked = [p for p in stuck if p.wait is not None and not p.wait.joins] or stuck
        first = blocked[0].wait if blocked else None
        names = ", ".join(process.name for process in blocked)
        verb = "waits" if len(blocked) == 1 else "wait"
        reported: set[int] = set()
        notes = [line for process in blocked for line in _wait_trace(process, reported)]
        return fault(
            None if first is None else first.op, f"deadlock: {names} {verb} forever", notes=notes
        )


def _wait_trace(process: Process, reported: set[int]) -> list[Diagnostic]:
    """Return what a process waits for, and once for each barrier its event trace."""
    wait = process.wait
    assert wait is not None
    where = note(wait.op, f"{process.name} waits for {wait.why}")
    barrier = wait.barrier
    if barrier is None or id(barrier) in reported:
        return [where]
    reported.add(id(barrier))
    missing = f"{barrier.name} misses {barrier.missing() or 'nothing'}"
    return [where, *[note(wait.op, line) for line in (missing, *barrier.event_trace())]]
