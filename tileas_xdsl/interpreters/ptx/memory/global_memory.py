"""Global memory as buffers by address, and the windows of other state spaces in generic addresses.

Kernel parameters and constants are buffers of global memory too.  Source: PTX ISA 5.1, state
spaces; the base addresses of the windows are our choice.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, Protocol

import numpy as np

from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.memory.access_pattern import AccessPattern, pattern_of
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import UNSIGNED
from tileas_xdsl.interpreters.ptx.tma.modified_tensor_maps import ModifiedTensorMaps
from tileas_xdsl.target.tma.tensor_map import TensorMap
from tileas_xdsl.target.tma.tensor_map_bytes import encode

SHARED_WINDOW = 0x7F00_0000_0000
"""Base of shared memory in generic addresses; the offset is a `.shared::cluster` address."""

LOCAL_WINDOW = 0x7E00_0000_0000
"""Base of local memory in generic addresses."""

WINDOW_SIZE = 1 << 32

FIRST_ADDRESS = 0x2_0000_0000
PARAMETERS_ADDRESS = 0x4000_0000
"""Where the parameters of a kernel are: addresses of them fit in 32 bits (PTX ISA 5.1.6), which
Triton's code for tensor maps relies on."""
GAP = 4096
ALIGNMENT = 512


class Pieces(Protocol):
    """What of a buffer may be accessed, where not all of it may (`device_heap.Slab`)."""

    def check(self, offsets: Array, size: int) -> None:
        """Raise a fault if accesses of `size` bytes are not all inside of pieces."""
        ...


class Buffer:
    """Bytes at an address; `views` are the same bytes as unsigned elements, by element size."""

    __slots__ = ("base", "data", "end", "name", "pieces", "read_only", "views")

    def __init__(self, name: str, base: int, data: Array, *, read_only: bool = False) -> None:
        self.name = name
        self.base = base
        self.end = base + data.size
        padded = np.zeros((data.size + 31) // 16 * 16, np.uint8) if data.size % 16 else data
        if padded is not data:
            padded[: data.size] = data
        self.data = padded
        self.read_only = read_only
        self.pieces: Pieces | None = None
        """Of the heap, what is allocated; nothing has written it at first."""
        self.views = {bits // 8: padded.view(dtype) for bits, dtype in UNSIGNED.items() if bits > 1}

    def __reduce__(self) -> tuple[Any, ...]:
        """Return a copy whose views are of its own bytes."""
        return _copied, (self.name, self.base, self.end, self.data, self.read_only)


def _copied(name: str, base: int, end: int, data: Array, read_only: bool) -> Buffer:
    buffer = Buffer(name, base, data, read_only=read_only)
    buffer.end = end
    return buffer


class GlobalMemory:
    """Buffers at ascending addresses with gaps between, so that accesses out of bounds are
    detected."""

    def __init__(self) -> None:
        self.buffers: list[Buffer] = []
        self._bases: list[int] = []
        self._next = FIRST_ADDRESS
        self.modified_tensor_maps = ModifiedTensorMaps()
        self.writes = 0
        """Count of writes: a group that spins on memory is runnable again when it changes."""

    def add(self, name: str, data: Array, *, read_only: bool = False) -> Buffer:
        """Allocate a buffer that holds `data` (bytes)."""
        buffer = Buffer(name, self._next, data, read_only=read_only)
        self._next = (buffer.end + GAP + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        self.buffers.append(buffer)
        self._bases.append(buffer.base)
        return buffer

    def add_parameters(self, data: Array) -> Buffer:
        """Allocate the parameters of the kernel, once, below all other buffers."""
        buffer = Buffer("the parameters", PARAMETERS_ADDRESS, data, read_only=True)
        self.buffers.insert(0, buffer)
        self._bases.insert(0, buffer.base)
        return buffer

    def remove(self, buffer: Buffer) -> None:
        """Take a buffer away; its addresses are not used again."""
        at = self.buffers.index(buffer)
        del self.buffers[at], self._bases[at]

    def encode(self, tensor_map: TensorMap) -> bytes:
        """Return the 128 bytes of a tensor map."""
        return encode(tensor_map)

    def find(self, address: int, size: int) -> Buffer:
        """Return the buffer that holds `size` bytes at `address`."""
        at = bisect_right(self._bases, address) - 1
        if at >= 0 and address + size <= self.buffers[at].end:
            found = self.buffers[at]
            if found.pieces is not None:
                found.pieces.check(np.array([address - found.base]), size)
            return found
        raise Fault("illegal-address", self._nowhere(address, size, at))

    def read(self, address: int, size: int) -> bytes:
        """Return bytes at an address."""
        buffer = self.find(address, size)
        start = address - buffer.base
        return buffer.data[start : start + size].tobytes()

    def write(self, address: int, data: bytes) -> None:
        """Store bytes at an address."""
        buffer = self.writable(address, len(data))
        start = address - buffer.base
        buffer.data[start : start + len(data)] = np.frombuffer(data, np.uint8)
        self.writes += 1

    def writable(self, address: int, size: int) -> Buffer:
        """Return the buffer at an address; a fault where it is read-only."""
        buffer = self.find(address, size)
        if buffer.read_only:
            raise Fault("illegal-address", f"{buffer.name} at {address:#x} cannot be written")
        return buffer

    def load(self, addresses: Array, size: int, count: int) -> Array:
        """Return `count` elements of `size` bytes from each address, an array (addresses,
        count)."""
        first, pattern = pattern_of(addresses, size * count)
        buffer = self._one_buffer(first, pattern)
        if buffer is None:
            parts = [self.load(addresses[i : i + 1], size, count) for i in range(len(addresses))]
            return np.concatenate(parts)
        offset = _element(buffer, first, pattern, size)
        return buffer.views[size][pattern.elements(size, count) + offset]

    def store(self, addresses: Array, values: Array, size: int) -> None:
        """Store the rows of `values` (addresses, count) at the addresses; the last lane wins."""
        self.writes += 1
        count = values.shape[1]
        first, pattern = pattern_of(addresses, size * count)
        buffer = self._one_buffer(first, pattern)
        if buffer is None:
            for i in range(len(addresses)):
                self.store(addresses[i : i + 1], values[i : i + 1], size)
            return
        if buffer.read_only:
            raise Fault("illegal-address", f"{buffer.name} cannot be written")
        offset, view = _element(buffer, first, pattern, size), buffer.views[size]
        if pattern.is_ascending_run:
            view[offset : offset + values.size] = values.reshape(-1)
        else:
            view[pattern.elements(size, count) + offset] = values

    def _one_buffer(self, first: int, pattern: AccessPattern) -> Buffer | None:
        """Return the buffer that holds all accesses; None where there are several."""
        low, high, size = first + pattern.low, first + pattern.high, pattern.size
        buffer = self.find(low, size)
        if high + size <= buffer.end:
            if buffer.pieces is not None:
                buffer.pieces.check(pattern.relative + (first - buffer.base), size)
            return buffer
        if low == high:
            raise Fault("illegal-address", self._nowhere(high, size, -1))
        return None

    def _nowhere(self, address: int, size: int, at: int) -> str:
        what = f"{size} bytes at {address:#x} are in no array"
        if at < 0 or address >= self.buffers[at].end + GAP:
            return what
        buffer = self.buffers[at]
        beyond = address + size - buffer.end
        return f"{what}: they reach {beyond} bytes past the end of {buffer.name}"


def _element(buffer: Buffer, first: int, pattern: AccessPattern, size: int) -> int:
    """Return the element at the first address; a fault where an access is misaligned."""
    if (first | pattern.bits) & (pattern.size - 1):
        addresses = pattern.relative + first
        check_aligned(addresses, addresses, pattern.size)
    return (first - buffer.base) // size


def check_aligned(addresses: Array, offsets: Array, size: int) -> None:
    """Refuse accesses of `size` bytes at addresses that are no multiples of it."""
    if size > 1 and bool((offsets % size).any()):
        bad = int(addresses[np.flatnonzero(offsets % size)[0]])
        raise Fault(
            "misaligned-address", f"an access of {size} bytes at {bad:#x} is not aligned to {size}"
        )
