"""What bounds the loops of a kernel: the timing model on the loops of the program, and rooflines.

A loop whose loads are not pipelined runs one operation after another, and is timed so: `cycles` are
those of a block that is alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tileas_xdsl.diagnostics.locations import location_of
from tileas_xdsl.dialects.cute_nvgpu.threads.innermost_loops import LOOPS
from tileas_xdsl.explanation.bounds.work_counts import work_count
from tileas_xdsl.explanation.facts import (
    LoopFacts,
    Reason,
    Roofline,
    ScheduledOperation,
    UnitUse,
)
from tileas_xdsl.scheduling.loops.computed_operands import multiplies_registers
from tileas_xdsl.scheduling.loops.loop_plan import schedule_of
from tileas_xdsl.scheduling.loops.loop_scheduler import Scheduled, SchedulerOptions, schedule_loop
from tileas_xdsl.scheduling.resources.capacity import capacity_of
from tileas_xdsl.scheduling.timing import LoopTiming, loop_timing
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.costs.latencies import latencies

BUSY = 0.5
"""The part of the time from which on a unit, not the wait for results, bounds a loop."""

LATENCY = "latency"
"""What bounds a loop whose units are all idle most of the time."""


def loop_facts(
    module: ModuleOp, target: Target, reasons: Sequence[Reason], most_blocks: int | None = None
) -> tuple[LoopFacts, ...]:
    """Return the loops of the kernels of a module, whose loads know how they are done.

    `most_blocks` share a multiprocessor, whatever a hint asks for, where that is known.
    """
    return tuple(
        _facts(function, op, target, reasons, most_blocks)
        for function in _functions(module)
        for op in function.walk()
        if isinstance(op, LOOPS)
    )


def outside_of_loops(module: ModuleOp, target: Target) -> Roofline | None:
    """Return what a block does outside of loops; None if it is nothing."""
    for function in _functions(module):
        found = work_count(function.body.block, latencies(target.name))
        if found.flops or found.read or found.written:
            return found.roofline(latencies(target.name))
    return None


def _functions(module: ModuleOp) -> Iterator[func.FuncOp]:
    for op in module.ops:
        if isinstance(op, func.FuncOp) and len(op.body.blocks) == 1:
            yield op


def _facts(
    function: func.FuncOp,
    loop: Operation,
    target: Target,
    reasons: Sequence[Reason],
    most_blocks: int | None,
) -> LoopFacts:
    body = loop.regions[-1].block
    place = location_of(loop)
    mine = tuple(one for one in reasons if one.location is not None and _is_in(one, loop))
    count = work_count(body, latencies(target.name))
    has_work = count.flops or count.read or count.written
    roofline = count.roofline(latencies(target.name)) if has_work else None
    found = LoopFacts(place, None, None, (), roofline, (), 0, None, mine)
    if not isinstance(loop, scf.ForOp):
        return replace(found, not_predicted="its iterations are not counted: it runs while ...")
    is_serial = any(one.what == "pipeline" and one.location == place for one in mine)
    options = SchedulerOptions(serial=is_serial)
    capacity = capacity_of(function, loop, target, most_blocks)
    scheduled = schedule_loop(loop, capacity, options)
    if isinstance(scheduled, str):
        return replace(found, not_predicted=scheduled)
    return _predicted(found, scheduled, is_serial=is_serial)


def _is_in(reason: Reason, loop: Operation) -> bool:
    """Whether a reason is at a loop or at an operation in it: passes keep locations."""
    return any(location_of(op) == reason.location for op in loop.walk())


def _predicted(found: LoopFacts, one: Scheduled, *, is_serial: bool) -> LoopFacts:
    timing = _one_after_another(one) if is_serial else loop_timing(one, assembled=True)
    units = _units(timing)
    bound = units[0].unit if units and units[0].share >= BUSY else LATENCY
    return replace(
        found,
        cycles=timing.per_iteration,
        bound=bound,
        units=units,
        operations=tuple(_operations(one)),
        registers=one.demand,
        first=timing.first,
        in_step=not is_serial and multiplies_registers(one.found),
    )


def _one_after_another(one: Scheduled) -> LoopTiming:
    """Return the times of a loop that begins nothing before the result of what is before it."""
    timing, cycles = loop_timing(one), max(one.solution.ii, 1)
    load = {unit: used * timing.per_iteration / cycles for unit, used in timing.load.items()}
    return replace(timing, per_iteration=cycles, load=load)


def _units(timing: LoopTiming) -> tuple[UnitUse, ...]:
    """The units by how busy they are; the parts of a rounded run do not exceed 1."""
    cycles = timing.per_iteration
    ranked = sorted(timing.load.items(), key=lambda item: -item[1])
    return tuple(
        UnitUse(str(unit), load * cycles, min(load, 1.0), max(cycles - load * cycles, 0.0))
        for unit, load in ranked
    )


def _operations(one: Scheduled) -> Iterator[ScheduledOperation]:
    placements = schedule_of(one).placements
    for node in one.found.graph.nodes:
        first = node.operations[0]
        place, cost = placements[first], one.found.costs[node.index]
        yield ScheduledOperation(
            node.name,
            location_of(first),
            str(place.role),
            str(place.unit),
            place.stage,
            place.start,
            cost.length,
            cost.latency,
        )
