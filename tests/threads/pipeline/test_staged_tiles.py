"""Vectors in the stages of a pipeline beside matrices: scales along K of a product's operand."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileas_xdsl as tileas
from tests.support.plain_checks import TARGETS

ct = pytest.importorskip("cuda.tile")

ConstInt = ct.Constant[int]


@ct.kernel
def scaled_along_k(a, factors, b, c, tm: ConstInt, tn: ConstInt, tk: ConstInt):
    i, zero = ct.bid(0), ct.PaddingMode.ZERO
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], tk)):
        x = ct.load(a, (i, k), (tm, tk), padding_mode=zero).astype(ct.float32)
        factor = ct.load(factors, (k,), (tk,), padding_mode=zero).astype(ct.float32)
        y = ct.load(b, (k, 0), (tk, tn), padding_mode=zero)
        acc = ct.mma((x * factor[None, :]).astype(b.dtype), y, acc)
    ct.store(c, (i, 0), acc)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("element", "factor", "k", "tk"),
    [
        (np.float16, np.float32, 200, 64),
        (ml_dtypes.bfloat16, ml_dtypes.bfloat16, 96, 32),
        (np.float16, np.float32, 256, 128),
        (ml_dtypes.bfloat16, np.float32, 40, 16),
    ],
)
def test_factors_along_k(target: str, element: Any, factor: Any, k: int, tk: int) -> None:
    rng = np.random.default_rng(k)
    a = rng.standard_normal((64, k)).astype(element)
    b = rng.standard_normal((k, 64)).astype(element)
    factors = rng.uniform(0.5, 2, k).astype(factor)
    c = np.full((64, 64), np.nan, np.float32)
    kernel = tileas.compile(scaled_along_k, a, factors, b, c, 64, 64, tk, target=target)
    assert "cp.async.bulk.tensor.1d" in kernel.ptx
    run = kernel.emulate(a, factors, b, c, 64, 64, tk, grid=1)
    assert not run.findings
    operand = (a.astype(np.float32) * factors.astype(np.float32)).astype(element)
    wanted = operand.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(np.asarray(run.arrays[3]), wanted, rtol=1e-4, atol=1e-3)
