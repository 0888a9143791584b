# pyright: basic, reportInvalidTypeForm=false
"""Loads by TMA outside of pipelines: a tile is read before the next round writes there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas

ct: Any = pytest.importorskip("cuda.tile")

RNG = np.random.default_rng(3)
Int = ct.Constant[int]
FENCE = "fence.proxy.async.shared::cta"


@ct.kernel
def chosen(x: Any, w: Any, numbers: Any, y: Any, tm: Int) -> None:
    """A product with the matrix that the largest of many numbers says, which no producer finds."""
    i, acc = ct.bid(0), ct.zeros((tm, 32), ct.float32)
    at = ct.max(ct.load(numbers, 0, 256)).item()
    for k in range(ct.cdiv(x.shape[1], 32)):
        a, b = ct.load(x, (i, k), (tm, 32)), ct.load(w, (at, 0, k), (1, 32, 32))
        acc = ct.mma(a, b.reshape((32, 32)).transpose(), acc)
    ct.store(y, (i, 0), acc)


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize(("tm", "by_threads"), [(16, True), (64, False)])
def test_reads_by_threads_are_over_when_tma_writes(target: str, tm: int, by_threads: bool) -> None:
    """Tiles of few rows are multiplied by `mma.sync`, which reads registers."""
    x, w = (RNG.standard_normal(shape).astype(np.float16) for shape in ((64, 128), (3, 32, 128)))
    numbers = RNG.permutation(256).astype(np.int32) % 3
    arguments = (x, w, numbers, np.zeros((64, 32), np.float32), tm)
    kernel = tileas.compile(chosen, *arguments, target=target)
    assert "not_pipelined" in kernel.ir("tileas-pipeline-loads")
    ahead = kernel.ptx[: kernel.ptx.index("cp.async.bulk.tensor")]
    assert (FENCE in ahead) is by_threads
    for order in ("eager", "lazy", "random"):
        found = kernel.emulate(*arguments, grid=(64 // tm,), order=order)
        assert [str(finding) for finding in found.findings] == []
        wanted = x.astype(np.float64) @ w[2].astype(np.float64).T
        np.testing.assert_allclose(found.arrays[3], wanted, atol=1e-3)
