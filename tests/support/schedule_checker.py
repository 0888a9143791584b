"""Check a schedule against its problem, cycle by cycle, without any code of the solvers.

A schedule of one iteration is repeated for as many iterations as can overlap; then each dependence
is looked up, and each cycle of each unit is marked by the task that has it.
"""

from __future__ import annotations

from collections.abc import Iterator

from tileas_xdsl.scheduling.problem import Problem, Reservation, Solution


def violations(problem: Problem, solution: Solution) -> list[str]:
    """Return a sentence for each dependence, window or unit that a schedule does not respect."""
    if len(solution.starts) != len(problem.tasks):
        return [f"{len(solution.starts)} starts for {len(problem.tasks)} tasks"]
    return [
        *_late_dependences(problem, solution),
        *_outside_windows(problem, solution),
        *_apart(problem, solution),
        *_double_bookings(problem, solution),
        *_overloads(problem, solution),
    ]


def _late_dependences(problem: Problem, solution: Solution) -> Iterator[str]:
    for edge in problem.dependences:
        ready = solution.starts[edge.source] + edge.latency
        starts = solution.starts[edge.target] + edge.distance * solution.ii
        if starts < ready:
            source, target = problem.tasks[edge.source].name, problem.tasks[edge.target].name
            where = f" of iteration +{edge.distance}" if edge.distance else ""
            yield (
                f"{target}{where} starts at cycle {starts}, but what it needs of {source} is there "
                f"at cycle {ready}"
            )


def _outside_windows(problem: Problem, solution: Solution) -> Iterator[str]:
    for task, start in zip(problem.tasks, solution.starts, strict=True):
        if start < task.earliest or (task.latest is not None and start > task.latest):
            last = "" if task.latest is None else f" to {task.latest}"
            yield f"{task.name} starts at cycle {start}, outside of {task.earliest}{last}"
        stage = start // solution.ii
        if task.latest_stage is not None and stage > task.latest_stage:
            yield f"{task.name} is in stage {stage}, past its last stage {task.latest_stage}"
        if stage < task.min_stage:
            yield f"{task.name} is in stage {stage}, before its first stage {task.min_stage}"


def _apart(problem: Problem, solution: Solution) -> Iterator[str]:
    for group in problem.same_stage:
        stages = {problem.tasks[task].name: solution.starts[task] // solution.ii for task in group}
        if len({*stages.values()}) > 1:
            listed = ", ".join(f"{name} in {stage}" for name, stage in stages.items())
            yield f"tasks of one group are in several stages: {listed}"


def _double_bookings(problem: Problem, solution: Solution) -> Iterator[str]:
    """Mark every cycle of a round, of every replica, with the task that holds the unit."""
    ii = solution.ii
    taken: dict[tuple[str, int], str] = {}
    reported: set[tuple[str, str, str]] = set()
    for task, one, start in _exclusive(problem, solution):
        replicas = problem.shared_by.get(one.unit, 1)
        for replica in range(replicas):
            name = task if replicas == 1 else f"{task} of replica {replica}"
            begin = start + replica * (ii // replicas)
            for cycle in range(begin, begin + one.cycles):
                other = taken.setdefault((one.unit, cycle % ii), name)
                fault = (one.unit, other, name)
                if (other != name or one.cycles > ii) and fault not in reported:
                    reported.add(fault)
                    yield f"{name} and {other} both have {one.unit} in cycle {cycle % ii}"


def _exclusive(problem: Problem, solution: Solution) -> Iterator[tuple[str, Reservation, int]]:
    for task, start in zip(problem.tasks, solution.starts, strict=True):
        for one in task.reservations:
            if one.exclusive:
                yield task.name, one, start + one.offset


def _overloads(problem: Problem, solution: Solution) -> Iterator[str]:
    for unit, cycles in problem.demands().items():
        if cycles > solution.ii:
            yield f"{unit} is needed for {cycles} cycles of a round of {solution.ii}"
