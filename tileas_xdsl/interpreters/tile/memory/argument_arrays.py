"""Array arguments in global memory: arrays that overlap share one memory.

An array that is passed twice, or two slices that overlap, are the same bytes to a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Memory
from tileas_xdsl.interpreters.tile.numerics.element_types import Array
from tileas_xdsl.layout.intervals import connected

Copier: TypeAlias = Callable[[Any], Any]
"""Make a contiguous copy of an array."""


ALIGNMENT = 16
"""The alignment in bytes that arrays which share a memory keep."""


@dataclass(frozen=True)
class AddressTable:
    """The memory of a list of arrays: a row of 64-bit words for each, the first its address."""

    arrays: Sequence[Array]
    words: Array
    """Row by row, with a placeholder for the address."""


@dataclass(frozen=True)
class BoundArray:
    """An array in a memory, which may hold others that overlap it."""

    memory: Memory
    offset: int
    """Of its first byte."""
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def address(self) -> int:
        """The address of the first element."""
        return self.memory.address + self.offset

    @property
    def data(self) -> Array:
        """The elements as they are now."""
        if self.memory.data.dtype == self.dtype and self.memory.data.shape == self.shape:
            return self.memory.data
        count = int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize
        return self.memory.bytes[self.offset :][:count].view(self.dtype).reshape(self.shape)


@dataclass(frozen=True)
class BoundTable:
    """An address table in a memory, with its arrays."""

    table: BoundArray
    items: Sequence[BoundArray]

    def fill(self) -> None:
        """Write the addresses, when the memories have some."""
        self.table.data[:, 0] = [item.address for item in self.items]


def bind_arrays(named: Sequence[tuple[str, Array]], make: Copier) -> Sequence[BoundArray]:
    """Return the arrays with memories of their own, one for those that overlap."""
    arrays = [np.ascontiguousarray(array) for _, array in named]
    found: dict[int, BoundArray] = {}
    for group in connected([_span(array) for array in arrays]):
        for position, bound in zip(group, _bind_group(group, arrays, named, make), strict=True):
            found[position] = bound
    return [found[position] for position in range(len(arrays))]


def _span(array: Array) -> tuple[int, int]:
    begin: int = array.__array_interface__["data"][0]
    return begin, begin + array.nbytes


def _bind_group(
    group: Sequence[int], arrays: Sequence[Array], named: Sequence[tuple[str, Array]], make: Copier
) -> Sequence[BoundArray]:
    members = [arrays[position] for position in group]
    first, names = members[0], " and ".join(dict.fromkeys(named[p][0] for p in group))
    is_one = all(_is_same(first, array) for array in members)
    low = min(begin for begin, _ in map(_span, members))
    low -= 0 if is_one else low % ALIGNMENT
    data = make(first if is_one else _bytes_of(members, low))
    memory = Memory(names, Space.GMEM, data, is_initialised=True)
    return [
        BoundArray(memory, _span(array)[0] - low, array.shape, array.dtype) for array in members
    ]


def _is_same(one: Array, other: Array) -> bool:
    is_like = one.shape == other.shape and one.dtype == other.dtype
    return one is other or (is_like and _span(one) == _span(other))


def _bytes_of(arrays: Sequence[Array], low: int) -> Array:
    """Return the bytes from the first array's begin to the last one's end."""
    data = np.zeros(max(end for _, end in map(_span, arrays)) - low, np.uint8)
    for array in arrays:
        begin = _span(array)[0] - low
        data[begin : begin + array.nbytes] = array.reshape(-1).view(np.uint8)
    return data
