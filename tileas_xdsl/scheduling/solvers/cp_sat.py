"""Starts at one initiation interval by OR-Tools CP-SAT, the extra `schedule`.

    start = period * wraps + row, row in [0, period)        for each unit that a task holds
    no overlap of [row, row + cycles) and the same one period later

One worker and a deterministic time limit, so that the result depends on nothing but the problem.
"""

from __future__ import annotations

from collections import defaultdict
from importlib import import_module
from typing import Any

from tileas_xdsl.scheduling.problem import Problem
from tileas_xdsl.scheduling.solvers.found import IntervalResult
from tileas_xdsl.scheduling.solvers.windows import Windows

TIME_LIMIT = 2.0
"""CP-SAT's deterministic seconds at one interval."""


class MissingSolverError(ImportError):
    """OR-Tools is not installed."""


def cp_sat_starts(problem: Problem, ii: int) -> IntervalResult:
    """Return the best starts at an interval, in cycles; `MissingSolverError` without OR-Tools."""
    try:
        cp_model: Any = import_module("ortools.sat.python.cp_model")
    except ImportError as error:
        advice = "pip install 'tileas-xdsl[schedule]'"
        raise MissingSolverError(f"the solver cp-sat needs OR-Tools: {advice}") from error
    windows = Windows.of(problem, ii)
    if windows is None:
        return IntervalResult(None, is_complete=True)
    model: Any = cp_model.CpModel()
    starts = _starts(model, problem, windows)
    for edge in problem.dependences:
        model.add(starts[edge.target] + ii * edge.distance >= starts[edge.source] + edge.latency)
    for group in problem.same_stage:
        stage = model.new_int_var(0, 1 << 20, "stage")
        for task in group:
            model.add(starts[task] >= ii * stage)
            model.add(starts[task] < ii * (stage + 1))
    _keep_apart(model, problem, ii, starts)
    _minimise(model, problem, ii, starts)
    solver: Any = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = TIME_LIMIT
    status = solver.solve(model)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return IntervalResult(tuple(int(solver.value(start)) for start in starts), is_complete=True)
    return IntervalResult(None, is_complete=status == cp_model.INFEASIBLE)


def _starts(model: Any, problem: Problem, windows: Windows) -> list[Any]:
    """Starts in windows that leave each task a period of its own to move in."""
    end = max(windows.least, default=0) + windows.ii * (len(problem.tasks) + 1)
    pairs = zip(windows.least, windows.greatest, strict=True)
    lasts = [(low, end if high is None else min(high, end)) for low, high in pairs]
    return [model.new_int_var(*window, f"start{task}") for task, window in enumerate(lasts)]


def _keep_apart(model: Any, problem: Problem, ii: int, starts: list[Any]) -> None:
    held: defaultdict[str, list[Any]] = defaultdict(list)
    for task, start in zip(problem.tasks, starts, strict=True):
        for index, one in enumerate(task.reservations):
            if not one.exclusive or one.cycles <= 0:
                continue
            period = problem.period(one.unit, ii)
            if one.cycles > period:
                model.add_bool_or([])
                return
            name = f"{task.name}.{one.unit}.{index}"
            row = model.new_int_var(0, period - 1, f"{name}.row")
            wraps = model.new_int_var(-1, 1 << 20, f"{name}.wraps")
            model.add(start + one.offset == period * wraps + row)
            for shift in (0, period):
                held[one.unit].append(
                    model.new_fixed_size_interval_var(row + shift, one.cycles, f"{name}.{shift}")
                )
    for intervals in held.values():
        model.add_no_overlap(intervals)


def _minimise(model: Any, problem: Problem, ii: int, starts: list[Any]) -> None:
    """Stages first, then lifetimes, then starts, as `cost_of` has them."""
    if not starts:
        return
    horizon = 1 << 24
    end = model.new_int_var(0, horizon, "end")
    first = model.new_int_var(0, horizon, "first")
    model.add_max_equality(end, starts)
    model.add_min_equality(first, starts)
    stages = model.new_int_var(0, horizon, "stages")
    model.add_division_equality(stages, end - first, ii)
    lifetimes = sum(
        edge.weight * (starts[edge.target] - starts[edge.source]) for edge in problem.dependences
    )
    weight = 1 + sum(edge.weight for edge in problem.dependences)
    model.minimize(stages * (weight * ii * 1024) + lifetimes * 16 + sum(starts))
