"""Local buffers in a parallel loop: each iteration has its own, which begins as the block's."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.interpreters.tile.faults import RuleBroken
from tileas_xdsl.interpreters.tile.memory.byte_regions import Region
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Actor, Memory
from tileas_xdsl.interpreters.tile.memory.views import View
from tileas_xdsl.interpreters.tile.numerics.element_types import Array
from tileas_xdsl.interpreters.tile.tl_kernels.element_access import (
    ScatteredElements,
    inside_of,
    offsets_of,
)

Numbers = NDArray[np.int64]


class Private:
    """The copies that `count` iterations have of a memory."""

    def __init__(self, memory: Memory, count: int, actor: Actor) -> None:
        whole = Region.of_window(0, (memory.size,), (1,), 1)
        written = memory.check_copy(whole, actor)
        self.memory = memory
        self._data = np.tile(memory.bytes, (count, 1))
        self._written = np.tile(written, (count, 1))
        self._before = written
        self._changed = np.zeros(memory.size, np.bool_)

    def read(self, view: View, indices: ScatteredElements, numbers: Numbers) -> Array:
        """`(count,)`: an element of each iteration; `places` have one for each."""
        rows, columns = self._at(view, indices, numbers)
        unset = ~self._written[rows, columns].all(axis=1)
        if unset.any():
            raise RuleBroken(f"{self.memory.name} is read by an iteration that did not write it")
        return self._data[rows, columns].reshape(-1).view(view.dtype)

    def write(
        self, view: View, indices: ScatteredElements, values: Array, numbers: Numbers
    ) -> None:
        """Put an element into the copy of each iteration."""
        rows, columns = self._at(view, indices, numbers)
        stored = np.ascontiguousarray(values, view.dtype)
        self._data[rows, columns] = stored.view(np.uint8).reshape(len(numbers), -1)
        self._written[rows, columns] = True
        self._changed[columns] = True

    def end(self) -> None:
        """Behind the loop nobody knows what iterations wrote."""
        self.memory.mark(self._before & ~self._changed)

    def _at(
        self, view: View, indices: ScatteredElements, numbers: Numbers
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows and columns of the bytes of the elements."""
        inside_of(view, indices)
        offsets = np.broadcast_to(offsets_of(view, indices), numbers.shape)
        return numbers[:, None], offsets[:, None] + np.arange(view.dtype.itemsize)
