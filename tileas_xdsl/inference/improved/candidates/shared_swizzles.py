"""Swizzles of shared buffers with the fewest bank conflicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.improved.accesses.memory_access import MemoryUse, vector_of, warp_cost
from tileas_xdsl.inference.improved.accesses.work_items import WorkItem
from tileas_xdsl.inference.improved.costs.cost_model import byte_addresses
from tileas_xdsl.inference.program import Buffer, Program, Scope
from tileas_xdsl.inference.staging import row_major
from tileas_xdsl.layout.composed import AnyLayout, ComposedLayout
from tileas_xdsl.layout.swizzle import Swizzle

SWIZZLES = (0, 1, 2, 3)
"""Bits of the byte swizzles, none first: it wins where others gain nothing."""

GAIN = 0.75
"""What a swizzle must save to be worth its addresses."""


def plain_layouts(
    program: Program,
    work_items: Sequence[WorkItem],
    runs: Mapping[int, FragmentMap],
    prescribed: Mapping[str, AnyLayout],
) -> dict[str, AnyLayout]:
    """Row-major layouts, under a swizzle where that saves wavefronts, of all other buffers.

    Views of one storage stay row-major: a swizzle would have to fit all of them.
    """
    found: dict[str, AnyLayout] = {}
    for name, buffer in program.buffers.items():
        if buffer.scope is not Scope.SHARED or name in prescribed:
            continue
        uses = [
            (item, use)
            for item in work_items
            for use in item.memory
            if use.buffer.name == name and item.number in runs
        ]
        bits = 0 if _has_views(program, buffer) else _best_swizzle(buffer, uses, runs)
        found[name] = _row_major(buffer, bits)
    return found


def _has_views(program: Program, buffer: Buffer) -> bool:
    storage = buffer.storage or buffer.name
    return any(
        (other.storage or other.name) == storage and other.name != buffer.name
        for other in program.buffers.values()
    )


def _best_swizzle(
    buffer: Buffer,
    uses: Sequence[tuple[WorkItem, MemoryUse]],
    runs: Mapping[int, FragmentMap],
) -> int:
    if len(buffer.shape) < 2 or buffer.shape[-1] * buffer.bits % 128 or not uses:
        return 0
    costs = {bits: _wavefronts(buffer, bits, uses, runs) for bits in SWIZZLES}
    best = min(SWIZZLES, key=lambda bits: costs[bits])
    return best if costs[best] <= GAIN * costs[0] else 0


def _wavefronts(
    buffer: Buffer,
    bits: int,
    uses: Sequence[tuple[WorkItem, MemoryUse]],
    runs: Mapping[int, FragmentMap],
) -> float:
    total = 0.0
    for item, use in uses:
        width = vector_of(runs[item.number], item.memory)
        addresses = byte_addresses(use)
        if addresses is not None:
            addresses = Swizzle(bits, 4, 3)(np.maximum(addresses, 0))
        total += item.trip_count * warp_cost(use, runs[item.number], width, addresses)
    return total


def _row_major(buffer: Buffer, bits: int) -> AnyLayout:
    layout = row_major(buffer)
    return ComposedLayout(Swizzle(bits, 4, 3), 0, layout) if bits else layout
