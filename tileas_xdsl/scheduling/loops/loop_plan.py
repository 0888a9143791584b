"""Write a loop's schedule as `tileas.schedule`, keeping what the program pinned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from xdsl.ir import Operation

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import note, op_error
from tileas_xdsl.scheduling.loops.loop_scheduler import Scheduled
from tileas_xdsl.scheduling.schedule import (
    BufferPlan,
    LoopPlan,
    Placement,
    Role,
    Schedule,
    loads_of,
)
from tileas_xdsl.scheduling.schedule_attributes import read_plan, verify_schedule


def schedule_of(one: Scheduled) -> Schedule:
    """Return a loop's schedule as its attributes say it.

    Raises `OpError` where a pinned order is not that of the starts.
    """
    nodes, ii = one.found.graph.nodes, one.solution.ii
    orders = _orders(one)
    placements: dict[Operation, Placement] = {}
    for node in nodes:
        start, role = one.solution.starts[node.index], one.found.roles[node.index]
        unit = one.found.pins[node.index].unit or one.found.costs[node.index].unit
        place = Placement(start // ii, orders[node.index], start, role, unit)
        placements.update(dict.fromkeys(node.operations, place))
    loads = loads_of(one.found.graph.loop)
    by_load = {nodes[index].operations[0]: count for index, count in one.stages.items()}
    buffers = [BufferPlan(k, by_load[op]) for k, op in enumerate(loads) if op in by_load]
    given = read_plan(one.found.graph.loop)
    plan = LoopPlan(ii, list(one.roles), buffers, given.turns, given.ahead)
    schedule = Schedule(plan, placements)
    _legalise(one, schedule)
    return schedule


def _orders(one: Scheduled) -> Mapping[int, int]:
    """By node: its position among those of its role in a round, ties by program order."""
    by_role: defaultdict[Role, list[int]] = defaultdict(list)
    for node in one.found.graph.nodes:
        by_role[one.found.roles[node.index]].append(node.index)
    starts, ii = one.solution.starts, one.solution.ii
    ranked = (
        enumerate(sorted(mine, key=lambda index: (starts[index] % ii, index)))
        for mine in by_role.values()
    )
    return {index: rank for pairs in ranked for rank, index in pairs}


def _legalise(one: Scheduled, schedule: Schedule) -> None:
    loop = one.found.graph.loop
    for op, rank, pinned in _pinned_orders(one, schedule):
        if rank != pinned:
            why = note(op, f"is pinned to order {pinned}, but is number {rank} of its role")
            raise op_error(loop, message("schedule.failed_legalize"), [why])
    verify_schedule(loop, schedule)


def _pinned_orders(one: Scheduled, schedule: Schedule) -> Sequence[tuple[Operation, int, int]]:
    pairs = zip(one.found.graph.nodes, one.found.pins, strict=True)
    first = ((node.operations[0], pin.order) for node, pin in pairs)
    return [(op, schedule.placements[op].order, order) for op, order in first if order is not None]
