"""State a loop as a modulo scheduling problem: roles, reservations, latencies, dependences.

Modulo scheduling (Rau, "Iterative Modulo Scheduling", MICRO-27, 1994) looks for start times `t(op)`
and an initiation interval II with `t(b) >= t(a) + latency - distance * II` for each dependence, so
that in no cycle modulo II a unit is reserved twice. For the loop of a GEMM:

    x = tiled_load (TMA)       producer,  reserves TMA, latency of global memory
    d = dot x, y, acc          consumer,  reserves the tensor core;  d -> acc: distance 1

    edges   x -> dot (latency of the load, 0),  dot -> dot (chained cycles, 1),
            dot -> x (release, S) if x has S stages: load k + S waits until iteration k has read

The release edges make buffers finite: with S stages II is at least (load + dot + release) / S.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import pairwise

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.compute.dot import BlockScaledMmaOp, DotOp
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.scheduling.loops.constraints import Constraints, constraints_of, groups_of
from tileas_xdsl.scheduling.loops.dependence_graph import (
    DependenceGraph,
    DependenceKind,
    MacroDependence,
)
from tileas_xdsl.scheduling.loops.macro_operations import MacroKind, MacroOperation, is_scheduled
from tileas_xdsl.scheduling.problem import Dependence, Problem, Task
from tileas_xdsl.scheduling.resources.machine_model import Cost, MachineModel, ModelName, lane
from tileas_xdsl.scheduling.resources.unit_demand import held_bytes
from tileas_xdsl.scheduling.schedule import Pin, Role
from tileas_xdsl.scheduling.schedule_attributes import read_pin
from tileas_xdsl.target.costs.units import Unit


@dataclass(frozen=True)
class LoopProblem:
    """A loop's nodes with their roles, costs and pins, and the problem that they make."""

    graph: DependenceGraph
    model: MachineModel
    roles: Sequence[Role]
    costs: Sequence[Cost]
    pins: Sequence[Pin]
    constraints: Sequence[Constraints]
    problem: Problem = field(default_factory=lambda: Problem([], []))

    @property
    def is_serial(self) -> bool:
        """Whether an operation asks that nothing overlaps."""
        return any(one.serial for one in self.constraints)


def loop_problem(
    graph: DependenceGraph,
    model: MachineModel,
    stages: Mapping[int, int] | None = None,
    *,
    in_order: bool = False,
) -> LoopProblem:
    """State a loop as a problem; `stages` bounds those of loads, by their index in the graph.

    `in_order`: a role begins no iteration before it has begun all of the one before.

    Raises `OpError` where pins of one group contradict one another.
    """
    pins = [_pin(node) for node in graph.nodes]
    roles = [pin.role or role for pin, role in zip(pins, _roles(graph), strict=True)]
    costs = [model.cost(node, role) for node, role in zip(graph.nodes, roles, strict=True)]
    constraints = [_constraints(node) for node in graph.nodes]
    found = LoopProblem(graph, model, roles, costs, pins, constraints)
    edges = [_dependence(found, edge) for edge in graph.edges]
    edges += [*_releases(found, stages or {}), *_single_copies(found)]
    edges += _iteration_order(found) if in_order else ()
    shared = dict.fromkeys(_shared_units(found), model.replicas)
    tasks = [_task(found, index) for index in range(len(graph.nodes))]
    groups = groups_of(constraints)
    problem = Problem(tasks, [*dict.fromkeys(edges)], shared, groups)
    return LoopProblem(graph, model, roles, costs, pins, constraints, problem)


def _roles(graph: DependenceGraph) -> Sequence[Role]:
    """TMA loads that wait for nothing of the loop are the producer's; the rest the consumer's."""
    waiting = {edge.target for edge in graph.edges if edge.source is not edge.target}
    return [
        Role.PRODUCER if node.kind is MacroKind.TMA_LOAD and node not in waiting else Role.CONSUMER
        for node in graph.nodes
    ]


def _shared_units(found: LoopProblem) -> Sequence[str]:
    """The units of which all replicas of the consumer have one: all but their own warps."""
    return [
        one.unit
        for cost, role in zip(found.costs, found.roles, strict=True)
        for one in cost.reservations
        if role is not Role.PRODUCER and one.unit != lane(role) and one.unit != Unit.TMA
    ]


def _task(found: LoopProblem, index: int) -> Task:
    node, pin, cost = found.graph.nodes[index], found.pins[index], found.costs[index]
    start, depth = pin.start, found.constraints[index].max_depth
    last = depth if pin.stage is None else pin.stage
    return Task(
        node.name,
        cost.reservations,
        0 if start is None else start,
        start,
        pin.stage or 0,
        last,
    )


def _pin(node: MacroOperation) -> Pin:
    """Return the pin of a node; raise where operations of its group contradict one another."""
    said = [read_pin(op) for op in node.operations]
    for (first, one), (second, other) in pairwise(zip(node.operations, said, strict=True)):
        if one != other:
            message = f"is scheduled with '{first.name}' in one group, but is pinned to {other}"
            raise op_error(second, f"{message}, that to {one}")
    return said[0]


def _constraints(node: MacroOperation) -> Constraints:
    found = [constraints_of(op) for op in node.operations]
    depths = [one.max_depth for one in found if one.max_depth is not None]
    said = next((one for one in found if one.gid is not None), Constraints())
    serial = any(one.serial for one in found)
    return Constraints(said.gid, said.leader_gid, min(depths, default=None), serial)


def _dependence(found: LoopProblem, edge: MacroDependence) -> Dependence:
    source, target = edge.source.index, edge.target.index
    cost = found.costs[source]
    latency = cost.chained if _is_accumulated(edge) else cost.latency
    if edge.order is DependenceKind.MEMORY:
        latency = cost.length
    return Dependence(source, target, latency, edge.distance, _registers(found, edge))


def _is_accumulated(edge: MacroDependence) -> bool:
    """Whether a product adds to the result of another, whose accumulators stay where they are."""
    op: Operation = edge.target.operations[0]
    if edge.source.kind is not MacroKind.DOT or not isinstance(op, DotOp | BlockScaledMmaOp):
        return False
    reads = {*op.operands} - {op.c}
    return edge.value is not None and edge.value not in reads


def _registers(found: LoopProblem, edge: MacroDependence) -> int:
    """Return the size of the value in KiB, the weight of each cycle of its lifetime."""
    if edge.value is None or not isa(edge.value.type, TensorType[Attribute]):
        return 0
    return ceil_div(held_bytes(edge.value), 1024)


def _releases(found: LoopProblem, stages: Mapping[int, int]) -> Sequence[Dependence]:
    """Return the edges by which a load waits until all replicas have read what it overwrites."""
    edges: list[Dependence] = []
    for edge in found.graph.edges:
        count = stages.get(edge.source.index)
        if count is None or edge.distance or edge.order is DependenceKind.MEMORY:
            continue
        read = found.costs[edge.target.index].latency + found.model.release
        edges.append(Dependence(edge.target.index, edge.source.index, read, count))
    return edges


def _single_copies(found: LoopProblem) -> Iterator[Dependence]:
    """Yield edges by which a value in registers waits until its predecessor has been read.

    A value then needs one set of registers, and a loop that is rotated carries it once.  Loads
    through registers are left out: they have to be issued early.
    """
    measured = found.model.name is ModelName.MEASURED
    for edge in found.graph.edges if measured else ():
        source, target = edge.source.index, edge.target.index
        producer = Role.PRODUCER in (found.roles[source], found.roles[target])
        if producer or edge.order is DependenceKind.MEMORY or edge.source.kind is MacroKind.LOAD:
            continue
        if source != target and edge.distance <= 1:
            yield Dependence(target, source, read_cycles(found, edge), 1 - edge.distance)


def read_cycles(found: LoopProblem, edge: MacroDependence) -> int:
    """Cycles from the start of a reader until a value of which there is one may be overwritten.

    A product reads its operands, in registers or in shared memory, until it ends; others read and
    write element by element.
    """
    op = edge.target.operations[0]
    is_dot = isinstance(op, DotOp | BlockScaledMmaOp)
    is_late = is_dot and any(_shows(operand, edge.value) for operand in (op.a, op.b))
    return found.costs[edge.target.index].latency if is_late else 0


def is_made_by_all(edge: MacroDependence) -> bool:
    """Whether all replicas write what a product reads: columns of B, through shared memory."""
    op = edge.target.operations[0]
    is_dot = isinstance(op, DotOp | BlockScaledMmaOp)
    return is_dot and edge.source.kind is MacroKind.CONVERT and _shows(op.b, edge.value)


def _shows(operand: SSAValue, value: SSAValue | None) -> bool:
    """Whether an operand is a value, or what costs nothing makes of it: another view of a tile."""
    owner = operand.owner
    if operand is value or not isinstance(owner, Operation) or is_scheduled(owner):
        return operand is value
    return any(_shows(one, value) for one in owner.operands)


def _iteration_order(found: LoopProblem) -> Sequence[Dependence]:
    """Return edges by which a consumer begins an iteration only after all of the one before."""
    consumer = [index for index, role in enumerate(found.roles) if role is not Role.PRODUCER]
    return [Dependence(late, first, 1, 1) for late in consumer for first in consumer]


def step_of(model: MachineModel) -> int:
    """Return the cycles between the initiation intervals that are tried."""
    return 32 if model.name is ModelName.MEASURED else 1
