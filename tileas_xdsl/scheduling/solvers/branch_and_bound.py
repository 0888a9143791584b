"""Branch and bound over starts at one initiation interval, for loops of few tasks.

Tasks are placed in the order of their least starts, each at every start of its window that is a
multiple of the quantum and free on its units; tasks that wait for nothing, as loads do, come last
and take the latest start.  The search ends with the best schedule, or behind a number of probes, so
that it is deterministic and short.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from tileas_xdsl.scheduling.problem import Problem
from tileas_xdsl.scheduling.solvers.found import IntervalResult
from tileas_xdsl.scheduling.solvers.reservation_table import ReservationTable
from tileas_xdsl.scheduling.solvers.windows import Windows, multiples

Cost: TypeAlias = tuple[int, int, int]
"""Stages from the first task on that waits for another, cycles of lifetimes by weight, sum of
starts; compared in this order."""

PROBES_FOR_BETTER = 4_000
"""Starts that are tried for a better schedule of the same interval, once there is one."""


def best_starts(problem: Problem, ii: int, quantum: int, probes: int) -> IntervalResult:
    """Search the best schedule of a problem at one interval, with at most so many probes."""
    windows = Windows.of(problem, ii)
    if windows is None:
        return IntervalResult(None, is_complete=True)
    left = probes
    for periods in (1, len(problem.tasks)):
        search = _Search(problem, ii, quantum, windows, left)
        search.descend(0, periods)
        left = search.probes
        if search.best is not None:
            return IntervalResult(search.best[1], is_complete=True, probes=probes - left)
    return IntervalResult(None, left > 0, max(probes - left, 0))


class _Search:
    def __init__(
        self, problem: Problem, ii: int, quantum: int, windows: Windows, probes: int
    ) -> None:
        self.problem, self.ii, self.quantum, self.windows = problem, ii, quantum, windows
        self.probes = probes
        self.table = ReservationTable(problem, ii)
        self.placed: dict[int, int] = {}
        self.best: tuple[Cost, tuple[int, ...]] | None = None
        tasks = range(len(problem.tasks))
        self.sources = problem.sources
        self.order = sorted(tasks, key=lambda t: (t in self.sources, windows.least[t], t))

    def descend(self, depth: int, periods: int) -> None:
        """Place the tasks from `depth` of the order on in every way that may be better."""
        if depth == len(self.order):
            self._note()
            return
        task = self.order[depth]
        window = self.windows.of_task(task, self.placed, periods)
        is_greedy = task in self.sources and periods == 1
        for start in multiples(window, 1 if is_greedy else self.quantum):
            if self.probes <= 0:
                return
            if self._is_worse(task, start):
                continue
            self.probes -= 1
            rows = self.table.fits(task, start)
            if rows is None or self._is_apart(task, start):
                continue
            self.table.reserve(rows)
            self.placed[task] = start
            self.descend(depth + 1, periods)
            del self.placed[task]
            self.table.release(rows)
            if is_greedy:
                return

    def _is_apart(self, task: int, start: int) -> bool:
        """Whether a placed task of the same group is in another stage."""
        stage = start // self.ii
        return any(
            self.placed.get(other, start) // self.ii != stage
            for group in self.problem.same_stage
            if task in group
            for other in group
        )

    def _is_worse(self, task: int, start: int) -> bool:
        """Whether a start alone takes more stages than the best schedule has."""
        if self.best is None:
            return False
        inner = [at for other, at in self.placed.items() if other not in self.sources]
        first = min([*inner, start])
        return task not in self.sources and (start - first) // self.ii > self.best[0][0]

    def _note(self) -> None:
        first = min(self.placed.values()) if self.problem.is_relative else 0
        starts = tuple(self.placed[task] - first for task in range(len(self.order)))
        cost = _cost_of(self.problem, self.ii, starts)
        if self.best is None:
            self.probes = min(self.probes, PROBES_FOR_BETTER)
        if self.best is None or cost < self.best[0]:
            self.best = (cost, starts)


def _cost_of(problem: Problem, ii: int, starts: Sequence[int]) -> Cost:
    """Return the cost of a schedule: fewest stages first, then register lifetimes."""
    lifetimes = sum(
        edge.weight * (starts[edge.target] + ii * edge.distance - starts[edge.source])
        for edge in problem.dependences
    )
    sources = problem.sources
    inner = [start for task, start in enumerate(starts) if task not in sources] or [*starts]
    first = min(inner, default=0)
    stages = max(((start - first) // ii for start in inner), default=0)
    return stages, lifetimes, sum(start - first for start in inner)
