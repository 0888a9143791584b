"""Verify that a loop can run by its schedule, as a person may have written or edited it.

`read_schedule` checks what the attributes say by themselves.  Here they are held against the loop:

    complete    each operation on tiles has a place, those of one element-wise group the same
    in order    nothing starts before what it waits for, of its own iteration or of one before
    by roles    the producer issues loads by TMA alone, each role has operations, and the registers
                of all of them fit a multiprocessor
    by units    an operation is on one of the units that it uses
    buffers     stages fit shared memory, and are as many as iterations whose tiles are alive by the
                schedule; nobody else has their bytes meanwhile
    turns       a named barrier of its own for each replica of the consumer
"""

from __future__ import annotations

from itertools import pairwise

from xdsl.dialects import scf

from tileas_xdsl.diagnostics.emission import note, op_error
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.scheduling.loops.buffer_verification import verify_lifetimes, verify_room
from tileas_xdsl.scheduling.loops.dependence_graph import (
    DependenceGraph,
    MacroDependence,
    dependence_graph,
)
from tileas_xdsl.scheduling.loops.macro_operations import MacroKind, kind_of
from tileas_xdsl.scheduling.resources.buffer_assignment import NAMED_BARRIERS
from tileas_xdsl.scheduling.resources.machine_model import occupied_units
from tileas_xdsl.scheduling.schedule import (
    SCHEDULE,
    LoopPlan,
    Role,
    RolePlan,
    Schedule,
)
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.costs.latencies import latencies


def verify_runnable(loop: scf.ForOp, schedule: Schedule, target: Target) -> None:
    """Raise `OpError` where a loop cannot run by its schedule, at the operation that is wrong."""
    graph = dependence_graph(loop)
    _verify_complete(graph, schedule)
    verify_resources(loop, schedule, target)
    for edge in graph.edges:
        _verify_order(edge, schedule)
    verify_units(graph, schedule, target)
    verify_lifetimes(loop, schedule, graph)


def verify_no_placements(loop: scf.ForOp) -> None:
    """Raise `OpError` at an operation that has a place in a loop without a schedule."""
    for op in loop.body.block.ops:
        if SCHEDULE in op.attributes and not isinstance(op, scf.ForOp):
            advice = "tileas-generate-schedule computes it"
            raise op_error(op, f"has {SCHEDULE}, but its loop has none; {advice}")


def verify_resources(loop: scf.ForOp, schedule: Schedule, target: Target) -> None:
    """Raise `OpError` where roles, buffers or turns want what there is not."""
    _verify_roles(loop, schedule, target)
    verify_room(loop, schedule.plan.buffers, target)
    _verify_turns(loop, schedule.plan)


def _verify_roles(loop: scf.ForOp, schedule: Schedule, target: Target) -> None:
    """Raise `OpError` where a role has nothing to do, does what it cannot, or has no registers."""
    for op, place in schedule.placements.items():
        if place.role is Role.PRODUCER and kind_of(op) is not MacroKind.TMA_LOAD:
            raise op_error(op, "runs in the role producer, which issues loads by TMA alone")
    used = {place.role for place in schedule.placements.values()}
    for role in schedule.plan.roles:
        if role.name not in used:
            raise op_error(loop, f"has the role {role.name}, in which no operation runs")
    total, most = sum(map(_registers, schedule.plan.roles)), target.registers_per_multiprocessor
    if total > most:
        listed = ", ".join(map(_described, schedule.plan.roles))
        raise op_error(loop, f"gives its roles {total} registers of {most}: {listed}")


def _registers(role: RolePlan) -> int:
    return role.replicas * role.warps * WARP * role.registers


def _described(role: RolePlan) -> str:
    threads = role.replicas * role.warps * WARP
    return f"{threads} threads of the {role.name} have {role.registers}"


def _verify_complete(graph: DependenceGraph, schedule: Schedule) -> None:
    for node in graph.nodes:
        for op in node.operations:
            if op not in schedule.placements:
                advice = "tileas-generate-schedule computes what is missing"
                raise op_error(op, f"has no {SCHEDULE}, but its loop has one; {advice}")
        for first, second in pairwise(node.operations):
            if schedule.placements[first] != schedule.placements[second]:
                message = f"is in one group with '{first.name}', but has another place"
                raise op_error(second, message, [note(first, "the other operation")])


def verify_units(graph: DependenceGraph, schedule: Schedule, target: Target) -> None:
    """Raise `OpError` where an operation is on a unit that it does not use."""
    for node in graph.nodes:
        known = occupied_units(node, latencies(target.name))
        if (unit := schedule.placements[node.operations[0]].unit) not in known:
            listed = ", ".join(known)
            message = f"is on the unit {unit}, which it does not use; it uses {listed}"
            raise op_error(node.operations[0], message)


def _verify_turns(loop: scf.ForOp, plan: LoopPlan) -> None:
    consumer = plan.role(Role.CONSUMER)
    replicas = 1 if consumer is None else consumer.replicas
    if not plan.turns:
        return
    listed = ", ".join(map(str, plan.turns))
    if len({*plan.turns}) != len(plan.turns) or len(plan.turns) != replicas:
        message = f"takes turns on the barriers {listed}; {replicas} replicas need one each"
        raise op_error(loop, message)
    if not {*plan.turns} <= {*NAMED_BARRIERS}:
        known = f"named barriers are {NAMED_BARRIERS[0]} to {NAMED_BARRIERS[-1]}"
        raise op_error(loop, f"takes turns on the barriers {listed}; {known}")


def _verify_order(edge: MacroDependence, schedule: Schedule) -> None:
    """Raise `OpError` where a round of the steady state has a reader before what it reads."""
    source, target = edge.source.operations[0], edge.target.operations[0]
    before, behind = schedule.placements[source], schedule.placements[target]
    made = before.start - edge.distance * schedule.ii
    at_once = made == behind.start and before.role is behind.role and not edge.distance
    if made > behind.start or (at_once and before.order > behind.order):
        back = " of the iteration before" if edge.distance else ""
        why = note(source, f"which starts at cycle {before.start}{back}")
        raise op_error(target, f"starts at cycle {behind.start}, before what it waits for", [why])
