"""Reconvergence: convergence groups at the same instruction are merged into one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import bools
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup, Warpgroup
from tileas_xdsl.interpreters.ptx.instructions.elementwise.compare import select
from tileas_xdsl.interpreters.ptx.matrix.wgmma_accumulators import (
    AccumulatorRegister,
    materialize_all,
)
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import UNSIGNED


def merge(warpgroup: Warpgroup, widths: Sequence[int]) -> None:
    """Merge the groups that are at one instruction, not blocked inside of it and awake."""
    groups = warpgroup.convergence_groups
    if len({f.pc for f in groups}) == len(groups):
        return
    location = 0
    while location < len(groups):
        first = groups[location]
        other = location + 1
        while other < len(groups):
            if _may_merge(first, groups[other]):
                _join(first, groups.pop(other), widths)
            else:
                other += 1
        location += 1


def _may_merge(a: ConvergenceGroup, b: ConvergenceGroup) -> bool:
    return (
        a.pc == b.pc
        and a.frames is b.frames
        and (a.wait is None or a.wait.mergeable)
        and (b.wait is None or b.wait.mergeable)
        and not (a.mask | b.mask) & a.warpgroup.asleep
    )


def _join(first: ConvergenceGroup, other: ConvergenceGroup, widths: Sequence[int]) -> None:
    chosen = bools(other.mask, first.warpgroup.lanes)
    a, b = first.r, other.r
    if any(
        x is not y and (x.__class__ is AccumulatorRegister or y.__class__ is AccumulatorRegister)
        for x, y in zip(a, b, strict=True)
    ):
        materialize_all(first)
        materialize_all(other)
    for slot, (x, y) in enumerate(zip(a, b, strict=True)):
        if x is y:
            continue
        if x.__class__ is not np.ndarray and y.__class__ is not np.ndarray and x == y:
            continue
        a[slot] = select(chosen, y, x, UNSIGNED[widths[slot]])
    first.mask |= other.mask
    first.awaited = (first.awaited | other.awaited) & ~first.mask
    first.wait = None
