"""Recover layouts from tables of offsets, each certified by evaluating it again.

The coalesced form of a layout is unique, so recovery along one mode is a greedy reading of digits:
a digit ends where the table stops being linear.

>>> values = np.array([0, 1, 8, 9, 16, 17, 24, 25])
>>> print(recover(values)[0])
(2,4):(1,8)
>>> recover(np.array([0, 1, 3, 2])) is None
True

Offsets under a swizzle are recovered by applying the swizzle, which is its own inverse, first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from operator import mul

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.layout.axes import ANONYMOUS, Offset, axis_sum
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import IntTuple, product_each
from tileas_xdsl.layout.layout import Layout, make_layout
from tileas_xdsl.layout.tables import Table, table

Tables = Mapping[str, Table]


def recover(values: Table | Tables, shape: IntTuple | None = None) -> tuple[Layout, Offset] | None:
    """Return the layout and the constant offset that evaluate to a table, None if there are none.

    `values` is one table, or one per axis, over the colexicographic indices of `shape` (default:
    one mode).  The modes of the result refine those of `shape`.
    """
    tables = values if isinstance(values, Mapping) else {ANONYMOUS: values}
    length = _common_length(tables)
    sizes = product_each(length if shape is None else shape)
    if np.prod(sizes, dtype=object) != length:
        raise LayoutError(f"a table of {length} entries does not have shape {shape}")
    stacked = np.stack([np.asarray(t, dtype=np.int64) for t in tables.values()])
    weights = [1, *accumulate(sizes, mul)]
    modes: list[Layout] = []
    for size, weight in zip(sizes, weights, strict=False):
        line = stacked[:, : size * weight : weight]
        mode = _recover_line(line - line[:, :1], tuple(tables))
        if mode is None:
            return None
        modes.append(mode)
    layout = make_layout(modes) if isinstance(shape, tuple) else modes[0]
    if not _certified(layout, tables):
        return None
    return layout, axis_sum([(axis, int(t[0])) for axis, t in tables.items()])


def _common_length(tables: Tables) -> int:
    lengths = {len(t) for t in tables.values()}
    if len(lengths) != 1 or 0 in lengths:
        raise LayoutError(f"tables of lengths {sorted(lengths)} describe no layout")
    return lengths.pop()


def _certified(layout: Layout, tables: Tables) -> bool:
    return all(np.array_equal(table(layout, axis), t - t[0]) for axis, t in tables.items())


def _recover_line(line: Table, axes: Sequence[str]) -> Layout | None:
    """Recover one mode from `(axes, length)` offsets from 0; None where digits do not divide."""
    shape: list[int] = []
    stride: list[Offset] = []
    while line.shape[1] > 1:
        step = line[:, 1]
        straight = step[:, None] * np.arange(line.shape[1], dtype=np.int64)
        differs: NDArray[np.bool_] = np.any(line != straight, axis=0)
        # The first entry that differs begins the next digit; argmax is 0 if there is none.
        extent = int(np.argmax(differs)) or line.shape[1]
        if line.shape[1] % extent:
            return None
        shape.append(extent)
        stride.append(axis_sum([(a, int(k)) for a, k in zip(axes, step, strict=True)]))
        line = line[:, ::extent]
    if len(shape) == 1:
        return Layout(shape[0], stride[0])
    return Layout(tuple(shape), tuple(stride)) if shape else Layout(1, 0)
