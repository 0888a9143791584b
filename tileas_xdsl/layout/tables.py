"""Layouts evaluated as numpy tables: the referee of every question about a layout.

A table is a read-only `int64` array of `size(layout)` offsets, indexed by the colexicographic index
of the coordinate (the first mode varies fastest). Injectivity, inverses and ownership are decided
on tables, by enumeration, where a formula would need a proof:

>>> table(Layout((2, 3), (3, 1))).tolist()
[0, 3, 1, 4, 2, 5]
>>> scatter_inverse(Layout((2, 3), (3, 1))).tolist()
[0, 2, 4, 1, 3, 5]
>>> collision(Layout((2, 3), (1, 1)))
(1, 2)

Tables of layouts, and what is decided on them, are cached by value: equal layouts are made over and
over, in one kernel and in the next.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.layout.axes import ANONYMOUS, coefficient_of
from tileas_xdsl.layout.composed import AnyLayout, ComposedLayout
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.swizzle import Swizzle

Table: TypeAlias = NDArray[np.int64]

MAX_POINTS = 1 << 26
"""The largest table that is built: 64 Mi offsets, 512 MiB."""

MAX_OFFSET = (1 << 63) - 1
"""The largest offset that a table holds."""


@lru_cache(maxsize=256)
def table(layout: AnyLayout, axis: str = ANONYMOUS) -> Table:
    """The offsets of all coordinates of `layout` along `axis`, in colexicographic order."""
    if layout.size() > MAX_POINTS:
        raise LayoutError(f"{layout} has {layout.size()} points: a table holds {MAX_POINTS}")
    if isinstance(layout, ComposedLayout):
        result = evaluate(layout.outer, _moved(layout, table(layout.inner)), axis)
    else:
        result = _plain_table(layout, axis)
    result.flags.writeable = False
    return result


def _plain_table(layout: Layout, axis: str) -> Table:
    modes = [(s, coefficient_of(d, axis)) for s, d in layout.leaves() if s > 1]
    check_offset(sum((s - 1) * abs(k) for s, k in modes), layout)
    result = np.zeros(1, dtype=np.int64)
    for s, k in modes:
        steps = np.arange(s, dtype=np.int64) * k
        result = (steps[:, None] + result).ravel()
    return result


def _moved(layout: ComposedLayout, inner: Table) -> Table:
    """What the outer layout is applied to, for offsets of the inner one."""
    check_offset(abs(layout.offset) + _furthest(inner), layout)
    return inner + layout.offset


def _furthest(values: Table) -> int:
    return max(-int(values.min()), int(values.max())) if values.size else 0


def check_offset(reach: int, layout: object) -> None:
    """Raise `LayoutError` where offsets of `layout` up to `reach` would wrap around in a table."""
    if reach > MAX_OFFSET:
        raise LayoutError(f"{layout} reaches {reach}: a table holds offsets up to {MAX_OFFSET}")


def evaluate(f: Swizzle | AnyLayout, indices: Table, axis: str = ANONYMOUS) -> Table:
    """`f(i)` for an array of indices, also beyond the size of `f` (the last mode is unbounded)."""
    if isinstance(f, Swizzle):
        return f(indices)
    if isinstance(f, ComposedLayout):
        return evaluate(f.outer, _moved(f, evaluate(f.inner, indices)), axis)
    return np.sign(indices) * _evaluated(f, np.abs(indices), axis)


def _evaluated(layout: Layout, rest: Table, axis: str) -> Table:
    """The offsets of indices that are not negative."""
    result = np.zeros_like(rest)
    leaves = layout.leaves()
    left, reach = _furthest(rest), 0
    for k, (s, d) in enumerate(leaves):
        digit, largest = rest, left
        if k < len(leaves) - 1 and s <= left:
            rest, digit = np.divmod(rest, s)
            left, largest = left // s, s - 1
        elif k < len(leaves) - 1:
            rest, left = np.zeros_like(rest), 0
        reach += largest * abs(coefficient_of(d, axis))
        check_offset(reach, layout)
        if largest:
            result += digit * coefficient_of(d, axis)
    return result


def flat_table(layout: AnyLayout) -> Table:
    """One integer per coordinate that is equal exactly where the offsets are equal on all axes."""
    first, *others = layout.axes() or (ANONYMOUS,)
    key = _from_zero(layout, first)
    for axis in others:
        key = _joined(key, _from_zero(layout, axis))
    return key


def _from_zero(layout: AnyLayout, axis: str) -> Table:
    offsets = table(layout, axis)
    low = int(offsets.min())
    check_offset(int(offsets.max()) - low, layout)
    return offsets - low


def _joined(key: Table, offsets: Table) -> Table:
    """One integer for each pair; tables that would wrap around are counted by rank instead."""
    extent = int(offsets.max()) + 1
    if (int(key.max()) + 1) * extent > MAX_OFFSET:
        key, offsets = _ranks(key), _ranks(offsets)
        extent = int(offsets.max()) + 1
    return key * extent + offsets


def _ranks(values: Table) -> Table:
    return np.unique(values, return_inverse=True)[1].astype(np.int64).ravel()


def image(layout: AnyLayout, axis: str = ANONYMOUS) -> Table:
    """The distinct offsets along `axis`, ascending."""
    return np.unique(table(layout, axis))


@lru_cache(maxsize=1024)
def is_injective(layout: AnyLayout) -> bool:
    """Whether no two coordinates share an offset."""
    keys = flat_table(layout)
    if keys.max() > 16 * keys.size:
        return len(np.unique(keys)) == keys.size
    return int(np.bincount(keys).max()) == 1


@lru_cache(maxsize=1024)
def collision(layout: AnyLayout) -> tuple[int, int] | None:
    """The first two indices that share an offset; None for an injective layout."""
    keys = flat_table(layout)
    order = np.argsort(keys, kind="stable")
    equal = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if not equal.size:
        return None
    second = int(order[equal + 1].min())
    first = int(np.flatnonzero(keys == keys[second])[0])
    return first, second


def scatter_inverse(layout: AnyLayout) -> Table:
    """For each offset below the cosize the index that maps there, -1 for none.

    Raises `LayoutError` when two indices map to one offset, naming them.
    """
    offsets = table(layout)
    pair = collision(layout)
    if pair is not None:
        raise LayoutError(
            f"{layout} has no inverse: indices {pair[0]} and {pair[1]} both map to "
            f"{offsets[pair[0]]}"
        )
    if offsets.min() < 0:
        raise LayoutError(f"{layout} has negative offsets: an inverse table starts at 0")
    length = int(offsets.max()) + 1
    if length > MAX_POINTS:
        raise LayoutError(f"an inverse of {layout} has {length} entries: a table {MAX_POINTS}")
    result = np.full(length, -1, dtype=np.int64)
    result[offsets] = np.arange(layout.size())
    return result


@lru_cache(maxsize=256)
def holds(fragment: Layout, thread: str, value: str, threads: int, values: int) -> Table:
    """`(threads, values)`: the index that each register of each thread holds, -1 for none.

    `fragment` maps an index to axes `thread` and `value` and must be injective; replicas are
    indices of an extra input mode.
    """
    if threads * values > MAX_POINTS:
        raise LayoutError(
            f"{threads} threads of {values} registers are {threads * values} places: "
            f"a table holds {MAX_POINTS}"
        )
    if not is_injective(fragment):
        first, second = collision(fragment) or (0, 0)
        raise LayoutError(f"{fragment} puts indices {first} and {second} in one register")
    t, v = table(fragment, thread), table(fragment, value)
    if t.min() < 0 or v.min() < 0 or t.max() >= threads or v.max() >= values:
        raise LayoutError(f"{fragment} does not fit {threads} threads of {values} registers")
    result = np.full((threads, values), -1, dtype=np.int64)
    result[t, v] = np.arange(fragment.size())
    result.flags.writeable = False
    return result
