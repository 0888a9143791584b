"""The schedules of all loops of a module of tiles."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.scheduling.loops.loop_plan import schedule_of
from tileas_xdsl.scheduling.loops.loop_scheduler import Scheduled, SchedulerOptions, schedule_loop
from tileas_xdsl.scheduling.loops.pin_conflicts import is_pinned, no_schedule
from tileas_xdsl.scheduling.loops.schedule_verification import verify_resources, verify_units
from tileas_xdsl.scheduling.resources.capacity import capacity_of
from tileas_xdsl.target.arch import Target

SCHEDULED_AFTER = "tileas-choose-tma"
"""The pass that leaves the tiles that loops are scheduled from."""


def schedules(
    module: ModuleOp, target: Target, options: SchedulerOptions
) -> Iterator[tuple[scf.ForOp, Scheduled | str]]:
    """Yield each loop with its schedule, or with a sentence that says why it has none."""
    for function in [op for op in module.ops if isinstance(op, func.FuncOp)]:
        for loop in instances_in(function, scf.ForOp):
            yield loop, checked_schedule(function, loop, target, options)


def checked_schedule(
    function: func.FuncOp, loop: scf.ForOp, target: Target, options: SchedulerOptions
) -> Scheduled | str:
    """Return the schedule of a loop, or a sentence that says why it has none.

    Raises `OpError` where no schedule keeps what the program says of one.
    """
    found = schedule_loop(loop, capacity_of(function, loop, target), options)
    if not isinstance(found, str):
        schedule = schedule_of(found)
        verify_resources(loop, schedule, target)
        verify_units(found.found.graph, schedule, target)
    elif is_pinned(loop):
        raise no_schedule(loop, found, target, options)
    return found
