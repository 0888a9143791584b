"""Layouts as TileLang prints them, as tables: `forward_thread` by `_i`, `_j`, ... and `_rep`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.support.tile_loops import expression_of
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.layout.expr.tables import Table, table_of

Printed = dict[str, Any]
"""One layout of a vector file."""

NAMES = ("_i", "_j", "_k", "_l")


def place_table(printed: Printed) -> Table:
    """`shape`: the row-major number of the output coordinate of each element."""
    shape = tuple(printed["input_shape"])
    total = np.zeros(shape, dtype=np.int64)
    for text, extent in zip(printed["forward_index"], printed["output_shape"], strict=True):
        total = total * extent + _values(text, NAMES[: len(shape)], shape)
    return total


def thread_table(printed: Printed) -> Table:
    """`(replicas, *shape)`: the thread of each copy of each element."""
    shape = tuple(printed["input_shape"])
    names = ("_rep", *NAMES[: len(shape)])
    return _values(printed["forward_thread"], names, (printed["replicate"], *shape))


def assert_same(printed: Printed, layout: FragmentMap, what: str) -> None:
    """Both put every copy of every element into the same thread and slot."""
    assert tuple(printed["input_shape"]) == layout.shape, what
    assert np.array_equal(place_table(printed), layout.slot_table), f"{what}: slots of {layout}"
    assert np.array_equal(thread_table(printed), layout.thread_table), f"{what}: {layout}"


def _values(text: str, names: tuple[str, ...], shape: tuple[int, ...]) -> Table:
    return table_of(expression_of(text, names), shape)
