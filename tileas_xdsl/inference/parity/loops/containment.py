"""Whether one layout's threads contain another's, at every iteration of a loop."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.default_slots import with_replica_last
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.parity.conflicts import LayoutConflict
from tileas_xdsl.inference.parity.loops.fragment_access import FragmentUse, LoopUses
from tileas_xdsl.layout.expr.expression import Number, dimension, dimensions_of, symbols_of
from tileas_xdsl.layout.expr.tables import Table, table_of

PAIRS_AT_ONCE = 1 << 22
"""Comparisons of replicas of one layout with replicas of another that one array holds."""


@dataclass(frozen=True)
class Threads:
    """The threads at each point of a box: an expression whose last dimension is the replica.

    `is_full`: every slot of every thread of the layout holds something, so that it has an inverse.
    """

    thread: Number
    replicas: int
    is_full: bool

    def is_everywhere(self, rank: int) -> bool:
        """Whether the replica is the thread."""
        return self.thread == dimension(rank)


def contains(small: Threads, large: Threads, extents: Sequence[int]) -> bool:
    """Whether at each point of a box every thread of `small` is one of `large`.

    An expression that depends on a value of the program contains nothing but itself.  Raises
    LayoutConflict where `large` has no inverse.
    """
    return _contains(small, large, tuple(extents))


def layout_contains(small: FragmentMap, large: FragmentMap) -> bool:
    """Whether every element that a thread holds in `small` it holds in `large`."""
    return contains(_threads(small), _threads(large), small.shape)


def is_compatible(
    loop: LoopUses, owners: FragmentMap, use: FragmentUse, layout: FragmentMap
) -> bool:
    """Whether each iteration runs where its element is; a write must reach every copy of it."""
    first = runs(loop, owners)
    second = Threads(loop.thread_at(use, layout), layout.replicas, is_full(layout))
    if use.is_read and not contains(first, second, loop.extents):
        return False
    if not use.is_write:
        return True
    both = ((second, first), (first, second))
    return all(contains(small, large, loop.extents) for small, large in both)


def runs(loop: LoopUses, owners: FragmentMap) -> Threads:
    """The threads that run each iteration."""
    return Threads(loop.thread_of(owners), owners.replicas, is_full(owners))


def _threads(layout: FragmentMap) -> Threads:
    thread = with_replica_last(layout.thread, len(layout.shape))
    return Threads(thread, layout.replicas, is_full(layout))


def has_inverse(layout: FragmentMap) -> bool:
    """Whether the threads from 0 to the last one have something in every slot, without gaps."""
    return (int(layout.thread_table.max()) + 1) * layout.slots == layout.thread_table.size


@lru_cache(maxsize=1 << 12)
def is_full(layout: FragmentMap) -> bool:
    """Whether each thread that holds anything has something in every slot."""
    threads = np.count_nonzero(np.bincount(layout.thread_table.ravel()))
    return int(threads) * layout.slots == layout.thread_table.size


@lru_cache(maxsize=1 << 14)
def _contains(small: Threads, large: Threads, extents: tuple[int, ...]) -> bool:
    rank = len(extents)
    if large.is_everywhere(rank):
        return True
    if not large.is_full:
        raise LayoutConflict(
            f"some threads of ({large.thread}) are a round short: such a layout has no inverse"
        )
    if small.thread == large.thread and small.replicas <= large.replicas:
        return True
    if symbols_of(small.thread) or symbols_of(large.thread):
        return False
    used = dimensions_of(small.thread) | dimensions_of(large.thread)
    box = tuple(extent if k in used else 1 for k, extent in enumerate(extents))
    first, second = _table(small, box), _table(large, box)
    step = max(1, PAIRS_AT_ONCE // (len(second) * first.shape[1]))
    return all(
        bool((first[start : start + step, None] == second[None]).any(axis=1).all())
        for start in range(0, len(first), step)
    )


def _table(threads: Threads, box: tuple[int, ...]) -> Table:
    """`(replicas, points)`."""
    shape = (*box, threads.replicas)
    table = table_of(threads.thread, shape)
    return np.ascontiguousarray(table.reshape(-1, threads.replicas).T)
