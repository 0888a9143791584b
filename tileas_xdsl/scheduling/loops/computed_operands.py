"""What the product of a loop reads of values that threads compute in the same iteration."""

from __future__ import annotations

from collections.abc import Sequence

from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.scheduling.loops.dependence_graph import DependenceKind, MacroDependence
from tileas_xdsl.scheduling.loops.loop_problem import LoopProblem, read_cycles
from tileas_xdsl.scheduling.loops.macro_operations import MacroKind
from tileas_xdsl.scheduling.problem import Reservation
from tileas_xdsl.scheduling.schedule import Role
from tileas_xdsl.target.costs.units import Unit


def computed_operands(found: LoopProblem) -> Sequence[MacroDependence]:
    """Return the edges by which the one product of a loop reads what threads compute for it.

    Replicas then compute at the same time, and all multiply: they wait for the same stages, and the
    tensor core works for all of them in turn, so that their products end together.
    """
    dots = sum(node.kind is MacroKind.DOT for node in found.graph.nodes)
    return [
        edge
        for edge in found.graph.edges
        if dots == 1
        and found.roles[edge.source.index] is not Role.PRODUCER
        and not edge.distance
        and read_cycles(found, edge)
    ]


def multiplies_registers(found: LoopProblem) -> bool:
    """Whether the one product of a loop reads registers: all wait for it before they compute."""
    edges = computed_operands(found)
    return bool(edges) and not any(map(is_written_operand, edges))


def cycles_between_products(found: LoopProblem) -> int:
    """Cycles of an iteration in which its product does not run, where threads write an operand.

    It begins when what they wrote last is fenced, and all have met behind the one before
    (`threads/pipeline/late_products.py`).
    What the other operand is computed of in registers is read behind that wait.
    """
    values = [edge for edge in found.graph.edges if edge.order is DependenceKind.VALUE]
    written = [edge for edge in values if is_written_operand(edge)]
    if not written:
        return 0
    early = _made_of(values, {edge.source.index for edge in written})
    late = _made_of(values, {edge.target.index for edge in written}) - early
    computed = [
        found.costs[node.index]
        for node in found.graph.nodes
        if node.index in late
        and node.kind is not MacroKind.DOT
        and found.roles[node.index] is not Role.PRODUCER
    ]
    waits = sum(cost.latency - shared_memory_cycles(cost.reservations) for cost in computed)
    latencies = found.model.latencies
    return latencies.drain + latencies.proxy_fence + latencies.barrier + waits


def is_written_operand(edge: MacroDependence) -> bool:
    """Whether a product reads in shared memory what threads have written there."""
    is_there = edge.value is not None and space_of(edge.value.type) is Space.SMEM
    kinds = (edge.source.kind, edge.target.kind)
    return is_there and kinds == (MacroKind.CONVERT, MacroKind.DOT)


def _made_of(values: Sequence[MacroDependence], made: set[int]) -> set[int]:
    """Operations with all those of an iteration that their operands are computed of."""
    found, wanted = set[int](), made
    while wanted:
        found |= wanted
        wanted = {
            edge.source.index
            for edge in values
            if not edge.distance and edge.target.index in wanted
        } - found
    return found


def shared_memory_cycles(reservations: Sequence[Reservation]) -> int:
    """Return the cycles for which reservations take the unit of shared memory."""
    return sum(one.cycles for one in reservations if one.unit == Unit.SHARED_MEMORY)
