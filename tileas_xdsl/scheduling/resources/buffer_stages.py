"""Stages of a load's buffer: iterations between its write and its last read.

iteration i       |load ......|read....|
iteration i + 1        |load ......|read....|          two of three are alive at any time
iteration i + 2             |load ......|read....|
                  <---->  ii
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.scheduling.loops.dependence_graph import DependenceKind
from tileas_xdsl.scheduling.loops.loop_problem import LoopProblem
from tileas_xdsl.scheduling.loops.macro_operations import MacroKind
from tileas_xdsl.scheduling.problem import Solution
from tileas_xdsl.scheduling.schedule import Role

LOADS = (MacroKind.TMA_LOAD, MacroKind.LOAD)


def buffered(found: LoopProblem) -> Sequence[int]:
    """The loads whose tiles a producer leaves in shared memory, by their indices."""
    nodes = zip(found.graph.nodes, found.roles, strict=True)
    return [n.index for n, role in nodes if n.kind in LOADS and role is Role.PRODUCER]


def needed_stages(found: LoopProblem, solution: Solution) -> Mapping[int, int]:
    """Return by load the stages with which no load of a schedule waits for a reader."""
    ends = {index: released(found, solution, index) for index in buffered(found)}
    return {
        index: max(1, ceil_div(end - solution.starts[index], solution.ii))
        for index, end in ends.items()
    }


def released(found: LoopProblem, solution: Solution, load: int) -> int:
    """The cycle by which all replicas have read the tile that a load of iteration 0 brings.

    The last replica runs `(replicas - 1) / replicas` of an interval behind the first.
    """
    replicas = found.model.replicas
    behind = solution.ii // replicas * (replicas - 1)
    ends = [
        solution.starts[edge.target.index]
        + edge.distance * solution.ii
        + found.costs[edge.target.index].latency
        for edge in found.graph.edges
        if edge.source.index == load and edge.order is DependenceKind.VALUE
    ]
    return max(ends, default=solution.starts[load]) + behind + found.model.release
