# pyright: basic
"""Rows that begin and end between vectors, and do not wrap around: their ends have no branches."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct

from tests.support.compiling import OfRows, specialized

GRID = 9


@ct.kernel
def shifted(x: Any, y: Any, rows: ct.Constant[int], columns: ct.Constant[int]) -> None:
    """Rows less their maxima, less the sum of that and of 1 for each column behind the row."""
    i, count = ct.bid(0), x.shape[1]
    tile = ct.load(x, (i, 0), (rows, columns), padding_mode=ct.PaddingMode.NEG_INF)
    tile = ct.astype(tile, ct.float32)
    less = tile - ct.max(tile, axis=1, keepdims=True)
    inside = ct.arange(columns, dtype=ct.int32) < count
    total = ct.sum(ct.where(inside, less, 1.0), axis=1, keepdims=True)
    ct.store(y, (i, 0), ct.astype(less - total, y.dtype))


@pytest.mark.parametrize("first", [0, 1, 3, 7])
@pytest.mark.parametrize(
    ("element", "columns", "rows"),
    [
        (np.float16, 1001, 1),
        (np.float16, 1008, 4),
        (np.float16, 770, 2),
        (np.float32, 1003, 1),
    ],
)
def test_rows_are_right_wherever_they_begin(
    element: Any, columns: int, rows: int, first: int
) -> None:
    """From any element of a vector on; the last tile has rows that are not in the array."""
    width = 1 << (columns - 1).bit_length()
    count = GRID * rows - rows // 2
    memory = np.random.default_rng(first).integers(-9, 9, (count, columns + 9)).astype(element)
    x = memory[:, first : first + columns]
    y = np.full((count, columns), 77, np.float32)
    args = (x, y, rows, width)
    ran = specialized(shifted, *args, choose=OfRows(columns)).emulate(*args, grid=GRID)
    assert not ran.findings
    less = x.astype(np.float32) - x.max(axis=1, keepdims=True).astype(np.float32)
    total = less.sum(axis=1, keepdims=True) + (width - columns)
    np.testing.assert_array_equal(ran.arrays[1], less - total)


def test_words_are_masked_and_no_column_wraps_around() -> None:
    """Of 1,001 columns; rows of 1,020 reach the end of their tile from some elements on."""
    found = []
    for columns in (1001, 1020):
        x = np.zeros((8, columns), np.float16)
        args = (x, np.zeros_like(x), 1, 1024)
        kernel = specialized(shifted, *args, choose=OfRows(columns))
        found.append(len(re.findall(r"and\.b32 %r\d+, %r\d+, 1023;", kernel.ptx)))
    assert found[0] == 0 < found[1]
