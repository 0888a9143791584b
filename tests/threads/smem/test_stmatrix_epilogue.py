"""Accumulators are written whole to shared memory, however few columns a warpgroup has of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas

ct: Any = pytest.importorskip("cuda.tile")


@ct.kernel
def weighted(q: Any, k: Any, v: Any, y: Any, count: int, rows: ct.Constant[int]) -> None:
    """Weights of 64 keys by 16 queries are an operand; warpgroups have 8 of their columns."""
    sums = ct.zeros((rows, 16), ct.float32)
    queries = ct.load(q, (0, 0), (64, 16))
    for i in range(count):
        keys = ct.load(k, (i, 0), (64, 64))
        weights = ct.mma(keys, queries, ct.zeros((64, 16), ct.float32))
        values = ct.load(v, (0, i), (rows, 64))
        sums = ct.mma(values, ct.astype(weights, ct.float16), sums)
    ct.store(y, (0, 0), sums)


def test_eight_columns_of_a_warpgroup_are_written() -> None:
    """`stmatrix.x4` stores 16: none of 8 were stored, and products read what was there before."""
    rng, rows, count = np.random.default_rng(0), 128, 2
    q, k, v = (
        rng.integers(-2, 3, shape).astype(np.float16)
        for shape in ((64, 16), (64 * count, 64), (rows, 64 * count))
    )
    args = (q, k, v, np.zeros((rows, 16), np.float32), count, rows)
    kernel = tileas.compile(weighted, *args, target="sm_90a").divided(2)
    assert kernel.abi.threads == 3 * 128, "two warpgroups do not share the columns"
    found = kernel.emulate(*args, grid=(1, 1, 1))
    assert not found.findings
    np.testing.assert_array_equal(found.arrays[3], v @ (k @ q))
