"""Who holds the elements of a fragment, or runs the iterations of a loop, and where.

>>> from tileas_xdsl.layout.expr.expression import dimension
>>> i, j = dimension(0), dimension(1)
>>> owners = FragmentMap((4, 16), i * 16 + j, 0, threads=64)
>>> int(owners.thread_table[0, 2, 5])
37
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.layout.expr.expression import Number
from tileas_xdsl.layout.expr.tables import Table, coordinates_of, evaluated, table_of


@dataclass(frozen=True)
class FragmentMap:
    """Coordinates in a box of extents `shape`, and a replica, to a thread and a slot of it.

    `thread` is an expression over the dimensions (the coordinates) and symbol 0, the replica in
    `range(replicas)`; `slot`, the place among the registers of the thread, over the dimensions
    alone.  Both are quasi-affine: sums, multiples, `floordiv` and `mod` by constants.  `threads`
    is the size of the block; threads that hold nothing are idle.
    """

    shape: tuple[int, ...]
    thread: Number
    slot: Number
    threads: int
    replicas: int = 1

    @cached_property
    def thread_table(self) -> Table:
        """`(replicas, *shape)`: the thread that holds each copy of each element."""
        shape = (self.replicas, *self.shape)
        replica, *point = coordinates_of(shape)
        values = evaluated(self.thread, point, (replica,))
        return np.ascontiguousarray(np.broadcast_to(values, shape))

    @cached_property
    def slot_table(self) -> Table:
        """`shape`: the slot that holds each element, the same in all its threads."""
        return table_of(self.slot, self.shape)

    @cached_property
    def slots(self) -> int:
        """How many elements a thread has room for."""
        return int(self.slot_table.max(initial=0)) + 1

    @cached_property
    def held(self) -> Table:
        """`(threads, slots)`: the row-major index of what each slot of each thread holds, else -1.

        Where two elements share a slot the later one is shown: ask `is_injective` before.
        """
        result = np.full((self.threads, self.slots), -1, dtype=np.int64)
        elements = np.arange(self.slot_table.size).reshape(self.shape)
        for threads in self.thread_table:
            result[threads.ravel(), self.slot_table.ravel()] = elements.ravel()
        return result

    @cached_property
    def is_injective(self) -> bool:
        """Whether no slot of a thread holds two elements (two copies of one may share a slot)."""
        elements = np.broadcast_to(
            np.arange(self.slot_table.size).reshape(self.shape), self.thread_table.shape
        )
        places = (self.thread_table * self.slots + self.slot_table).ravel()
        pairs = np.unique(np.stack([places, elements.ravel()]), axis=1)
        return len(np.unique(pairs[0])) == pairs.shape[1]

    @cached_property
    def is_fully_replicated(self) -> bool:
        """Whether every thread of the block holds every element."""
        owners = np.sort(self.thread_table.reshape(self.replicas, -1), axis=0)
        return self.replicas >= self.threads and all(
            np.array_equal(np.unique(column), np.arange(self.threads)) for column in owners.T
        )

    def same_function(self, other: FragmentMap) -> bool:
        """Whether both put every element into the same slot of the same set of threads."""
        if self.shape != other.shape or not np.array_equal(self.slot_table, other.slot_table):
            return False
        return np.array_equal(_owners(self), _owners(other))

    def __str__(self) -> str:
        names = ", ".join(f"d{k}" for k in range(len(self.shape)))
        copies = f"[{self.replicas} copies s0]" if self.replicas > 1 else ""
        return f"({names}){copies} -> (thread {self.thread}, slot {self.slot})"


def _owners(fragment: FragmentMap) -> NDArray[np.bool_]:
    """`(elements, threads)`: which threads hold each element."""
    result = np.zeros((fragment.slot_table.size, fragment.threads), dtype=bool)
    for threads in fragment.thread_table:
        result[np.arange(result.shape[0]), threads.ravel()] = True
    return result
