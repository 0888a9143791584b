# pyright: basic, reportInvalidTypeForm=false
"""`join-neighbouring-loads`: vectors at the edges of images are loaded whole or not at all."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas
from tileas_xdsl.compiled_kernel import CompiledKernel

ct = pytest.importorskip("cuda.tile")

ConstInt = ct.Constant[int]

PADDING = 7
ROWS, COLUMNS = 8, 64


@ct.kernel
def weighted(x: Any, y: Any, rows: ConstInt, columns: ConstInt) -> None:
    """Nine taps of each image, with a border that is no zero."""
    image, i, j = ct.bid(0), ct.bid(1), ct.bid(2)
    row = i * rows + ct.arange(rows, dtype=ct.int32)[:, None]
    column = j * columns + ct.arange(columns, dtype=ct.int32)[None, :]
    total = ct.zeros((rows, columns), dtype=ct.float32)
    for dy in ct.static_iter(range(3)):
        for dx in ct.static_iter(range(3)):
            place = (image, row + (dy - 1), column + (dx - 1))
            tap = ct.gather(x, place, padding_value=PADDING)
            total += ct.astype(tap, ct.float32) * (1 + dy * 3 + dx)
    ct.store(y, (image, i, j), total[None])


def _images(dtype: Any, height: int, width: int) -> np.ndarray:
    """Rows of 48 elements or more of which the image has the first ones."""
    wide = np.random.default_rng(height).integers(0, 50, (2, height, max(48, width))).astype(dtype)
    return wide[:, :, :width]


@cache
def _compiled(dtype: Any) -> CompiledKernel:
    x, y = _images(dtype, 9, 37), _images(np.float32, 9, 37)
    return tileas.compile(weighted, x, y, ROWS, COLUMNS, target="sm_90a")


@pytest.mark.parametrize("dtype", [np.float16, np.uint8, np.int8])
@pytest.mark.parametrize(("height", "width"), [(9, 40), (3, 48), (8, 37), (5, 3), (1, 1)])
def test_edges_have_the_elements_of_each_alone(dtype: Any, height: int, width: int) -> None:
    """Widths that end with a vector, within one, and before the first one ends."""
    x, y = _images(dtype, height, width), _images(np.float32, height, width)
    kernel = _compiled(dtype)
    assert re.search(r"@%p\d+ ld\.global\.(v\d\.)?b32", kernel.ptx)
    found = kernel.emulate(x, y, ROWS, COLUMNS, grid=(2, -(-height // ROWS), 1))
    assert not found.findings
    padded = np.pad(x.astype(np.float32), ((0, 0), (1, 1), (1, 1)), constant_values=PADDING)
    taps = [padded[:, k // 3 :, k % 3 :][:, :height, :width] for k in range(9)]
    np.testing.assert_array_equal(found.arrays[1], sum((1 + k) * tap for k, tap in enumerate(taps)))
