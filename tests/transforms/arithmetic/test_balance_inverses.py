# pyright: basic
"""Silu of scores between products, a quarter of it by fused multiply-adds, is within rounding."""

from __future__ import annotations

import numpy as np
import pytest

import tileas_xdsl as tileas
from tileas_xdsl.transforms.arithmetic.balance_inverses import EXPONENTS, LARGEST, STEPS

ct = pytest.importorskip("cuda.tile")

ConstInt = ct.Constant[int]


def test_steps_reach_the_last_place() -> None:
    """All significands, of exponents from the least to the largest one."""
    significands = np.arange(0, 1 << 23, 7, dtype=np.uint32)
    for exponent in (-126, -1, 0, 1, 60, 125):
        b = (significands | np.uint32((127 + exponent) << 23)).view(np.float32)
        y = (np.uint32(EXPONENTS) - b.view(np.uint32)).view(np.float32).astype(np.float64)
        for _ in range(STEPS):
            step = (1 - b.astype(np.float64) * y).astype(np.float32).astype(np.float64)
            y = (step * y + y).astype(np.float32).astype(np.float64)
        assert b.max() <= LARGEST
        assert np.abs(y * b.astype(np.float64) - 1).max() < 2.0**-22


@ct.kernel
def weighted_by_silu(q, k, v, out, tm: ConstInt, tn: ConstInt, d: ConstInt):
    i = ct.bid(0)
    x = ct.load(q, (i, 0), (tm, d))
    acc = ct.zeros((tm, d), dtype=ct.float32)
    for j in range(ct.cdiv(k.shape[1], tn)):
        s = ct.mma(x, ct.load(k, (0, j), (d, tn)), ct.zeros((tm, tn), dtype=ct.float32))
        p = s / (1.0 + ct.exp(-s))
        acc = ct.mma(p.astype(v.dtype), ct.load(v, (j, 0), (tn, d)), acc)
    ct.store(out, (i, 0), acc)


@pytest.mark.parametrize("size", [1.0, 100.0])
def test_silu_of_scores(size: float) -> None:
    """Scores of some units; and those whose exponentials are infinite, or nothing."""
    rng = np.random.default_rng(0)
    q, k, v = (
        rng.standard_normal(shape).astype(np.float16) for shape in ((128, 64), (64, 256), (256, 64))
    )
    q = (q.astype(np.float32) * size).astype(np.float16)
    given = q, k, v, np.full((128, 64), np.nan, np.float32), 128, 128, 64
    kernel = tileas.compile(weighted_by_silu, *given, target="sm_90a")
    assert kernel.ptx.count("div.approx.ftz.f32") % 48 == 0
    run = kernel.emulate(*given, grid=1, order="random", seed=1)
    assert not run.findings
    scores = q.astype(np.float64) @ k.astype(np.float64)
    assert np.abs(scores).max() < 65504
    with np.errstate(over="ignore"):
        weights = (scores / (1 + np.exp(-scores))).astype(np.float16).astype(np.float64)
    wanted = weights @ v.astype(np.float64)
    sizes = np.abs(weights) @ np.abs(v.astype(np.float64))
    error = np.abs(np.asarray(run.arrays[3]) - wanted)
    assert (error <= 2.0**-10 * sizes + 1e-3).all()
