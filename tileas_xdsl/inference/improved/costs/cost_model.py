"""Estimated SM cycles of an operation under a layout, for comparisons only."""

from __future__ import annotations

from math import ceil, prod

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.improved.accesses.fragment_access import FragmentUse
from tileas_xdsl.inference.improved.accesses.memory_access import MemoryUse, vector_of, warp_cost
from tileas_xdsl.inference.improved.accesses.work_items import WorkItem
from tileas_xdsl.inference.program import CumSum, Gemm
from tileas_xdsl.layout.convert.plan import DEFAULT_WEIGHTS
from tileas_xdsl.layout.expr.tables import Table
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.registers.access import SECTOR_BYTES
from tileas_xdsl.layout.units import WARP

ISSUE = 0.25
"""Cycles of one warp instruction: four warps issue in each."""

CACHED = 0.25
"""What a copy of a read costs beside the first one: it comes from the L1 cache."""

CROSS_WARPS = 2 * DEFAULT_WEIGHTS.barrier + DEFAULT_WEIGHTS.shared_latency
"""Latency of combining across warps: a store, two barriers and a load."""


@dataclass(frozen=True)
class Estimate:
    """Estimated cycles over all iterations: instructions, memory, and the minimum for memory."""

    work: float
    memory: float
    least: float

    @property
    def cycles(self) -> float:
        """What counts."""
        return self.work + self.memory

    @property
    def is_wasteful(self) -> bool:
        """Whether memory costs so much more than needed that a conversion may pay."""
        return self.memory > 2 * self.least + WARP


NOTHING = Estimate(0, 0, 0)


def estimate(item: WorkItem, runs: FragmentMap) -> Estimate:
    """Estimate the cost of an operation whose iterations are mapped to threads by `runs`."""
    inner = prod(getattr(item.operation, "inner", ()))
    warps = warps_of(runs)
    often = item.trip_count * inner
    work = _work(item, runs, warps) * often
    width = vector_of(runs, item.memory)
    memory = least = 0.0
    for use in item.memory:
        copies = (1 if use.access.writes else 1 + CACHED * (runs.replicas - 1)) / runs.replicas
        share = warp_cost(use, runs, width, byte_addresses(use)) + ISSUE * runs.slots / width
        memory += often * warps * share * copies
        least += often * item.total * use.buffer.bits / 8 / SECTOR_BYTES
    return Estimate(work, memory, least)


def byte_addresses(use: MemoryUse) -> Table | None:
    """Byte addresses of the iterations in a row-major buffer; None: unknown."""
    offsets = use.offsets
    return None if offsets is None else offsets * use.buffer.bits // 8


def warps_of(runs: FragmentMap) -> int:
    """How many warps have something to do."""
    return max(1, len(np.unique(runs.thread_table // WARP)))


def _work(item: WorkItem, runs: FragmentMap, warps: int) -> float:
    instructions = runs.slots * max(1.0, warps * ISSUE)
    if isinstance(item.operation, Gemm):
        return 0.0
    if isinstance(item.operation, CumSum):
        return 2 * instructions + CROSS_WARPS
    for use in item.uses:
        if use.combines:
            return instructions + combining(use, runs, warps)
    return instructions * max(1, len(item.uses))


def combining(use: FragmentUse, runs: FragmentMap, warps: int) -> float:
    """Cycles to combine parts that threads have of each result: shuffles, then shared memory."""
    elements = use.elements
    if elements is None:
        return CROSS_WARPS
    rows = elements[:, 0] == elements[0, 0]
    threads = np.unique(runs.thread_table.reshape(runs.replicas, -1)[:, rows])
    lanes, groups = len(np.unique(threads % WARP)), len(np.unique(threads // WARP))
    results = ceil(prod(use.buffer.shape) * len(threads) / (warps * WARP))
    if not _are_lanes_joined(elements[:, 0], runs, len(threads)):
        return CROSS_WARPS + warps * results * (1 + len(threads))
    rounds = max(0, lanes - 1).bit_length()
    cycles = warps * results * rounds * (DEFAULT_WEIGHTS.shuffle + ISSUE)
    cycles += DEFAULT_WEIGHTS.shuffle_latency * (rounds > 0)
    return cycles + (CROSS_WARPS + warps * results) * (groups > 1)


def _are_lanes_joined(elements: Table, runs: FragmentMap, count: int) -> bool:
    """Whether the `count` threads of each result are an aligned group of lanes, or whole warps.

    Butterfly shuffles join such groups; the parts of others all go through shared memory.
    """
    threads = runs.thread_table.reshape(runs.replicas, -1)[0]
    order = np.argsort(elements, kind="stable")
    first = np.flatnonzero(np.diff(elements[order], prepend=-1))
    low = np.minimum.reduceat(threads[order], first)
    high = np.maximum.reduceat(threads[order], first)
    size = min(WARP, 1 << (count - 1).bit_length())
    if count > WARP:
        return count % WARP == 0 and bool((low % WARP == 0).all())
    return bool((low // size == high // size).all())


def registers_of(layout: FragmentMap, bits: int) -> int:
    """32-bit registers that a thread needs for a fragment; narrow elements share them."""
    return ceil_div(layout.slots * bits, 32)
