"""Counts of what accesses of warps cost: wavefronts of shared memory, sectors of global memory.

Every `ld`, `st`, `ldmatrix`, `stmatrix`, `cp.async` and atomic of a run is counted by the addresses
of its lanes, with the tables of `layout.memory.banks` and `layout.registers.access`.  Bulk copies
move whole boxes: their bytes are counted.  Accesses of matrix units are not.  Counts of what warps
issue tell how often loops ran.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal, Protocol, TypeAlias

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.parsing.syntax import Instruction, Kernel
from tileas_xdsl.layout.memory.banks import ideal_wavefronts, wavefronts
from tileas_xdsl.layout.registers.access import INACTIVE, ideal_sectors, sectors
from tileas_xdsl.layout.units import WARP

Counted: TypeAlias = Literal["global", "shared"]


class Lanes(Protocol):
    """Lanes of a warpgroup with their addresses in one memory."""

    lanes: Array
    addresses: Array


@dataclass
class AccessCount:
    """Sums over the accesses of one instruction to one memory."""

    instruction: Instruction
    memory: Counted
    accesses: int = 0
    """Of a warp each."""
    bytes: int = 0
    """Of all active lanes."""
    transactions: int = 0
    """Wavefronts of shared memory, 32-byte sectors of global memory."""
    ideal: int = 0
    """The fewest for accesses of this width: without bank conflicts, or with packed bytes."""


class AccessCounter:
    """The counts of a launch, by the index of the instruction and the memory."""

    def __init__(self, kernel: Kernel, blocks: int = 1) -> None:
        self.kernel = kernel
        self.blocks = blocks
        """Of a cluster."""
        self.code = kernel.code
        self.counts: dict[tuple[int, Counted], AccessCount] = {}
        self.issues: list[Counter[int]] = [Counter() for _ in kernel.code]
        """By instruction: how often each warp, numbered within its cluster, issued it."""
        self.bulk_bytes: Counter[int] = Counter()
        """By instruction: the bytes of its bulk copies."""
        self.product_cells: Counter[int] = Counter()
        """By `tcgen05.mma`, whose shape only a run tells: elements of its results."""

    def add(self, pc: int, memory: Counted, group: Lanes, width: int) -> None:
        """Count an access of `width` bytes by each lane of a group."""
        found = self.counts.get((pc, memory))
        if found is None:
            found = self.counts[pc, memory] = AccessCount(self.code[pc], memory)
        rows = _by_warp(group)
        counts, ideal = (
            (wavefronts, ideal_wavefronts) if memory == "shared" else (sectors, ideal_sectors)
        )
        found.accesses += len(rows)
        found.bytes += len(group.lanes) * width
        found.transactions += int(counts(rows, width).sum())
        found.ideal += int(ideal(rows, width).sum())


def _by_warp(group: Lanes) -> Array:
    """Return `(warps, 32)`: the address of each lane, -1 where it takes no part."""
    warps = int(group.lanes.max()) // WARP + 1
    table = np.full(warps * WARP, INACTIVE, np.int64)
    table[group.lanes] = group.addresses
    rows = table.reshape(warps, WARP)
    return rows[(rows != INACTIVE).any(axis=1)]
