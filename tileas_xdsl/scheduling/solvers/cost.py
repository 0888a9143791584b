"""What is minimised at one initiation interval: stages, then registers over their lifetimes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from tileas_xdsl.scheduling.problem import Problem

Cost: TypeAlias = tuple[int, int, int]
"""Stages of the loop, cycles of lifetimes by weight, sum of starts; compared in this order."""


def cost_of(problem: Problem, ii: int, starts: Sequence[int]) -> Cost:
    """Return the cost of a schedule."""
    lifetimes = sum(
        edge.weight * (starts[edge.target] + ii * edge.distance - starts[edge.source])
        for edge in problem.dependences
    )
    first = min(starts, default=0)
    return max((start - first) // ii for start in starts) if starts else 0, lifetimes, sum(starts)
