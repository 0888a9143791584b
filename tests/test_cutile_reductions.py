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


@ct.kernel
def largest_and_sum(x: Any, y: Any, total: Any) -> None:
    """Of all of a tile of three dimensions."""
    tile = ct.load(x, (ct.bid(0), 0, 0), (4, 8, 64))
    ct.store(y, (ct.bid(0),), ct.max(tile))
    ct.store(total, (ct.bid(0),), ct.sum(tile))


def test_all_of_several_dimensions_meet_at_one_barrier() -> None:
    """Shuffles reduce the innermost dimension first; one barrier is left for the rest."""
    x = np.random.default_rng(5).standard_normal((8, 8, 64)).astype(np.float32)
    y, total = np.zeros(2, np.float32), np.zeros(2, np.float32)
    kernel = tileas.compile(largest_and_sum, x, y, total, target="sm_90a")
    assert _barriers(kernel.ptx) == 2
    done = kernel.emulate(x, y, total, grid=2)
    np.testing.assert_array_equal(done.arrays[1], x.reshape(2, -1).max(axis=1))
    np.testing.assert_allclose(done.arrays[2], x.reshape(2, -1).sum(axis=1, dtype=float), atol=1e-4)
    assert not done.findings


@ct.kernel
def escape_times(y: Any, limit: int) -> None:
    """Rounds until z * z + c leaves a circle, of a tile at once."""
    real = (ct.arange(64, dtype=ct.float32) / 32.0 - 1.5)[None, :] + ct.zeros((8, 64), ct.float32)
    imaginary = (ct.arange(8, dtype=ct.float32) / 8.0)[:, None] + ct.zeros((8, 64), ct.float32)
    a, b = ct.zeros((8, 64), ct.float32), ct.zeros((8, 64), ct.float32)
    rounds, k = ct.zeros((8, 64), ct.int32), 0
    while k < limit:
        inside = a * a + b * b <= 4.0
        if ct.max(ct.astype(inside, ct.int32)) == 0:
            break
        rounds = rounds + ct.astype(inside, ct.int32)
        a, b = (
            ct.where(inside, a * a - b * b + real, a),
            ct.where(inside, 2.0 * a * b + imaginary, b),
        )
        k = k + 1
    ct.store(y, (0, 0), rounds)


@pytest.mark.parametrize("limit", [0, 9])
def test_tiles_that_a_while_loop_carries_keep_their_registers(limit: int) -> None:
    """Constants begin in the layout of what the rounds give: no round goes through memory."""
    y = np.full((8, 64), -1, np.int32)
    kernel = tileas.compile(escape_times, y, limit, target="sm_90a")
    found = kernel.emulate(y, limit)
    assert not found.findings
    c = np.arange(64)[None, :] / 32 - 1.5 + 1j * np.arange(8)[:, None] / 8
    z, wanted = np.zeros((8, 64), complex), np.zeros((8, 64), int)
    for _ in range(limit):
        inside = abs(z) ** 2 <= 4
        z, wanted = np.where(inside, z * z + c, z), wanted + inside
    np.testing.assert_array_equal(found.arrays[0], wanted)
    assert ".shared." not in kernel.ptx[kernel.ptx.index("$L3") :]
