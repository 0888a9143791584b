"""Whether the threads of one layout are among those of another, at every iteration of a loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineSymExpr

from tileas_xdsl.inference.fragment_map import FragmentMap, Table, coordinates_of
from tileas_xdsl.inference.parity.accesses import LoopUses, Use
from tileas_xdsl.inference.simplify import variables_of

PAIRS_AT_ONCE = 1 << 22
"""Comparisons of replicas of one layout with replicas of another that one array holds."""


@dataclass(frozen=True)
class Threads:
    """The threads at each point of a box: an expression whose last dimension is the replica."""

    thread: AffineExpr
    replicas: int

    def is_everywhere(self, rank: int) -> bool:
        """Whether the replica is the thread."""
        return self.thread == AffineDimExpr(rank)


def contains(small: Threads, large: Threads, extents: Sequence[int]) -> bool:
    """Whether at each point of a box every thread of `small` is one of `large`.

    An expression that depends on a value of the program contains nothing but itself.
    """
    return _contains(small, large, tuple(extents))


def layout_contains(small: FragmentMap, large: FragmentMap) -> bool:
    """Whether every element that a thread holds in `small` it holds in `large`."""
    rank = len(small.shape)
    return contains(_threads(small, rank), _threads(large, rank), small.shape)


def is_compatible(loop: LoopUses, owners: FragmentMap, use: Use, layout: FragmentMap) -> bool:
    """Whether each iteration runs where its element is; a write must reach every copy of it."""
    runs = Threads(loop.thread_of(owners), owners.replicas)
    holds = Threads(loop.thread_at(use, layout), layout.replicas)
    if not contains(runs, holds, loop.extents):
        return False
    return not use.is_write or contains(holds, runs, loop.extents)


def _threads(layout: FragmentMap, rank: int) -> Threads:
    dimensions = [AffineExpr.dimension(k) for k in range(rank)]
    replica = AffineExpr.dimension(rank)
    return Threads(layout.thread.replace_dims_and_symbols(dimensions, [replica]), layout.replicas)


@lru_cache(maxsize=1 << 14)
def _contains(small: Threads, large: Threads, extents: tuple[int, ...]) -> bool:
    rank = len(extents)
    if large.is_everywhere(rank):
        return True
    if small.thread == large.thread and small.replicas <= large.replicas:
        return True
    if any(isinstance(e, AffineSymExpr) for t in (small, large) for e in t.thread.dfs()):
        return False
    used = variables_of(small.thread) | variables_of(large.thread)
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
    coordinates = coordinates_of(shape)
    values = threads.thread.eval(coordinates, [])  # pyright: ignore[reportArgumentType]
    table = np.broadcast_to(np.asarray(values, dtype=np.int64), shape)
    return np.ascontiguousarray(table.reshape(-1, threads.replicas).T)
