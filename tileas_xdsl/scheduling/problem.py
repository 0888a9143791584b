"""The modulo scheduling problem, free of IR: tasks, dependences, exclusive units.

A task of the loop starts at cycle `s` of its own iteration; iteration i starts at `i * ii`.

    s[v] + ii * distance >= s[u] + latency      for each dependence from u to v
    [s + offset, s + offset + cycles) mod ii    of all reservations of an exclusive unit are apart

Replicas of a role run the same schedule, shifted by `ii / replicas`, so what they hold of a unit
that they share is apart if and only if one replica's part is apart modulo `ii / replicas`: a
problem states one replica, and by unit how many share it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.integers import align_up


@dataclass(frozen=True, slots=True)
class Reservation:
    """A task holds a unit for some cycles, beginning `offset` after its start."""

    unit: str
    cycles: int
    offset: int = 0
    exclusive: bool = True
    """Whether nobody else has the unit meanwhile; else only the sum of all cycles is bounded."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is scheduled as one: a macro operation of a loop body."""

    name: str
    reservations: tuple[Reservation, ...] = ()
    earliest: int = 0
    """The least start, in cycles."""
    latest: int | None = None
    """The greatest start, in cycles."""
    min_stage: int = 0
    latest_stage: int | None = None
    """The greatest `start div ii`; None without a bound."""


@dataclass(frozen=True, slots=True)
class Dependence:
    """`target` of an iteration starts `latency` after `source` of `distance` iterations before."""

    source: int
    target: int
    latency: int
    distance: int = 0
    weight: int = 0
    """What a cycle of the value's lifetime costs: its registers."""


@dataclass(frozen=True)
class Problem:
    """Tasks in program order, what orders them, and how many replicas share each unit."""

    tasks: Sequence[Task]
    dependences: Sequence[Dependence]
    shared_by: Mapping[str, int] = field(default_factory=dict[str, int])
    """By unit: the replicas that share it; 1 where it is absent."""
    same_stage: Sequence[Sequence[int]] = ()
    """Groups of tasks that have one `start div ii`."""

    def period(self, unit: str, ii: int) -> int:
        """The cycles after which reservations of a unit repeat at an initiation interval."""
        return ii // self.shared_by.get(unit, 1)

    def demands(self) -> Mapping[str, int]:
        """By unit: the cycles that one iteration of all replicas needs of it."""
        found: defaultdict[str, int] = defaultdict(int)
        for task in self.tasks:
            for one in task.reservations:
                found[one.unit] += one.cycles * self.shared_by.get(one.unit, 1)
        return dict(found)

    @property
    def sources(self) -> frozenset[int]:
        """The tasks that wait for no other one in their iteration, but that others wait for."""
        plain = [edge for edge in self.dependences if edge.distance == 0]
        return frozenset(edge.source for edge in plain) - {edge.target for edge in plain}

    @property
    def is_relative(self) -> bool:
        """Whether a schedule stays right when all its starts are shifted: no task has a window."""
        return not self.same_stage and not any(
            task.earliest or task.min_stage or _window(task, 1)[1] is not None
            for task in self.tasks
        )

    def windows(self, ii: int) -> Sequence[tuple[int, int | None]]:
        """By task: the least and the greatest start that the task itself allows."""
        return [_window(task, ii) for task in self.tasks]


def _window(task: Task, ii: int) -> tuple[int, int | None]:
    ends = [] if task.latest is None else [task.latest]
    ends += [] if task.latest_stage is None else [(task.latest_stage + 1) * ii - 1]
    return max(task.earliest, task.min_stage * ii), min(ends, default=None)


@dataclass(frozen=True)
class Solution:
    """Starts of all tasks at an initiation interval."""

    ii: int
    starts: Sequence[int]
    is_optimal: bool = False
    """Whether no smaller interval has a schedule: its search was complete, or it is the bound."""

    @property
    def stages(self) -> int:
        """How many iterations are under way at once."""
        return max((start // self.ii for start in self.starts), default=0) + 1


def resource_bound(problem: Problem) -> int:
    """ResMII: the cycles of the busiest unit; none of its reservations may overlap itself."""
    alone = (
        one.cycles * problem.shared_by.get(one.unit, 1)
        for task in problem.tasks
        for one in task.reservations
        if one.exclusive
    )
    return max([1, *problem.demands().values(), *alone])


def recurrence_bound(problem: Problem) -> int:
    """RecMII: the least interval at which no cycle of dependences waits for itself.

    Raises `ValueError` for a cycle without distance, which no interval helps.
    """
    low, high = 1, 1 + sum(max(edge.latency, 0) for edge in problem.dependences)
    if longest_paths(problem, high) is None:
        raise ValueError("a cycle of dependences within one iteration")
    while low < high:
        middle = (low + high) // 2
        if longest_paths(problem, middle) is None:
            low = middle + 1
        else:
            high = middle
    return low


Distances = Sequence[Sequence[int | None]]
"""By source and target: the least cycles between their starts; None if nothing orders them."""


def longest_paths(problem: Problem, ii: int) -> Distances | None:
    """Longest paths of `latency - ii * distance` between tasks; None if one is a positive cycle.

    Floyd and Warshall's algorithm for (max, +); parallel edges count by the longest.
    """
    count = len(problem.tasks)
    paths: list[list[int | None]] = [[None] * count for _ in range(count)]
    for edge in problem.dependences:
        length = edge.latency - ii * edge.distance
        known = paths[edge.source][edge.target]
        paths[edge.source][edge.target] = length if known is None else max(known, length)
    for middle in range(count):
        _extend(paths, middle)
        if any((paths[i][i] or 0) > 0 for i in range(count)):
            return None
    return paths


def _extend(paths: list[list[int | None]], middle: int) -> None:
    onward = [(target, d) for target, d in enumerate(paths[middle]) if d is not None]
    for row in paths:
        first = row[middle]
        if first is None:
            continue
        for target, second in onward:
            known = row[target]
            if known is None or first + second > known:
                row[target] = first + second


def min_interval(problem: Problem) -> int:
    """MII: the greatest of both bounds."""
    return max(resource_bound(problem), recurrence_bound(problem))


def intervals(problem: Problem, step: int, cap: int | None) -> Iterator[int]:
    """The intervals to try: from the bound up by `step`, multiples of every number of replicas."""
    multiple = 1
    for count in problem.shared_by.values():
        multiple = multiple if multiple % count == 0 else multiple * count
    first = min_interval(problem)
    last = cap if cap is not None else 2 * first + serial_length(problem)
    begin = align_up(first, multiple)
    stride = align_up(step, multiple)
    yield from range(begin, max(last, begin) + 1, stride)


def serial_length(problem: Problem) -> int:
    """The cycles of one iteration when every task waits for the one before: always enough."""
    return sum(_length(problem, task) for task in range(len(problem.tasks)))


def _length(problem: Problem, task: int) -> int:
    held = [one.offset + one.cycles for one in problem.tasks[task].reservations]
    waits = [edge.latency for edge in problem.dependences if edge.source == task]
    return max([1, *held, *waits])
