"""Iterative modulo scheduling at one initiation interval (Rau, MICRO 1994), for loops of any size.

The task with the longest way to the end goes first, to the first free start of its window.  Where
none is free, it takes its earliest start that it has not had, and what is in its way is placed
again; a budget ends that.
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
        """Place all tasks, or give up behind the budget."""
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
        """Whether a group that has to be in one stage is not."""
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
        self.table.place(rows)
        self.placed[task], self.rows[task], self.last[task] = start, rows, start
        return True

    def _is_free(self, task: int, start: int) -> bool:
        return self.table.fits(task, start) is not None

    def _evict_holders(self, task: int, start: int) -> None:
        """Take away placed tasks, the last first, until the units of a task are free."""
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
        self.table.remove(self.rows.pop(task))
        del self.placed[task]
        heappush(self.waiting, (-self.heights[task], task))
