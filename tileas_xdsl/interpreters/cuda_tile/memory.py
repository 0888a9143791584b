"""Global memory: bytes at addresses, with nothing between the arrays.

Addresses count bits, as elements of 4 bits share bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.ir import Attribute

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.cuda_tile.faults import Undefined
from tileas_xdsl.interpreters.cuda_tile.numerics.conversions import (
    from_memory_bytes,
    memory_bytes,
)
from tileas_xdsl.interpreters.cuda_tile.numerics.elements import (
    Array,
    bits_of,
    dtype_of,
    from_bits,
    stored_bits,
)
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.layout.intervals import connected

_FIRST = 1 << 32
_GAP = 1 << 20
"""Minimal gap between two arrays, in bytes: an index slightly out of bounds hits neither."""
_ALIGNMENT = 1 << 12
_BYTE = 8


@dataclass(frozen=True)
class Region:
    """An array in memory."""

    name: str
    address: int
    """In bytes."""
    data: Array
    """Its bytes."""


class Memory:
    """All arrays of a launch."""

    def __init__(self) -> None:
        self.regions: list[Region] = []
        self._end = _FIRST

    def allocate(self, name: str, data: Array, alignment: int = _ALIGNMENT) -> Region:
        """Allocate a region for bytes."""
        step = max(alignment, _ALIGNMENT)
        address = align_up(self._end + _GAP, step)
        self._end = address + len(data)
        self.regions.append(Region(name, address, data))
        return self.regions[-1]

    def load(self, addresses: Array, element: Attribute) -> Array:
        """The elements at addresses; raises where there are none."""
        found = np.zeros(addresses.shape, dtype_of(element))
        for positions, words, indices in self._accessed(addresses, element):
            found[positions] = _read(words, indices, element)
        return found

    def store(self, addresses: Array, values: Array, element: Attribute) -> None:
        """Set the elements at addresses, in row-major order; raises where there are none."""
        for positions, words, indices in self._accessed(addresses, element):
            _write(words, indices, values[positions], element)

    def update(
        self, addresses: Array, change: Callable[[Array, slice], Array], element: Attribute
    ) -> Array:
        """Replace elements at a row of addresses one by one; gives what they were.

        `change` makes new elements of the old ones and their positions.
        """
        count = len(addresses)
        is_apart = len(np.unique(addresses)) == count
        old = np.zeros(addresses.shape, dtype_of(element))
        for here in [slice(0, count)] if is_apart else [slice(n, n + 1) for n in range(count)]:
            old[here] = self.load(addresses[here], element)
            self.store(addresses[here], change(old[here], here), element)
        return old

    def _accessed(
        self, addresses: Array, element: Attribute
    ) -> Sequence[tuple[Array, Array, Array]]:
        """For each array: which addresses are in it, its words, and their indices."""
        bits = stored_bits(element)
        left = np.ones(addresses.shape, bool)
        found: list[tuple[Array, Array, Array]] = []
        for region in self.regions:
            if not left.any():
                break
            low = np.uint64(region.address * _BYTE)
            size = len(region.data) * _BYTE
            inside = left & (addresses >= low) & (addresses - low <= np.uint64(max(size - bits, 0)))
            if size < bits or not inside.any():
                continue
            offsets = (addresses[inside] - low).astype(np.int64)
            if np.any(offsets % bits):
                raise Undefined(f"accesses {region.name} between two elements of {bits} bits")
            width = max(bits, _BYTE) // _BYTE
            words = region.data[: len(region.data) // width * width].view(f"u{width}")
            found.append((inside, words, offsets // bits))
            left &= ~inside
        if left.any():
            raise Undefined(self._outside(int(addresses[left].flat[0]) // _BYTE))
        return found

    def _outside(self, address: int) -> str:
        """A sentence on an address at which there is no array."""
        if not self.regions:
            return f"accesses address {address}, and there are no arrays"
        near = min(
            self.regions,
            key=lambda region: max(
                region.address - address, address - region.address - len(region.data)
            ),
        )
        offset = address - near.address
        return f"accesses byte {offset} of {near.name}, which has {len(near.data)} bytes"


def _read(words: Array, indices: Array, element: Attribute) -> Array:
    if stored_bits(element) >= _BYTE:
        return from_bits(words[indices], element)
    return from_bits(words[indices // 2] >> (4 * (indices % 2)).astype(np.uint8) & 0xF, element)


def _write(words: Array, indices: Array, values: Array, element: Attribute) -> None:
    bits = bits_of(values)
    if stored_bits(element) >= _BYTE:
        words[indices] = bits
        return
    for index, code in zip(indices.tolist(), (bits & 0xF).tolist(), strict=True):
        shift = 4 * (index % 2)
        words[index // 2] = words[index // 2] & (0xF0 >> shift) | code << shift


@dataclass(frozen=True)
class Bound:
    """An array that an argument gave, and where its bytes are."""

    given: Array
    region: Region
    offset: int
    """Where it begins in them."""
    element: Attribute

    @property
    def address(self) -> Array:
        """The address in bits."""
        return np.asarray((self.region.address + self.offset) * _BYTE, np.uint64)

    def result(self) -> Array:
        """The array after the run."""
        size = memory_bytes(self.given, self.element).size
        data = self.region.data[self.offset : self.offset + size]
        return from_memory_bytes(data.copy(), self.element).reshape(self.given.shape)


def bind(memory: Memory, given: Sequence[tuple[str, Array, Attribute]]) -> Sequence[Bound]:
    """Copy arrays into memory; those that overlap keep their places relative to one another."""
    spans = [_span(array) for _, array, _ in given]
    found: dict[int, Bound] = {}
    for group in connected(spans):
        low = min(spans[n][0] for n in group)
        parts = {n: memory_bytes(given[n][1], given[n][2]) for n in group}
        size = max(spans[n][0] - low + parts[n].size for n in group)
        data = np.zeros(size, np.uint8)
        for n, part in parts.items():
            data[spans[n][0] - low :][: part.size] = part
        region = memory.allocate(given[group[0]][0], data)
        for n in group:
            _, array, element = given[n]
            found[n] = Bound(array, region, spans[n][0] - low, element)
    return [found[n] for n in range(len(given))]


def _span(array: Array) -> tuple[int, int]:
    """Return the host addresses, first and past the last byte, that an array spans."""
    begin = int(array.__array_interface__["data"][0])
    return begin, begin + array.nbytes
