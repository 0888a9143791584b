"""Find the schedule of least initiation interval: linear search from the bound, by a solver."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from enum import StrEnum
from itertools import islice

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.scheduling.problem import (
    Problem,
    Solution,
    intervals,
    min_interval,
    serial_length,
)
from tileas_xdsl.scheduling.solvers.branch_and_bound import best_starts
from tileas_xdsl.scheduling.solvers.cp_sat import cp_sat_starts
from tileas_xdsl.scheduling.solvers.found import IntervalResult
from tileas_xdsl.scheduling.solvers.late_sources import with_late_sources
from tileas_xdsl.scheduling.solvers.list_scheduling import list_starts

MAX_INTERVALS = 64
"""Intervals that are searched one by one, before those that are surely long enough."""

MAX_PROBES = 16_000
"""Starts that branch and bound tries for one loop, at all intervals together: about 0.1 s."""

MAX_TASKS, LARGE_SHARE = 10, 8
"""Of a loop of more tasks than this, each interval gets this part of the probes that are left."""

REMEMBERED = 256
"""Solved problems that are kept, of which the least recently used goes first."""


class SolverName(StrEnum):
    """Who searches starts at one interval."""

    OWN = "own"
    """Branch and bound up to ten tasks, else list scheduling."""
    LIST = "list"
    """List scheduling: the first schedule that it finds."""
    CP_SAT = "cp-sat"
    """OR-Tools CP-SAT, the extra `schedule`."""


@dataclass(frozen=True)
class SearchOptions:
    """How to search; `quantum` and `step` in cycles."""

    solver: SolverName = SolverName.OWN
    quantum: int = 1
    """Starts are multiples of this, where a window has any; CP-SAT needs none."""
    step: int = 1
    """From one interval to the next."""
    ii: int | None = None
    """The only interval that is tried, where it is given."""
    cap: int | None = None
    """The greatest interval that is tried."""
    probes: int = MAX_PROBES
    """Starts that branch and bound tries, at all intervals together."""

    @property
    def is_exact(self) -> bool:
        """Whether a complete search leaves out no starts."""
        return self.quantum == 1 or self.solver is SolverName.CP_SAT


def find_schedule(problem: Problem, options: SearchOptions | None = None) -> Solution | None:
    """Return a schedule of the least interval that a solver finds, or None up to the cap."""
    options = options or SearchOptions()
    if not problem.tasks:
        return None
    solver = _Solver(options.solver, options.quantum, options.probes)
    is_optimal = options.is_exact
    for ii in _intervals(problem, options):
        found = solver.starts(problem, ii)
        if found.starts is not None:
            solution = Solution(ii, found.starts, is_optimal or ii == min_interval(problem))
            return with_late_sources(problem, solution)
        is_optimal = is_optimal and found.is_complete
    return None


def _intervals(problem: Problem, options: SearchOptions) -> Iterator[int]:
    """Those of a linear search, and at last one that has time for a task after another."""
    if options.ii is not None:
        yield options.ii
        return
    yield from islice(intervals(problem, options.step, options.cap), MAX_INTERVALS)
    if options.cap is None:
        yield from islice(intervals(problem, serial_length(problem), None), 1, 3)


class _Solver:
    """A solver with the probes that are left to it for all intervals together."""

    def __init__(self, name: SolverName, quantum: int, probes: int) -> None:
        self.name, self.quantum, self.probes = name, quantum, probes

    def starts(self, problem: Problem, ii: int) -> IntervalResult:
        """Return the best starts at an interval."""
        if self.name is SolverName.CP_SAT:
            return cp_sat_starts(problem, ii)
        if self.name is SolverName.LIST:
            return IntervalResult(list_starts(problem, ii, self.quantum), is_complete=False)
        allowed = self.probes if len(problem.tasks) <= MAX_TASKS else self.probes // LARGE_SHARE
        found = best_starts(problem, ii, self.quantum, allowed)
        self.probes -= found.probes
        if found.starts is not None or found.is_complete:
            return found
        return IntervalResult(list_starts(problem, ii, self.quantum), is_complete=False)


_known: OrderedDict[tuple[str, SearchOptions], Solution | None] = OrderedDict()


def cached_schedule(problem: Problem, options: SearchOptions) -> Solution | None:
    """Return what `find_schedule` returns, from memory where the problem was solved before."""
    key = (repr(problem), options)
    if key not in _known:
        _known[key] = find_schedule(problem, options)
    _known.move_to_end(key)
    if len(_known) > REMEMBERED:
        _known.popitem(last=False)
    return _known[key]
