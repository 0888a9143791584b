"""Memory that launches have beside their arguments, one home for whatever launches them.

What CTAs count in, transfer tiles through or build tensor maps in belongs to launches that follow
one another: those of a stream, and those that a captured graph has in each of its streams, which
may run beside the launches of the stream itself.

    stream 7:                   softmax(x); softmax(y)      share counters
    graph captured on 7:        softmax(x); softmax(y)      share others, whenever it is replayed
    another one captured on 7:  softmax(x)                  has its own

Plans and graphs keep addresses, so what was once handed out stays allocated.
Source: CUDA driver API, cuStreamGetCaptureInfo, stream synchronization behavior.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.runtime.arguments.strided_views import Array
from tileas_xdsl.runtime.gpu.driver import TensorMapMemory
from tileas_xdsl.runtime.gpu.launch_api import LaunchError
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.kernel_abi import TensorMapRecipe
from tileas_xdsl.target.tma.array_tables import table_bytes, table_size
from tileas_xdsl.target.tma.tensor_map import TensorMap
from tileas_xdsl.target.tma.tensor_map_rules import check_tensor_map

MAX_TABLES = 256
"""Maximal number of lists of arrays whose tables stay in the memory of a GPU."""

PER_THREAD_STREAM = 2
"""The handle by which each thread of the host names a stream of its own (CU_STREAM_PER_THREAD)."""

Rows = tuple[tuple[int, ...], ...]
"""A list of arrays: address, extents and strides of each."""


class Allocation(Protocol):
    """Memory of a GPU, freed with its last reference."""

    pointer: int
    size: int

    def write(self, array: Array, stream: int = 0) -> None:
        """Copy a contiguous array to it, in stream order."""
        ...


AllocationT = TypeVar("AllocationT", bound=Allocation, covariant=True)


class Allocator(Protocol[AllocationT]):
    """A GPU that allocates memory while graphs are captured, too."""

    def memory(self, size: int) -> AllocationT:
        """Allocate bytes, uninitialised."""
        ...

    def zeros(self, size: int) -> AllocationT:
        """Allocate bytes that are zero."""
        ...

    def capture(self, stream: int) -> int:
        """Return the number of the capture that a stream is recorded in; 0 for none."""
        ...

    def encode(self, tensor_map: TensorMap) -> TensorMapMemory:
        """Encode a tensor map for this GPU."""
        ...

    def synchronize(self, stream: int = 0) -> None:
        """Wait until a stream has completed."""
        ...


class LaunchMemory:
    """The memory of all launches on a GPU."""

    def __init__(self, device: Allocator[Allocation]) -> None:
        self._device = device
        self._arenas: dict[object, Allocation] = {}
        self._transfers: dict[object, Allocation] = {}
        self._tables: OrderedDict[object, Allocation] = OrderedDict()
        self._kept: set[object] = set()
        self._lock = threading.Lock()

    def arena(self, size: int, stream: int) -> int:
        """Return the address of memory that CTAs of a launch have of their own."""
        with self._lock:
            return self._grown(self._arenas, size, stream, is_zero=False)

    def transfer(self, size: int, stream: int) -> int:
        """Return the address of memory through which CTAs of a launch transfer tiles.

        It begins as zeros, and is as launches leave it.
        """
        with self._lock:
            return self._grown(self._transfers, size, stream, is_zero=True)

    def table(self, rows: Rows, recipes: Sequence[TensorMapRecipe], stream: int) -> Allocation:
        """Return memory with a table of arrays and such maps of each, written once.

        It stays while it is referred to.  Raises `LaunchError` while a graph is captured, as cuTile
        does, and for what no tensor map describes.
        """
        if self._device.capture(stream):
            raise LaunchError("List argument in CUDAGraph isn't supported yet")
        with self._lock:
            key = rows, tuple(recipes)
            found = self._tables.get(key)
            if found is None:
                found = self._tables[key] = self._written(np.array(rows, np.int64), recipes, stream)
            self._tables.move_to_end(key)
            while len(self._tables) > MAX_TABLES:
                self._tables.popitem(last=False)
        return found

    def _written(
        self, words: NDArray[np.int64], recipes: Sequence[TensorMapRecipe], stream: int
    ) -> Allocation:
        memory = self._device.memory(table_size(words, len(recipes)))
        memory.write(table_bytes(words, recipes, memory.pointer, self._encoded), stream)
        self._device.synchronize(stream)
        return memory

    def _encoded(self, found: TensorMap) -> bytes:
        try:
            check_tensor_map(found)
        except TargetError as error:
            raise LaunchError(str(error)) from error
        return self._device.encode(found).data

    def keep(self, owner: object) -> None:
        """Keep what a graph refers to, which may be launched at any time."""
        self._kept.add(owner)

    def order(self, stream: int) -> object:
        """What launches on a stream have in common that follow one another."""
        thread = threading.get_ident() if stream == PER_THREAD_STREAM else 0
        return stream, thread, self._device.capture(stream)

    def _grown(
        self, made: dict[object, Allocation], size: int, stream: int, *, is_zero: bool
    ) -> int:
        order = self.order(stream)
        found = made.get(order)
        if found is None or found.size < size:
            make = self._device.zeros if is_zero else self._device.memory
            found = made[order] = make(size)
            self._kept.add(found)
        return found.pointer
