"""Objective at one initiation interval: fewest stages, then register lifetimes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from tileas_xdsl.scheduling.problem import Problem

Cost: TypeAlias = tuple[int, int, int]
"""Stages from the first task on that waits for another, cycles of lifetimes by weight, sum of
starts; compared in this order."""


def cost_of(problem: Problem, ii: int, starts: Sequence[int]) -> Cost:
    """Return the cost of a schedule."""
    lifetimes = sum(
        edge.weight * (starts[edge.target] + ii * edge.distance - starts[edge.source])
        for edge in problem.dependences
    )
    sources = problem.sources
    inner = [start for task, start in enumerate(starts) if task not in sources] or [*starts]
    first = min(inner, default=0)
    stages = max(((start - first) // ii for start in inner), default=0)
    return stages, lifetimes, sum(start - first for start in inner)
