"""Warps exchange lines that all of them compute without waiting for one another."""

import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct

from tileas_xdsl.compiler import compile

ConstInt = ct.Constant[int]
TILE, D = 128, 64


@ct.kernel
def distant(q: Any, k: Any, v: Any, slopes: Any, out: Any, tile: ConstInt, d: ConstInt) -> None:
    """Attention whose scores have a slope times the number of the key added."""
    mine, slope = ct.load(q, (ct.bid(0), 0), (tile, d)), ct.load(slopes, (0,), ())
    most = ct.full((tile, 1), -math.inf, dtype=ct.float32)
    total = ct.zeros((tile, 1), dtype=ct.float32)
    acc = ct.zeros((tile, d), dtype=ct.float32)
    for j in range(ct.cdiv(k.shape[0], tile)):
        keys = ct.load(k, (j, 0), (tile, d))
        scores = ct.mma(mine, ct.transpose(keys), ct.zeros((tile, tile), dtype=ct.float32))
        columns = j * tile + ct.arange(tile, dtype=ct.int32)[None, :]
        scores = scores * 0.125 + slope * ct.astype(columns, ct.float32)
        largest = ct.maximum(most, ct.max(scores, axis=1, keepdims=True))
        powers = ct.exp2(scores - largest, flush_to_zero=True)
        fading = ct.exp2(most - largest, flush_to_zero=True)
        total = total * fading + ct.sum(powers, axis=1, keepdims=True)
        values = ct.load(v, (j, 0), (tile, d))
        acc = ct.mma(ct.astype(powers, v.dtype), values, acc * fading)
        most = largest
    ct.store(out, (ct.bid(0), 0), ct.astype(acc / total, out.dtype))


def test_a_line_has_no_barrier_of_all_warps() -> None:
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((2 * TILE, D)).astype(np.float16) for _ in "qkv")
    slopes, out = np.array([0.05], np.float32), np.full_like(q, np.nan)
    args = (q, k, v, slopes, out, TILE, D)
    found = compile(distant, *args, target="sm_90a")
    assert "bar.warp.sync" in found.ptx
    ran = found.emulate(*args, grid=2)
    assert not ran.findings
    scores = q.astype(np.float64) @ k.astype(np.float64).T * 0.125 + 0.05 * np.arange(2 * TILE)
    powers = np.exp2(scores - scores.max(axis=1, keepdims=True))
    exact = powers / powers.sum(axis=1, keepdims=True) @ v.astype(np.float64)
    np.testing.assert_allclose(ran.arrays[4].astype(np.float64), exact, atol=4e-3)
