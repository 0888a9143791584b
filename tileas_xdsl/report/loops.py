"""The schedule of a loop for people: a table, and pictures of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.locations import location_of
from tileas_xdsl.diagnostics.report import Location
from tileas_xdsl.interpreters.tile.tracing.timeline import draw_timeline
from tileas_xdsl.interpreters.tile.tracing.trace import Lane, Span, Trace
from tileas_xdsl.scheduling.loops.loop_plan import schedule_of
from tileas_xdsl.scheduling.loops.loop_scheduler import Scheduled, SchedulerOptions
from tileas_xdsl.scheduling.loops.module_loops import schedules
from tileas_xdsl.scheduling.pictures import draw_graph, draw_reservations
from tileas_xdsl.scheduling.problem import recurrence_bound, resource_bound
from tileas_xdsl.scheduling.timing import Event, LoopTiming, loop_timing, unit_spans
from tileas_xdsl.target.arch import get_target

DRAWN_ITERATIONS = 4
"""Those of the timeline."""


@dataclass(frozen=True)
class LoopReport:
    """What is known of a loop before it runs."""

    place: Location | None
    text: str
    pictures: Mapping[str, str]
    """SVG by what it shows; none of a loop that has no schedule."""


def loop_reports(planned: ModuleOp, target: str) -> Sequence[LoopReport]:
    """Schedule the loops of a module that the scheduler would see."""
    found = schedules(planned, get_target(target), SchedulerOptions())
    return [
        LoopReport(location_of(loop), one, {})
        if isinstance(one, str)
        else LoopReport(location_of(loop), loop_table(one), loop_pictures(one))
        for loop, one in found
    ]


def loop_table(one: Scheduled) -> str:
    """When each operation starts, in which stage, role and unit; and what bounds the loop."""
    plan, timing, problem = schedule_of(one), loop_timing(one), one.found.problem
    bounds = f"units {resource_bound(problem)}, recurrences {recurrence_bound(problem)}"
    roles = ", ".join(
        f"{role.replicas} x {role.name} of {role.warps} warps, {role.registers} registers"
        for role in one.roles
    )
    lines = [
        f"an iteration every {one.solution.ii} cycles (bounds: {bounds})",
        f"  roles: {roles}; {one.demand} registers of tiles",
        *(f"  buffer of load {b.value}: {b.stages} stages" for b in plan.plan.buffers),
        f"  predicted: {timing.per_iteration:.0f} cycles, bound by {timing.bound}; "
        + ", ".join(f"{unit} {100 * load:.0f} %" for unit, load in timing.load.items()),
        "  stage order  start  cycles result role      unit",
    ]
    for node in one.found.graph.nodes:
        place, cost = plan.placements[node.operations[0]], one.found.costs[node.index]
        lines.append(
            f"  {place.stage:5} {place.order:5} {place.start:6} {cost.length:7} {cost.latency:6} "
            f"{place.role:9} {place.unit:14} {node.name}"
        )
    return "\n".join(lines)


def loop_pictures(one: Scheduled) -> Mapping[str, str]:
    """The dependence graph, a round of the units, and a timeline of the first iterations."""
    return {
        "graph": draw_graph(one),
        "reservations": draw_reservations(one),
        "timeline": draw_timeline(_trace(loop_timing(one, DRAWN_ITERATIONS))),
    }


def _trace(timing: LoopTiming) -> Trace:
    """The events of a run as a trace: the warps of each replica, and what units do for them."""
    trace = Trace()
    for event in timing.events:
        warps = Lane("block", f"{event.role} {event.replica}")
        trace.add(_span(warps, event, event.start, event.end))
    for event, start, end in unit_spans(timing):
        trace.add(_span(Lane("block", event.unit), event, start, end))
    return trace


def _span(lane: Lane, event: Event, start: int, end: int) -> Span:
    return Span(lane, event.name, start, end, "work", event.iteration, counted="iteration")
