"""Engines: hardware that works beside the agents.  What is issued lands later, as policy chooses.

TMA, the bulk store queue and the tensor cores are engines.  An engine keeps what is in flight and
lands one task at a time; where its kind keeps order, only the oldest may land.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tileas_xdsl.interpreters.tile.scheduler import Policy, Process, Scheduler, Steps, Wait


@dataclass
class Task:
    """Work in flight: `land` has its effect and tells whoever waits."""

    what: str
    land: Callable[[], None]
    issued: int
    """The virtual time of issue."""
    latency: int
    """Cycles until it can land."""
    knowledge: dict[str, int] = field(default_factory=dict[str, int])
    """What the issuer knew: the task happens after it."""


class Engine:
    """A queue of tasks served by a process of its own."""

    def __init__(self, name: str, policy: Policy, *, in_order: bool = False) -> None:
        self.name = name
        self.policy = policy
        self.in_order = in_order
        self.in_flight: list[Task] = []
        self.landed = 0
        self.process: Process | None = None

    def start(self, scheduler: Scheduler) -> None:
        """Begin to serve."""
        self.process = scheduler.add(self.name, self._serve(), daemon=True)

    def issue(self, task: Task) -> None:
        """Put work in flight."""
        self.in_flight.append(task)

    def _serve(self) -> Steps:
        while True:
            yield Wait(lambda: bool(self.in_flight), "work", ready_time=self._next_time)
            position = 0 if self.in_order else self.policy.pick(len(self.in_flight))
            self._land(self.in_flight.pop(position))

    def _next_time(self) -> int:
        return min((task.issued for task in self.in_flight), default=0)

    def _land(self, task: Task) -> None:
        assert self.process is not None
        self.process.time = max(self.process.time, task.issued + task.latency)
        self.process.clock.learn(task.knowledge)
        task.land()
        self.process.clock.tick()
        self.landed += 1
