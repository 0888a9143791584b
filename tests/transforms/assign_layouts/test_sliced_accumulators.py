"""Columns of accumulators of mma.sync: fewer rows than the warpgroups of a block have together."""

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
