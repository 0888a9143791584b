"""Branch and bound over starts at one initiation interval, for loops of few tasks.

Tasks are placed in the order of their least starts, each at every start of its window that is a
multiple of the quantum and free on its units.  The search ends with the best schedule, or behind a
number of probes, so that it is deterministic and short.
"""

from __future__ import annotations

from tileas_xdsl.scheduling.problem import Problem
from tileas_xdsl.scheduling.solvers.cost import Cost, cost_of
from tileas_xdsl.scheduling.solvers.found import Found
from tileas_xdsl.scheduling.solvers.reservation_table import ReservationTable
from tileas_xdsl.scheduling.solvers.windows import Windows


def best_starts(problem: Problem, ii: int, quantum: int, probes: int) -> Found:
    """Search the best schedule of a problem at one interval, with at most so many probes."""
    windows = Windows.of(problem, ii)
    if windows is None:
        return Found(None, is_complete=True)
    left = probes
    for periods in (1, len(problem.tasks)):
        search = _Search(problem, ii, quantum, windows, left)
        search.descend(0, periods)
        left = search.probes
        if search.best is not None or left <= 0:
            break
    starts = None if search.best is None else search.best[1]
    return Found(starts, left > 0, probes - left)


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
        self.order = sorted(tasks, key=lambda task: (windows.least[task], task))

    def descend(self, depth: int, periods: int) -> None:
        """Place the tasks from `depth` of the order on in every way that may be better."""
        if depth == len(self.order):
            self._note()
            return
        task = self.order[depth]
        window = self.windows.of_task(task, self.placed, periods)
        begin = -(-window.start // self.quantum) * self.quantum
        for start in range(begin, window.stop, self.quantum):
            if self.probes <= 0:
                return
            if self._is_worse(start):
                continue
            self.probes -= 1
            rows = self.table.fits(task, start)
            if rows is None:
                continue
            self.table.place(rows)
            self.placed[task] = start
            self.descend(depth + 1, periods)
            del self.placed[task]
            self.table.remove(rows)

    def _is_worse(self, start: int) -> bool:
        """Whether a start alone takes more stages than the best schedule has."""
        if self.best is None:
            return False
        first = min([*self.placed.values(), start])
        return (start - first) // self.ii > self.best[0][0]

    def _note(self) -> None:
        first = min(self.placed.values()) if self.problem.is_relative else 0
        starts = tuple(self.placed[task] - first for task in range(len(self.order)))
        cost = cost_of(self.problem, self.ii, starts)
        if self.best is None or cost < self.best[0]:
            self.best = (cost, starts)
