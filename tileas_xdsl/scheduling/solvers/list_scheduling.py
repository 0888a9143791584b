"""Iterative modulo scheduling at one initiation interval, for loops of any size.

Source: Rau, "Iterative modulo scheduling", MICRO-27, 1994. Tasks are placed in order of height, the
longest path to the end. A task goes to the first start of its window [earliest, earliest + II) at
which its units are free modulo II. Where none is free it is placed anyway, at its earliest start or
one after the last try, and the tasks in conflict are evicted and placed again; a budget of
placements ends that.

    II = 4, unit T: load reserves 3 cycles, load' 3 cycles: 6 > 4, no schedule at 4
    II = 6:         load at 0, load' at 3, mma at the earliest start behind both
"""

from __future__ import annotations

from heapq import heappop, heappush

from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.scheduling.problem import Problem
from tileas_xdsl.scheduling.solvers.reservation_table import ReservationTable
from tileas_xdsl.scheduling.solvers.windows import Windows

PLACEMENTS_PER_TASK = 8
"""Rau's budget ratio: placements of a loop over its tasks before an interval is given up."""


def list_starts(problem: Problem, ii: int, quantum: int) -> tuple[int, ...] | None:
    """Return starts of all tasks at an interval, or None where the heuristic finds none."""
    windows = Windows.of(problem, ii)
    if windows is None:
        return None
    return _ListScheduler(problem, ii, quantum, windows).run()


class _ListScheduler:
    def __init__(self, problem: Problem, ii: int, quantum: int, windows: Windows) -> None:
        self.problem, self.ii, self.quantum, self.windows = problem, ii, quantum, windows
        self.table = ReservationTable(problem, ii)
        self.placed: dict[int, int] = {}
        self.rows: dict[int, dict[str, int]] = {}
        self.last: dict[int, int] = {}
        heights = [max([0, *(d for d in row if d is not None)]) for row in windows.paths]
        self.waiting = [(-height, task) for task, height in enumerate(heights)]
        self.waiting.sort()
        self.heights = heights

    def run(self) -> tuple[int, ...] | None:
        """Place all tasks; return None when the budget is exhausted."""
        for _ in range(PLACEMENTS_PER_TASK * len(self.problem.tasks)):
            if not self.waiting:
                break
            _, task = heappop(self.waiting)
            if not self._put(task):
                return None
        if self.waiting or self._is_apart():
            return None
        first = min(self.placed.values()) if self.problem.is_relative else 0
        return tuple(self.placed[task] - first for task in range(len(self.problem.tasks)))

    def _is_apart(self) -> bool:
        """Whether a group of tasks that must share a stage does not."""
        groups = self.problem.same_stage
        return any(len({self.placed[task] // self.ii for task in group}) > 1 for group in groups)

    def _put(self, task: int) -> bool:
        predecessors = {
            other: start
            for other, start in self.placed.items()
            if self.windows.paths[other][task] is not None
        }
        window = self.windows.of_task(task, predecessors)
        begin = align_up(window.start, self.quantum)
        starts = range(begin, begin + self.ii, self.quantum)
        start = next((s for s in starts if self._is_free(task, s)), None)
        if start is None:
            start = max(begin, self.last.get(task, begin - self.quantum) + self.quantum)
            self._evict_holders(task, start)
        greatest = self.windows.greatest[task]
        rows = self.table.fits(task, start)
        if rows is None or (greatest is not None and start > greatest):
            return False
        self._evict_violated(task, start)
        self.table.reserve(rows)
        self.placed[task], self.rows[task], self.last[task] = start, rows, start
        return True

    def _is_free(self, task: int, start: int) -> bool:
        return self.table.fits(task, start) is not None

    def _evict_holders(self, task: int, start: int) -> None:
        """Evict placed tasks, those with the least height first, until a task's units are free."""
        for other in sorted(self.placed, key=lambda one: self.heights[one]):
            if self._is_free(task, start):
                return
            self._remove(other)

    def _evict_violated(self, task: int, start: int) -> None:
        for other in [*self.placed]:
            least, back = self.windows.paths[task][other], self.windows.paths[other][task]
            late = least is not None and self.placed[other] < start + least
            if late or (back is not None and start < self.placed[other] + back):
                self._remove(other)

    def _remove(self, task: int) -> None:
        self.table.release(self.rows.pop(task))
        del self.placed[task]
        heappush(self.waiting, (-self.heights[task], task))
