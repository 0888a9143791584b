# pyright: basic, reportInvalidTypeForm=false
"""Row sums that a loop carries in parts: of rows whose columns two warpgroups share, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas

ct: Any = pytest.importorskip("cuda.tile")

RNG = np.random.default_rng(2)


@ct.kernel
def attention(q: Any, k: Any, numbers: Any, out: Any) -> None:
    """Attention of 64 rows to chosen keys that are the values as well, without a pipeline."""
    mine, acc = ct.load(q, (0, 0), (64, 256)), ct.zeros((64, 256), ct.float32)
    most, total = ct.full((64, 1), -1e30, ct.float32), ct.zeros((64, 1), ct.float32)
    skipped = ct.max(ct.load(numbers, 0, 256)).item()
    for j in range(k.shape[0] // 64 - skipped):
        rows = j * 64 + ct.arange(64, dtype=ct.int32)
        keys = ct.gather(k, (rows[:, None], ct.arange(256, dtype=ct.int32)[None, :]))
        scores = ct.mma(mine, keys.transpose(), ct.zeros((64, 64), ct.float32)) * 0.1
        largest = ct.maximum(most, ct.max(scores, axis=1, keepdims=True))
        powers, fading = ct.exp2(scores - largest), ct.exp2(most - largest)
        total = total * fading + ct.sum(powers, axis=1, keepdims=True)
        acc, most = ct.mma(powers.astype(k.dtype), keys, acc * fading), largest
    ct.store(out, (0, 0), acc / total)


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_rows_that_warpgroups_share(target: str) -> None:
    q, k = (RNG.standard_normal((rows, 256)).astype(np.float16) for rows in (64, 192))
    arguments = (q, k, np.eye(1, 256, dtype=np.int32)[0], np.zeros((64, 256), np.float32))
    kernel = tileas.compile(attention, *arguments, target=target)
    assert ("lanes_apart" in kernel.ir("tileas-defer-lane-sums")) is (target == "sm_100a")
    found = kernel.emulate(*arguments, grid=(1,), order="random")
    assert [str(finding) for finding in found.findings] == []
    keys = k[:128].astype(np.float64)
    powers = np.exp2(q.astype(np.float64) @ keys.T * 0.1)
    wanted = powers @ keys / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.arrays[3], wanted, atol=1e-2)
