"""Fragments that come to the same instruction become one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import bools
from tileas_xdsl.interpreters.ptx.execution.state import Fragment, Gang
from tileas_xdsl.interpreters.ptx.instructions.compare import select
from tileas_xdsl.interpreters.ptx.matrix.wgmma_accumulators import Held, settle_all
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import UNSIGNED


def merge(gang: Gang, widths: Sequence[int]) -> None:
    """Join all fragments that stand before one instruction and do not wait inside it."""
    fragments = gang.fragments
    if len({f.pc for f in fragments}) == len(fragments):
        return
    place = 0
    while place < len(fragments):
        first = fragments[place]
        other = place + 1
        while other < len(fragments):
            if _may_merge(first, fragments[other]):
                _join(first, fragments.pop(other), widths)
            else:
                other += 1
        place += 1


def _may_merge(a: Fragment, b: Fragment) -> bool:
    return (
        a.pc == b.pc
        and (a.block is None or a.block.mergeable)
        and (b.block is None or b.block.mergeable)
    )


def _join(first: Fragment, other: Fragment, widths: Sequence[int]) -> None:
    chosen = bools(other.mask, first.gang.lanes)
    a, b = first.r, other.r
    if any(
        x is not y and (x.__class__ is Held or y.__class__ is Held)
        for x, y in zip(a, b, strict=True)
    ):
        settle_all(first)
        settle_all(other)
    for slot, (x, y) in enumerate(zip(a, b, strict=True)):
        if x is y:
            continue
        if x.__class__ is not np.ndarray and y.__class__ is not np.ndarray and x == y:
            continue
        a[slot] = select(chosen, y, x, UNSIGNED[widths[slot]])
    first.mask |= other.mask
    first.block = None
