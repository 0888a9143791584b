"""Start windows: bounds on a task's start, given dependences on placed tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.scheduling.problem import Distances, Problem, longest_paths


class Windows:
    """Least and greatest starts at an initiation interval, by longest paths of dependences."""

    def __init__(self, problem: Problem, ii: int, paths: Distances) -> None:
        own = problem.windows(ii)
        count = len(problem.tasks)
        self.paths, self.ii, self.is_relative = paths, ii, problem.is_relative
        self.least = [_least(own, paths, task) for task in range(count)]
        self.greatest = [_greatest(own, paths, task) for task in range(count)]

    @staticmethod
    def of(problem: Problem, ii: int) -> Windows | None:
        """Return the windows at an interval; None if dependences alone leave no schedule."""
        paths = longest_paths(problem, ii)
        found = None if paths is None else Windows(problem, ii, paths)
        return found if found is not None and found.are_open else None

    @property
    def are_open(self) -> bool:
        """Whether each task has a start."""
        pairs = zip(self.least, self.greatest, strict=True)
        return all(high is None or low <= high for low, high in pairs)

    def of_task(self, task: int, placed: Mapping[int, int], periods: int = 1) -> range:
        """The starts of a task beside placed ones: those of some periods, where one side is open.

        Starts a period apart hold the same cycles of all units, and the nearest to the placed tasks
        is the best for them; a farther one may leave more to a task that is placed later.  As many
        periods as there are tasks leave nothing out.  In a relative problem, starts may be
        negative, the first task's is 0, and those before the placed tasks come the latest first.
        """
        low, high = self._bounds(task, placed)
        length = periods * self.ii if placed or not self.is_relative else 1
        if low is None and high is not None:
            return range(high, high - length, -1)
        low = low or 0
        end = low + length - 1
        return range(low, (end if high is None else min(high, end)) + 1)

    def _bounds(self, task: int, placed: Mapping[int, int]) -> tuple[int | None, int | None]:
        low = None if self.is_relative else self.least[task]
        high = self.greatest[task]
        for other, start in placed.items():
            after, before = self.paths[other][task], self.paths[task][other]
            if after is not None:
                low = start + after if low is None else max(low, start + after)
            if before is not None:
                high = start - before if high is None else min(high, start - before)
        return low, high


Bounds = Sequence[tuple[int, int | None]]


def _least(own: Bounds, paths: Distances, task: int) -> int:
    sources = ((source, row[task]) for source, row in enumerate(paths))
    return max([own[task][0], *(own[s][0] + d for s, d in sources if d is not None)])


def _greatest(own: Bounds, paths: Distances, task: int) -> int | None:
    ends = [own[task][1]]
    for target, length in enumerate(paths[task]):
        last = own[target][1]
        ends += [] if last is None or length is None else [last - length]
    return min((end for end in ends if end is not None), default=None)


def multiples(window: range, quantum: int) -> range:
    """The multiples of the quantum in a window, in its direction; its first start if it has none.

    A pinned start need be no multiple.
    """
    if window.step > 0:
        found = range(align_up(window.start, quantum), window.stop, quantum)
    else:
        found = range(window.start // quantum * quantum, window.stop, -quantum)
    return found or window[:1]
