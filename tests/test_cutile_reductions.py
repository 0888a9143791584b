# pyright: basic, reportInvalidTypeForm=false
"""Reductions of all of a tile, without an axis, are those along the dimension that it has."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas

ct = pytest.importorskip("cuda.tile")

ConstInt = ct.Constant[int]
PADDED = ct.PaddingMode.NEG_INF


@ct.kernel
def softmax_along(x: Any, y: Any, columns: ConstInt) -> None:
    """The usual form: a row is a matrix of one row, and keeps its dimensions."""
    row = ct.load(x, (ct.bid(0), 0), (1, columns), padding_mode=PADDED)
    e = ct.exp(row - ct.max(row, axis=1, keepdims=True))
    ct.store(y, (ct.bid(0), 0), e / ct.sum(e, axis=1, keepdims=True))


@ct.kernel
def softmax_of_all(x: Any, y: Any, columns: ConstInt) -> None:
    """The largest element and the sum are scalars."""
    row = ct.load(x, (ct.bid(0), 0), (1, columns), padding_mode=PADDED)
    e = ct.exp(row - ct.max(row))
    ct.store(y, (ct.bid(0), 0), e / ct.sum(e))


@ct.kernel
def softmax_flat(x: Any, y: Any, columns: ConstInt) -> None:
    """A row is a vector."""
    row = ct.load(x, (ct.bid(0), 0), (1, columns), padding_mode=PADDED).reshape((columns,))
    e = ct.exp(row - ct.max(row))
    ct.store(y, (ct.bid(0), 0), (e / ct.sum(e)).reshape((1, columns)))


@ct.kernel
def largest(x: Any, y: Any, where: Any) -> None:
    """The largest of a matrix of one row, and where it is."""
    tile = ct.load(x, (ct.bid(0), 0), (1, 256))
    ct.store(y, (ct.bid(0),), ct.max(tile))
    ct.store(where, (ct.bid(0),), ct.argmax(tile.reshape((256,)), axis=0).astype(ct.int32))


def _barriers(ptx: str) -> int:
    return len(re.findall(r"\bbar(?:rier)?\.sync", ptx))


@pytest.mark.parametrize("form", [softmax_along, softmax_of_all, softmax_flat])
@pytest.mark.parametrize("columns", [2048, 8192])
def test_softmax_in_three_forms(form: Any, columns: int) -> None:
    """Rows of 8,192 elements of f32 are computed chunk by chunk in each form."""
    extent = columns * 125 // 128
    x = np.random.default_rng(3).standard_normal((2, extent)).astype(np.float32)
    kernel = tileas.compile(form, x, np.zeros_like(x), columns, target="sm_90a")
    done = kernel.emulate(x, np.zeros_like(x), columns, grid=2)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(done.arrays[1], e / e.sum(axis=1, keepdims=True), rtol=2e-6)
    assert not done.findings
    usual = tileas.compile(softmax_along, x, np.zeros_like(x), columns, target="sm_90a")
    assert _barriers(kernel.ptx) == _barriers(usual.ptx)


def test_the_largest_of_all() -> None:
    x = np.random.default_rng(4).standard_normal((3, 256)).astype(np.float32)
    y, where = np.zeros(3, np.float32), np.zeros(3, np.int32)
    kernel = tileas.compile(largest, x, y, where, target="sm_90a")
    done = kernel.emulate(x, y, where, grid=3)
    np.testing.assert_array_equal(done.arrays[1], x.max(axis=1))
    np.testing.assert_array_equal(done.arrays[2], x.argmax(axis=1))
