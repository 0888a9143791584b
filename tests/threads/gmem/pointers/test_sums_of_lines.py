# pyright: basic, reportInvalidTypeForm=false
"""Sums that a reduction leaves in many threads each are added to memory once, by vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas

ct = pytest.importorskip("cuda.tile")

ConstInt = ct.Constant[int]


@ct.kernel
def add_and_sum_columns(
    x: Any, y: Any, z: Any, sums: Any, rows: ConstInt, columns: ConstInt
) -> None:
    """The sum of two matrices, and those of its columns."""
    i, j = ct.bid(0), ct.bid(1)
    tile = ct.load(x, (i, j), (rows, columns)) + ct.load(y, (i, j), (rows, columns))
    ct.store(z, (i, j), tile)
    at = j * columns + ct.arange(columns, dtype=ct.int32)
    ct.atomic_add(sums, (at,), ct.sum(ct.astype(tile, ct.float32), axis=0))


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_columns_are_added_by_vectors_behind_one_fence(target: str) -> None:
    """No access is ordered behind the sums, so that no acquire fence is needed."""
    rng = np.random.default_rng(7)
    x, y = (rng.integers(-9, 9, (128, 208)).astype(np.float16) for _ in range(2))
    args = (x, y, np.zeros_like(x), np.zeros(208, np.float32), 64, 128)
    kernel = tileas.compile(add_and_sum_columns, *args, target=target)
    assert kernel.ptx.count("red.relaxed.gpu.global.add.v4.f32") == kernel.ptx.count("red.relaxed")
    assert kernel.ptx.count("fence.acq_rel.gpu") == 1
    found = kernel.emulate(*args, grid=(2, 2, 1), order="random")
    assert not found.findings
    np.testing.assert_array_equal(found.arrays[2], x + y)
    np.testing.assert_array_equal(found.arrays[3], (x + y).astype(np.float32).sum(axis=0))
