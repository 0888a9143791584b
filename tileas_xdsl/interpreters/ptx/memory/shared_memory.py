"""The shared memory and the tensor memory of a CTA."""

from __future__ import annotations

import numpy as np

from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.memory.global_memory import check_aligned
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import UNSIGNED

RESERVED = 1024
"""Bytes at the beginning of a CTA's window that CUDA reserves (from sm_90 on)."""

RANK_SHIFT = 24
"""A `.shared::cluster` address is `rank << RANK_SHIFT | offset`."""

OFFSET_MASK = (1 << RANK_SHIFT) - 1

GRANULE = 16
"""Bytes of the smallest unit of bulk copies and matrix descriptors."""

TENSOR_LANES = 128
TENSOR_COLUMNS = 512


class SharedMemory:
    """The shared-memory window of a CTA; offsets from `RESERVED` to `end` are valid."""

    __slots__ = ("data", "end", "granules", "outside", "views", "writes")

    def __init__(self, size: int) -> None:
        self.end = RESERVED + size
        self.data = np.zeros((self.end + 1023) // 1024 * 1024, np.uint8)
        self.granules = self.data.view(np.complex128)
        """The bytes as elements of 16, for copies only."""
        self.views = {
            bits // 8: self.data.view(dtype) for bits, dtype in UNSIGNED.items() if bits > 1
        }
        self.writes = 0
        self.outside: Array | None = None
        """Which bytes belong to no variable; None where there are none."""

    def check(self, offset: int, size: int, alignment: int = 1) -> None:
        """Refuse bytes outside of the window, or misaligned ones."""
        if not offset >= RESERVED or offset + size > self.end:
            raise Fault("illegal-address", self._outside(offset, size))
        if offset % alignment:
            raise Fault(
                "misaligned-address",
                f"shared address {offset:#x} is not aligned to {alignment} bytes",
            )

    def check_granules(self, granules: Array) -> None:
        """Refuse granules outside of the window."""
        self.check_granule_range(int(granules.min()), int(granules.max()))

    def check_granule_range(self, first: int, last: int) -> None:
        """Refuse granules outside of the window, by the lowest and the highest one."""
        low, high = first * GRANULE, last * GRANULE
        if low < RESERVED or high + GRANULE > self.end + GRANULE - 1:
            offset = low if low < RESERVED else high
            raise Fault("illegal-address", self._outside(offset, GRANULE))

    def locations(self, offsets: Array, size: int, count: int) -> Array:
        """Return indices into the view of `size` bytes for `count` elements from each offset on."""
        low, high = int(offsets.min()), int(offsets.max())
        if low < RESERVED or high + size * count > self.end:
            bad = low if low < RESERVED else high
            raise Fault("illegal-address", self._outside(bad, size * count))
        check_aligned(offsets, offsets, size * count)
        first = (offsets // size)[:, None]
        return first + np.arange(count) if count > 1 else first

    def _outside(self, offset: int, size: int) -> str:
        return (
            f"{size} bytes at shared offset {offset - RESERVED:#x} are outside of the "
            f"{self.end - RESERVED} bytes that the block has"
        )


class TensorMemory:
    """Tensor memory: 128 lanes of 512 columns of 32 bits, and the allocation of each column."""

    __slots__ = ("allocated", "cells", "owners", "relinquished")

    def __init__(self) -> None:
        self.cells = np.zeros((TENSOR_LANES, TENSOR_COLUMNS), np.uint32)
        self.owners = np.zeros(TENSOR_COLUMNS, np.int32)
        """The allocation tag of each column; 0 where it is free."""
        self.relinquished = False
        self.allocated = TENSOR_COLUMNS
        """The columns of the last allocation: later ones have no more."""

    def allocate(self, columns: int, tag: int) -> int | None:
        """Allocate adjacent columns; return the first one, or None where there are too few."""
        for start in range(0, TENSOR_COLUMNS - columns + 1, columns if columns < 256 else 32):
            if not self.owners[start : start + columns].any():
                self.owners[start : start + columns] = tag
                return start
        return None
