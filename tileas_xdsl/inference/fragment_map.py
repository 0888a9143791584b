"""Maps from fragment elements, or loop iterations, to threads and registers (slots).

A concept of its own beside `layout.registers.RegisterLayout`, which is a CuTe layout: a map is any
quasi-affine expression, as TileLang's `Fragment` is, and its owners may be outside of the block.
Where a map has digits, `closed_form.layout_of` derives the register layout, which lowerings use.

>>> from tileas_xdsl.layout.expr.expression import dimension
>>> i, j = dimension(0), dimension(1)
>>> owners = FragmentMap((4, 16), i * 16 + j, 0, threads=64)
>>> int(owners.thread_table[0, 2, 5])
37
"""

from __future__ import annotations

from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.expr.expression import Number, symbol
from tileas_xdsl.layout.expr.simplification import simplified
from tileas_xdsl.layout.expr.tables import (
    Table,
    coordinates_of,
    evaluated,
    linearized,
    table_of,
    variables_of_box,
)

REPLICA = symbol(0)
"""The variable that counts the copies of an element."""


@dataclass(frozen=True)
class FragmentMap:
    """A map from coordinates of extents `shape`, and a replica, to a thread and a slot of it.

    `thread` is an expression over the dimensions (the coordinates) and symbol 0, the replica in
    `range(replicas)`; `slot`, the register index in the thread, over the dimensions alone.  Both
    are quasi-affine: sums, multiples, `floordiv` and `mod` by constants.  `threads` is the size of
    the block; threads that own nothing are idle.
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
        """`(threads, slots)`: the row-major index of the element in each slot, else -1.

        Where two elements share a slot the later one is returned: check `is_injective` first.
        """
        result = np.full((self.threads, self.slots), -1, dtype=np.int64)
        elements = np.arange(self.slot_table.size).reshape(self.shape)
        for threads in self.thread_table:
            result[threads.ravel(), self.slot_table.ravel()] = elements.ravel()
        return result

    @cached_property
    def is_injective(self) -> bool:
        """Whether no slot of a thread holds two elements (two copies of one may share a slot)."""
        elements = np.arange(self.slot_table.size).reshape(self.shape)
        held = self.held[self.thread_table, self.slot_table[None]]
        return bool((held == elements[None]).all())

    @cached_property
    def owner_counts(self) -> Table:
        """`(elements,)`: how many threads hold each element."""
        if self.replicas == 1:
            return np.ones(prod(self.shape), dtype=np.int64)
        owners = np.sort(self.thread_table.reshape(self.replicas, -1), axis=0)
        return 1 + np.count_nonzero(owners[1:] != owners[:-1], axis=0)

    @cached_property
    def is_fully_replicated(self) -> bool:
        """Whether every thread of the block holds every element."""
        if self.replicas == self.threads and self.thread == REPLICA:
            return True
        return bool((self.owner_counts == self.threads).all())

    def same_function(self, other: FragmentMap) -> bool:
        """Whether both put every element into the same slot of the same set of threads."""
        if self.shape != other.shape or not np.array_equal(self.slot_table, other.slot_table):
            return False
        return np.array_equal(_owners(self), _owners(other))

    def __str__(self) -> str:
        names = ", ".join(f"d{k}" for k in range(len(self.shape)))
        copies = f"[{self.replicas} copies s0]" if self.replicas > 1 else ""
        return f"({names}){copies} -> (thread {self.thread}, slot {self.slot})"


def fully_replicated(shape: tuple[int, ...], threads: int) -> FragmentMap:
    """Return the map where every thread holds every element, in row-major order."""
    slot = linearized(variables_of_box(len(shape)), shape)
    thread = REPLICA if threads > 1 else 0
    return FragmentMap(shape, thread, simplified(slot, shape), threads, threads)


def _owners(fragment: FragmentMap) -> NDArray[np.bool_]:
    """`(elements, threads)`: which threads hold each element."""
    result = np.zeros((fragment.slot_table.size, fragment.threads), dtype=bool)
    for threads in fragment.thread_table:
        result[np.arange(result.shape[0]), threads.ravel()] = True
    return result
