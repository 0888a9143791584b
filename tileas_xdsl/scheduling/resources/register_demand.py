"""Registers per thread for tiles that are live at once in a schedule's steady state.

A value is alive from the start of what makes it to the start of what reads it last, element by
element; a product reads operands in registers until it ends, and writes its accumulators in place.
Values of several iterations count together where they overlap: at cycle t of a round, all that are
alive at t, t + ii, t + 2 ii, ...
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.units import WORD_BYTES
from tileas_xdsl.scheduling.loops.dependence_graph import DependenceKind, MacroDependence
from tileas_xdsl.scheduling.loops.loop_problem import LoopProblem, read_cycles
from tileas_xdsl.scheduling.problem import Solution
from tileas_xdsl.scheduling.resources.unit_demand import held_bytes
from tileas_xdsl.scheduling.schedule import Role


def register_demand(found: LoopProblem, solution: Solution, threads: int) -> int:
    """Return the most registers of a thread that values of the loop take, in any cycle.

    `threads` are those of one replica of the consumer.
    """
    alive = list(_lifetimes(found, solution))
    replicas = found.model.replicas
    size = WORD_BYTES * threads * replicas
    return max(
        (
            sum(
                count(begin, end, at, solution.ii) * ceil_div(held, size)
                for begin, end, held in alive
            )
            for at in {begin % solution.ii for begin, _, _ in alive}
        ),
        default=0,
    )


def count(begin: int, end: int, at: int, ii: int) -> int:
    """How many iterations' values that live in `[begin, end)` are alive at a cycle of a round."""
    first = begin + (at - begin) % ii
    return max(0, ceil_div(end - first, ii))


def _lifetimes(found: LoopProblem, solution: Solution) -> Iterator[tuple[int, int, int]]:
    """Begin, end and bytes of each value that a consumer's node gives to another."""
    ends: dict[SSAValue, tuple[int, int]] = {}
    for edge in found.graph.edges:
        if edge.value is None or not _is_in_registers(found, edge):
            continue
        begin = solution.starts[edge.source.index]
        end = _end_of_use(found, solution, edge)
        known = ends.get(edge.value, (begin, begin))
        ends[edge.value] = (begin, max(known[1], end))
    for value, (begin, end) in ends.items():
        yield begin, end, held_bytes(value)


def _is_in_registers(found: LoopProblem, edge: MacroDependence) -> bool:
    if edge.order is DependenceKind.MEMORY or found.roles[edge.source.index] is Role.PRODUCER:
        return False
    assert edge.value is not None
    return isa(edge.value.type, TensorType[Attribute]) and space_of(edge.value.type) is None


def _end_of_use(found: LoopProblem, solution: Solution, edge: MacroDependence) -> int:
    start = solution.starts[edge.target.index] + edge.distance * solution.ii
    return start + read_cycles(found, edge)
