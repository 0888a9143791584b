"""Layouts evaluated as numpy tables: the referee of every question about a layout.

A table is a read-only `int64` array of `size(layout)` offsets, indexed by the colexicographic index
of the coordinate.  Tables of layouts are cached; treat them as constants.
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


@lru_cache(maxsize=256)
def table(layout: AnyLayout, axis: str = ANONYMOUS) -> Table:
    """The offsets of all coordinates of `layout` along `axis`, in colexicographic order."""
    if layout.size() > MAX_POINTS:
        raise LayoutError(f"{layout} has {layout.size()} points: a table holds {MAX_POINTS}")
    if isinstance(layout, ComposedLayout):
        result = evaluate(layout.outer, layout.offset + table(layout.inner))
    else:
        result = np.zeros(1, dtype=np.int64)
        for s, d in layout.leaves():
            steps = np.arange(s, dtype=np.int64) * coefficient_of(d, axis)
            result = (steps[:, None] + result).ravel()
    result.flags.writeable = False
    return result


def evaluate(f: Swizzle | AnyLayout, indices: Table, axis: str = ANONYMOUS) -> Table:
    """`f(i)` for an array of indices, also beyond the size of `f` (the last mode is unbounded)."""
    if isinstance(f, Swizzle):
        return f(indices)
    if isinstance(f, ComposedLayout):
        return evaluate(f.outer, f.offset + evaluate(f.inner, indices))
    sign = np.sign(indices)
    rest = np.abs(indices)
    result = np.zeros_like(rest)
    leaves = f.leaves()
    for k, (s, d) in enumerate(leaves):
        digit = rest
        if k < len(leaves) - 1:
            rest, digit = np.divmod(rest, s)
        result += digit * coefficient_of(d, axis)
    return result * sign


def axis_tables(layout: Layout) -> dict[str, Table]:
    """The table along each axis that `layout` mentions."""
    return {axis: table(layout, axis) for axis in layout.axes() or (ANONYMOUS,)}


def flat_table(layout: AnyLayout) -> Table:
    """One integer per coordinate that is equal exactly where the offsets are equal on all axes."""
    if isinstance(layout, ComposedLayout):
        return table(layout)
    key: Table | None = None
    for axis, extent in layout.extents().items():
        offsets = table(layout, axis)
        offsets = offsets - offsets.min()
        key = offsets if key is None else key * extent + offsets
    return np.zeros(layout.size(), dtype=np.int64) if key is None else key


def image(layout: AnyLayout, axis: str = ANONYMOUS) -> Table:
    """The distinct offsets along `axis`, ascending."""
    return np.unique(table(layout, axis))


def is_injective(layout: AnyLayout) -> bool:
    """Whether no two coordinates share an offset."""
    keys = flat_table(layout)
    keys = keys - keys.min()
    if keys.max() > 16 * keys.size:
        return len(np.unique(keys)) == keys.size
    return int(np.bincount(keys).max()) == 1


def is_bijective(layout: AnyLayout) -> bool:
    """Whether the offsets are exactly 0, 1, ..., size - 1 (integer strides)."""
    return np.array_equal(image(layout), np.arange(layout.size()))


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


def scatter_inverse(layout: AnyLayout, size: int | None = None) -> Table:
    """For each offset below `size` (default: the cosize) the index that maps there, -1 for none.

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
    length = int(offsets.max()) + 1 if size is None else size
    if length <= offsets.max():
        raise LayoutError(f"{layout} reaches offset {offsets.max()}, past an inverse of {length}")
    result = np.full(length, -1, dtype=np.int64)
    result[offsets] = np.arange(layout.size())
    return result


def holds(fragment: Layout, thread: str, value: str, threads: int, values: int) -> Table:
    """`(threads, values)`: the index that each register of each thread holds, -1 for none.

    `fragment` maps an index to axes `thread` and `value` and must be injective; replicas are
    indices of an extra input mode.
    """
    if not is_injective(fragment):
        first, second = collision(fragment) or (0, 0)
        raise LayoutError(f"{fragment} puts indices {first} and {second} in one register")
    t, v = table(fragment, thread), table(fragment, value)
    if t.min() < 0 or v.min() < 0 or t.max() >= threads or v.max() >= values:
        raise LayoutError(f"{fragment} does not fit {threads} threads of {values} registers")
    result = np.full((threads, values), -1, dtype=np.int64)
    result[t, v] = np.arange(fragment.size())
    return result
