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

from tileas_xdsl.interpreters.tile.clocks import Clock
from tileas_xdsl.interpreters.tile.faults import SimulationError, fault
from tileas_xdsl.interpreters.tile.mbarrier import MBarrier


@dataclass
class Wait:
    """Why a process cannot go on: until `ready()`; `why` completes "waits for ..."."""

    ready: Callable[[], bool]
    why: str
    op: Operation | None = None
    barrier: MBarrier | None = None
    ready_time: Callable[[], int] = lambda: 0
    """The virtual time at which it became ready."""


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
            self.time = max(self.time, self.wait.ready_time())
        try:
            self.wait = next(self.steps)
        except StopIteration as end:
            self.result, self.done, self.wait = end.value, True, None


class Policy(ABC):
    """Who runs next, and which of several things in flight an engine finishes first."""

    @abstractmethod
    def choose(self, runnable: Sequence[Process]) -> Process:
        """One of the processes that can go on."""

    @abstractmethod
    def pick(self, count: int) -> int:
        """One of `count` things, oldest first."""


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

    def add(self, name: str, steps: Steps, *, daemon: bool = False) -> Process:
        """A new process; it starts when it is first chosen."""
        process = Process(name, steps, daemon)
        self.processes.append(process)
        return process

    def run(self) -> None:
        """Run until every process that is no daemon has ended; raises a fault on deadlock."""
        while any(not process.done and not process.daemon for process in self.processes):
            self._turn()
        while any(process.runnable for process in self.processes):
            self._turn()

    def _turn(self) -> None:
        runnable = [process for process in self.processes if process.runnable]
        if not runnable:
            raise self.deadlock()
        process = self.policy.choose(runnable)
        process.last_run = self.turn
        self.turn += 1
        process.run()

    def deadlock(self) -> SimulationError:
        """The story of a run that cannot go on: who waits for what, and what is missing."""
        blocked = [p for p in self.processes if not p.done and not p.daemon and p.wait is not None]
        lines = [line for process in blocked for line in _story(process)]
        first = blocked[0].wait if blocked else None
        names = ", ".join(process.name for process in blocked)
        return fault(None if first is None else first.op, f"deadlock: {names} wait forever", lines)


def _story(process: Process) -> list[str]:
    wait = process.wait
    assert wait is not None
    lines = [f"{process.name} waits for {wait.why}"]
    if wait.barrier is not None:
        missing = wait.barrier.missing() or "nothing"
        lines.append(f"{wait.barrier.name} misses {missing} in phase {wait.barrier.phase}")
        lines.extend(f"{wait.barrier.name} {event}" for event in wait.barrier.events)
    return lines
