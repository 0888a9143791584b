"""Engines: asynchronous units beside the agents; tasks complete later, in an order of the policy.

TMA, the bulk store queue, asynchronous copies and the tensor cores are engines.  An engine keeps
its tasks in flight and completes one at a time; an in-order engine completes the oldest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from xdsl.ir import Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.tile.execution.scheduler import (
    Policy,
    Process,
    Scheduler,
    Steps,
    Wait,
)
from tileas_xdsl.interpreters.tile.faults import RuleBroken, located
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Actor
from tileas_xdsl.interpreters.tile.synchronization.vector_clocks import Clock

CHANNELS = 16
"""Vector-clock names of an engine without order, whose tasks are not ordered with one another."""


@dataclass(eq=False)
class Task:
    """A task in flight; `land` performs its effect as an actor."""

    what: str
    land: Callable[[Actor], None]
    issued: int
    """The virtual time of issue."""
    latency: int
    """Cycles until it can complete."""
    busy: int = 0
    """Cycles during which the engine is occupied."""
    snapshot: dict[str, int] = field(default_factory=dict[str, int])
    """The clock of the issuer, which happens before the task."""
    holder: str = ""
    """The agent that issued it."""
    op: Operation | None = None
    ready: Callable[[], bool] | None = None
    """Whether its dependences are done; None if it has none."""
    stage: int | None = None
    begun: int = 0
    ended: int = 0
    on_landing: list[Callable[[Actor], None]] = field(
        default_factory=list["Callable[[Actor], None]"]
    )
    """Called once it has completed."""
    landed: bool = False
    released_clock: dict[str, int] = field(default_factory=dict[str, int])
    """The clock of the engine at completion."""


class Engine:
    """A queue of tasks, served by a process of its own."""

    def __init__(
        self, name: str, policy: Policy, *, in_order: bool = False, title: str = ""
    ) -> None:
        self.name = name
        self.title = title or name
        self.policy = policy
        self.in_order = in_order
        self.in_flight: list[Task] = []
        self.landed = 0
        self.process: Process | None = None
        self.on_landed: Callable[[Engine, Task], None] | None = None
        self.last_end = 0
        """The virtual time at which the last completed task ended."""
        self._free_at = 0

    def start(self, scheduler: Scheduler) -> None:
        """Start the process of the engine."""
        self.process = scheduler.add(self.name, self._serve(), daemon=True)

    def issue(self, task: Task) -> Task:
        """Issue a task."""
        task.begun = max(task.issued, self._free_at)
        task.ended = task.begun + max(task.latency, 1)
        self._free_at = task.begun + task.busy
        self.in_flight.append(task)
        return task

    def _serve(self) -> Steps:
        while True:
            yield Wait(self._has_landable, "work")
            tasks = self._landable()
            task = tasks[0 if self.in_order else self.policy.pick(len(tasks))]
            self.in_flight.remove(task)
            self._land(task)

    def _has_landable(self) -> bool:
        for task in self.in_flight:
            if task.ready is None or task.ready():
                return True
            if self.in_order:
                return False
        return False

    def _landable(self) -> Sequence[Task]:
        in_flight = self.in_flight[:1] if self.in_order else self.in_flight
        return [task for task in in_flight if task.ready is None or task.ready()]

    def _land(self, task: Task) -> None:
        name = self.name if self.in_order else f"{self.name} {self.landed % CHANNELS}"
        self.landed += 1
        clock = Clock(name, dict(task.snapshot))
        clock.known[name] = self.landed
        actor = Actor(name, task.holder, clock, task.op, self.title)
        try:
            task.land(actor)
            task.landed, task.released_clock = True, clock.snapshot()
            self.last_end = max(self.last_end, task.ended)
            for callback in task.on_landing:
                callback(actor)
        except RuleBroken as error:
            raise located(task.op, error) from error
        if self.on_landed is not None:
            self.on_landed(self, task)
