"""Who holds the elements of a fragment, or runs the iterations of a loop, and where.

>>> from xdsl.ir.affine import AffineExpr
>>> i, j = AffineExpr.dimension(0), AffineExpr.dimension(1)
>>> owners = FragmentMap((4, 16), i * 16 + j, AffineExpr.constant(0), threads=64)
>>> int(owners.thread_table[0, 2, 5])
37
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from xdsl.ir.affine import AffineExpr

from tileas_xdsl.inference.texts import text_of

Table = NDArray[np.int64]


@dataclass(frozen=True)
class FragmentMap:
    """Coordinates in a box of extents `shape`, and a replica, to a thread and a slot of it.

    `thread` is an expression over the dimensions (the coordinates) and symbol 0, the replica in
    `range(replicas)`; `slot`, the place among the registers of the thread, over the dimensions
    alone.  Both are quasi-affine: sums, multiples, `floordiv` and `mod` by constants.  `threads`
    is the size of the block; threads that hold nothing are idle.
    """

    shape: tuple[int, ...]
    thread: AffineExpr
    slot: AffineExpr
    threads: int
    replicas: int = 1

    @cached_property
    def thread_table(self) -> Table:
        """`(replicas, *shape)`: the thread that holds each copy of each element."""
        coordinates = coordinates_of((self.replicas, *self.shape))
        return _evaluated(
            self.thread, coordinates[1:], coordinates[:1], (self.replicas, *self.shape)
        )

    @cached_property
    def slot_table(self) -> Table:
        """`shape`: the slot that holds each element, the same in all its threads."""
        return _evaluated(self.slot, coordinates_of(self.shape), (), self.shape)

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
        thread, slot = text_of(self.thread), text_of(self.slot)
        return f"({names}){copies} -> (thread {thread}, slot {slot})"


def coordinates_of(shape: tuple[int, ...]) -> tuple[Table, ...]:
    """One array per dimension, which broadcast to `shape`: the coordinates of all its points."""
    return tuple(np.ix_(*(np.arange(extent, dtype=np.int64) for extent in shape)))


def _evaluated(
    expression: AffineExpr,
    dimensions: tuple[Table, ...],
    symbols: tuple[Table, ...],
    shape: tuple[int, ...],
) -> Table:
    values = expression.eval(dimensions, symbols)  # pyright: ignore[reportArgumentType]
    return np.ascontiguousarray(np.broadcast_to(np.asarray(values, dtype=np.int64), shape))


def _owners(fragment: FragmentMap) -> NDArray[np.bool_]:
    """`(elements, threads)`: which threads hold each element."""
    result = np.zeros((fragment.slot_table.size, fragment.threads), dtype=bool)
    for threads in fragment.thread_table:
        result[np.arange(result.shape[0]), threads.ravel()] = True
    return result
