"""Find what an operation is pinned to that no schedule of its loop can keep.

    %x = tiled_load  {start = 1027}         its tile is there 1021 cycles later
    %d = dot %x      {start = 2047}         pinned to cycle 2047, but cannot start before 2048

Searched in this order: roles that cannot be, an interval that is too short, stages that contradict
starts, what is waited for, units that two operations hold at once.  Nothing is
found where only several pins together contradict one another.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from xdsl.dialects import scf

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError, note, op_error
from tileas_xdsl.diagnostics.report import Diagnostic
from tileas_xdsl.scheduling.loops.loop_problem import LoopProblem
from tileas_xdsl.scheduling.loops.loop_scheduler import SchedulerOptions, pinned_problem
from tileas_xdsl.scheduling.loops.macro_operations import MacroKind
from tileas_xdsl.scheduling.problem import (
    Problem,
    Reservation,
    longest_paths,
    recurrence_bound,
)
from tileas_xdsl.scheduling.schedule import SCHEDULE, LoopPlan, Role
from tileas_xdsl.scheduling.schedule_attributes import read_plan
from tileas_xdsl.target.arch import Target


def is_pinned(loop: scf.ForOp) -> bool:
    """Whether a loop or an operation of its body says something of its schedule."""
    return any(SCHEDULE in op.attributes for op in (loop, *loop.body.block.ops))


def no_schedule(loop: scf.ForOp, why: str, target: Target, options: SchedulerOptions) -> OpError:
    """Return the error of a loop that has no schedule that keeps its pins, with the first cause."""
    plan = read_plan(loop)
    problem = pinned_problem(loop, plan, target, options)
    conflict = next(pin_conflicts(loop, problem, plan), None)
    if plan.ii is None:
        said = note(loop, why) if conflict is None else conflict
        return op_error(loop, message("schedule.failed_find"), [said])
    said = note(loop, f"the interval is pinned to {plan.ii}") if conflict is None else conflict
    return op_error(loop, message("schedule.modulo_scheduler_returned_no"), [said])


def pin_conflicts(loop: scf.ForOp, found: LoopProblem, plan: LoopPlan) -> Iterator[Diagnostic]:
    """Yield notes that say which pins no schedule keeps, the first one at the cause."""
    yield from _roles(found, plan)
    if plan.ii is not None:
        yield from _interval(loop, found.problem, plan.ii)
        yield from _stages(found, plan.ii)
    yield from _waits(found, plan.ii)
    if plan.ii is not None:
        yield from _held_at_once(found, plan.ii)


def _roles(found: LoopProblem, plan: LoopPlan) -> Iterator[Diagnostic]:
    known = {Role.PRODUCER, Role.CONSUMER, *(role.name for role in plan.roles)}
    for node, pin in zip(found.graph.nodes, found.pins, strict=True):
        op = node.operations[0]
        if pin.role is not None and pin.role not in known:
            yield note(op, f"is pinned to the role {pin.role}, which its loop does not have")
        if pin.role is Role.PRODUCER and node.kind is not MacroKind.TMA_LOAD:
            yield note(op, "is pinned to the role producer, which issues loads by TMA alone")


def _interval(loop: scf.ForOp, problem: Problem, ii: int) -> Iterator[Diagnostic]:
    units, recurrences = problem.demands(), recurrence_bound(problem)
    busiest = max(units, key=lambda unit: units[unit], default="")
    least = max(units.get(busiest, 0), recurrences)
    if ii < least:
        what = "recurrences take" if recurrences == least else f"{busiest} is held for"
        yield note(loop, f"the interval is pinned to {ii}, but {what} {least} cycles")


def _stages(found: LoopProblem, ii: int) -> Iterator[Diagnostic]:
    for node, pin in zip(found.graph.nodes, found.pins, strict=True):
        if pin.start is not None and pin.stage not in (None, pin.start // ii):
            why = f"cycle {pin.start} is in stage {pin.start // ii}"
            yield note(node.operations[0], f"is pinned to stage {pin.stage}, but {why}")


def _waits(found: LoopProblem, ii: int | None) -> Iterator[Diagnostic]:
    """By longest paths from pinned starts; without an interval, within an iteration alone."""
    edges = [edge for edge in found.problem.dependences if ii is not None or not edge.distance]
    paths = longest_paths(Problem(found.problem.tasks, edges), ii or 1)
    for target, last in enumerate(found.pins):
        for source, first in enumerate(found.pins):
            path = None if paths is None else paths[source][target]
            if path is None or last.start is None:
                continue
            begin = first.start or 0
            if last.start < begin + path:
                op, other = (found.graph.nodes[k].operations[0] for k in (target, source))
                later = " or later" if first.start is None else ""
                why = f"before {begin + path}, as '{other.name}' starts at {begin}{later}"
                yield note(op, f"is pinned to cycle {last.start}, but cannot start {why}")


def _held_at_once(found: LoopProblem, ii: int) -> Iterator[Diagnostic]:
    for first, second in combinations(range(len(found.pins)), 2):
        for one in found.problem.tasks[first].reservations:
            for other in found.problem.tasks[second].reservations:
                if one.unit == other.unit and _overlap(found, (first, one), (second, other), ii):
                    nodes = found.graph.nodes
                    holder = nodes[first].operations[0].name
                    message = f"holds {one.unit} in cycles in which '{holder}' has it"
                    yield note(nodes[second].operations[0], message)


def _overlap(
    found: LoopProblem, one: tuple[int, Reservation], other: tuple[int, Reservation], ii: int
) -> bool:
    """Whether two pinned operations have an exclusive unit in one cycle of a round."""
    (first, held), (second, wanted) = one, other
    start, later = found.pins[first].start, found.pins[second].start
    if start is None or later is None or not (held.exclusive and wanted.exclusive):
        return False
    period = found.problem.period(held.unit, ii)
    ahead = (later + wanted.offset - start - held.offset) % period
    return ahead < held.cycles or period - ahead < wanted.cycles
