"""Columns of accumulators, and what is computed with them element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tileas_xdsl.compiler import compile

ct = pytest.importorskip("cuda.tile")


@ct.kernel
def scaled_in_a_loop(a: Any, sa: Any, b: Any, sb: Any, c: Any) -> None:
    """A product of scaled bytes, summed along K."""
    total = ct.zeros((128, 128), ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(128, 64))):
        x, y = ct.load(a, (0, k), (128, 64)), ct.load(b, (k, 0), (64, 128))
        p, q = ct.load(sa, (0, k), (128, 2)), ct.load(sb, (k, 0), (2, 128))
        total = ct.mma_scaled(x, p, y, q, total)
    ct.store(c, (0, 0), total)


def test_a_slice_of_accumulators_that_no_wgmma_makes_has_a_layout() -> None:
    """128 rows in 16 warps: four warpgroups would need 256."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    operand = np.zeros((128, 128), ml_dtypes.float8_e4m3fn)
    scales = np.ones((128, 4), ml_dtypes.float8_e8m0fnu)
    sums = np.zeros((128, 128), np.float32)
    compile(scaled_in_a_loop, operand, scales, operand, scales.T.copy(), sums, target="sm_90a")


@ct.kernel
def dropped_at_random(a: Any, b: Any, c: Any) -> None:
    """A product that is stored in pieces of 128 columns, zero where a hash of the place is odd."""
    total = ct.zeros((128, 256), ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(128, 64))):
        x, y = ct.load(a, (0, k), (128, 64)), ct.load(b, (k, 0), (64, 256))
        total = ct.mma(x, y, total)
    rows, columns = ct.arange(128, dtype=ct.int32), ct.arange(256, dtype=ct.int32)
    hashed = (rows[:, None] * 256 + columns[None, :]).astype(ct.uint32)
    for shift in ct.static_iter((7, 5)):
        hashed = (hashed ^ (hashed >> shift)) * 0x7FEB352D
    kept = ct.where(hashed & 65536 == 0, total, 0.0)
    ct.store(c, (0, 0), kept.astype(c.dtype))


def test_what_is_computed_of_coordinates_is_where_the_columns_are() -> None:
    """No exchange through shared memory: a slice decides about the layout of its group."""
    rng = np.random.default_rng(4)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((128, 64), (64, 256)))
    out = np.full((128, 256), np.nan, np.float16)
    kernel = compile(dropped_at_random, a, b, out, target="sm_90a")
    assert "st.shared" not in kernel.ptx
    found = kernel.emulate(a, b, out)
    assert [str(finding) for finding in found.findings] == []
    hashed = np.arange(128 * 256, dtype=np.uint32).reshape(128, 256)
    for shift in (7, 5):
        hashed = (hashed ^ (hashed >> shift)) * np.uint32(0x7FEB352D)
    expected = np.where(hashed & 65536, 0, a.astype(np.float32) @ b.astype(np.float32))
    np.testing.assert_allclose(found.arrays[2].astype(np.float32), expected, atol=0.02, rtol=2e-3)
