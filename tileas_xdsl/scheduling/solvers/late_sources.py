"""Post-pass: start tasks without predecessors, such as loads, as late as possible."""

from __future__ import annotations

from tileas_xdsl.scheduling.problem import Problem, Solution
from tileas_xdsl.scheduling.solvers.reservation_table import ReservationTable
from tileas_xdsl.scheduling.solvers.windows import Windows


def with_late_sources(problem: Problem, solution: Solution) -> Solution:
    """Return the schedule with its sources at their latest starts, beginning at 0."""
    windows = Windows.of(problem, solution.ii)
    assert windows is not None
    table, rows = ReservationTable(problem, solution.ii), dict[int, dict[str, int]]()
    starts = dict(enumerate(solution.starts))
    for task, start in starts.items():
        held = table.fits(task, start)
        assert held is not None
        rows[task] = held
        table.reserve(held)
    grouped = {task for group in problem.same_stage for task in group}
    for task in sorted(problem.sources - grouped, key=lambda task: -starts[task]):
        table.release(rows[task])
        others = {other: start for other, start in starts.items() if other != task}
        window = windows.of_task(task, others)
        latest = max(window[0], window[-1]) if window else starts[task]
        later = range(latest, starts[task], -1)
        starts[task] = next((s for s in later if table.fits(task, s) is not None), starts[task])
        held = table.fits(task, starts[task])
        assert held is not None
        table.reserve(held)
    first = min(starts.values()) if problem.is_relative else 0
    return Solution(
        solution.ii, [starts[task] - first for task in sorted(starts)], solution.is_optimal
    )
