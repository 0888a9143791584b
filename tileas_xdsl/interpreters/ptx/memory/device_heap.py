"""The heap of a device: what threads get from `malloc` and give back to `free`.

Allocations are pieces of a few buffers (slabs), each with a gap behind it.  Bytes are given once
only, so that what uses memory after `free` is found; a slab whose pieces are all free is dropped.
Source: CUDA programming guide, dynamic global memory allocation: 8 MB unless the host asks for
more, pointers aligned to 16 bytes, null where there is no room.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import field

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.memory.global_memory import Buffer, GlobalMemory
from tileas_xdsl.layout.integers import align_up

LIMIT = 8 << 20
"""Bytes of the heap: `cudaLimitMallocHeapSize`."""

SLAB = 1 << 18
ALIGNMENT = 16

JUNK = 0xCD
"""The byte that uninitialised memory holds."""


@dataclass
class Allocation:
    """Bytes of a slab, and who got them and gave them back."""

    start: int
    size: int
    at: int
    """The instruction that called `malloc`."""
    owner: str
    freed: str = ""


@dataclass(eq=False)
class Slab:
    """A buffer of which some bytes are allocated."""

    buffer: Buffer
    live: Array
    allocations: list[Allocation] = field(default_factory=list[Allocation])
    end: int = 0
    """Where the next allocation may begin."""

    def check(self, offsets: Array, size: int) -> None:
        """Raise a fault if accesses of `size` bytes are not all inside of allocations."""
        inside = self.live[offsets[:, None] + np.arange(size)].all(1)
        if not inside.all():
            raise Fault("illegal-address", self._why(int(offsets[~inside][0]), size))

    def allocation(self, offset: int) -> Allocation | None:
        """Return the last allocation that begins at or before an offset."""
        at = bisect_right(self.allocations, offset, key=lambda piece: piece.start)
        return self.allocations[at - 1] if at else None

    def _why(self, offset: int, size: int) -> str:
        what, piece = f"{size} bytes at {self.buffer.base + offset:#x}", self.allocation(offset)
        if piece is None:
            return f"{what} of the heap were never allocated"
        mine = f"the {piece.size} bytes that {piece.owner} has allocated"
        if piece.freed and offset < piece.start + piece.size:
            return f"{what} are of {mine}, which {piece.freed} freed"
        return (
            f"{what} reach {offset + size - piece.start - piece.size} bytes past the end of {mine}"
        )


class DeviceHeap:
    """Allocates for the threads of a launch."""

    def __init__(self, memory: GlobalMemory) -> None:
        self._memory = memory
        self._slabs: list[Slab] = []
        self._used = 0

    def allocate(self, size: int, alignment: int, owner: str, at: int) -> int:
        """Return the address of `size` new bytes; 0 where there is no room."""
        if self._used + size > LIMIT:
            return 0
        alignment = max(alignment, ALIGNMENT)
        slab = self._slabs[-1] if self._slabs else None
        start = -1 if slab is None else _next_start(slab, alignment)
        if slab is None or start + size > len(slab.live):
            slab = self._add_slab(max(SLAB, size + alignment))
            start = _next_start(slab, alignment)
        slab.end = align_up(start + size, ALIGNMENT) + ALIGNMENT
        slab.allocations.append(Allocation(start, size, at, owner))
        slab.live[start : start + size] = True
        self._used += size
        return slab.buffer.base + start

    def _add_slab(self, size: int) -> Slab:
        size = align_up(size, ALIGNMENT)
        buffer = self._memory.add("the heap", np.full(size, JUNK, np.uint8))
        slab = Slab(buffer, np.zeros(size, np.bool_))
        buffer.pieces = slab
        self._slabs.append(slab)
        return slab

    def find(self, address: int, by: str) -> tuple[Slab, Allocation]:
        """Return what `free` of an address gives back; a fault if `malloc` did not give it."""
        for slab in self._slabs:
            offset = address - slab.buffer.base
            piece = slab.allocation(offset) if 0 <= offset < len(slab.live) else None
            if piece is None or piece.start != offset:
                continue
            if piece.freed:
                raise Fault(
                    "invalid", f"{by} frees {address:#x} again, which {piece.freed} has freed"
                )
            return slab, piece
        raise Fault("invalid", f"{by} frees {address:#x}, which malloc has not given")

    def release(self, slab: Slab, piece: Allocation, by: str) -> Buffer | None:
        """Give an allocation back; return a buffer that is none of global memory any more."""
        piece.freed = by
        slab.live[piece.start : piece.start + piece.size] = False
        self._used -= piece.size
        if slab is self._slabs[-1] or slab.live.any():
            return None
        self._slabs.remove(slab)
        self._memory.remove(slab.buffer)
        return slab.buffer

    def leaks(self) -> Iterator[Allocation]:
        """Yield what has not been given back."""
        for slab in self._slabs:
            yield from (piece for piece in slab.allocations if not piece.freed)


def _next_start(slab: Slab, alignment: int) -> int:
    base = slab.buffer.base
    return align_up(base + slab.end, alignment) - base
