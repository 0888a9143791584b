"""Loads are issued early only as far as shared memory holds all tiles that are live then."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import tileas_xdsl as tileas
from tests.transforms.tma_to_async.early_kernels import decoded
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import WaitOp
from tileas_xdsl.dialects.nv_tileas.tma.ops import TmaLoadBase

ROUNDS, KEYS, HEADS = 2, 128, 16


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_tiles_too_large_to_be_live_together_are_loaded_one_after_another(target: str) -> None:
    """Of 128, 16 and 128 KB in a round the first two are loaded together, the third behind them."""
    rng, rows = np.random.default_rng(3), ROUNDS * KEYS
    shapes = ((HEADS, 512), (HEADS, 64), (rows, 512), (rows, 64), (rows, 512))
    q, short_q, k, short_k, v = (
        (0.2 * rng.standard_normal(shape)).astype(np.float16) for shape in shapes
    )
    args = (q, short_q, k, short_k, v, np.full((512, HEADS), np.nan, np.float32))
    kernel = tileas.compile(decoded, *args, ROUNDS, KEYS, HEADS, target=target)
    issued = [
        isinstance(op, TmaLoadBase)
        for op in kernel.module_after("lower-tma-load-store-to-async").walk()
        if isinstance(op, TmaLoadBase | WaitOp)
    ]
    assert (True, True) in pairwise(issued)
    found = kernel.emulate(*args, ROUNDS, KEYS, HEADS)
    assert [str(finding) for finding in found.findings] == []
    q, short_q, k, short_k, v = (one.astype(np.float64) for one in args[:5])
    scores = (k @ q.T + short_k @ short_q.T).reshape(ROUNDS, KEYS, HEADS)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True)).reshape(rows, HEADS)
    np.testing.assert_allclose(found.arrays[5], v.T @ weights, atol=2e-3)
