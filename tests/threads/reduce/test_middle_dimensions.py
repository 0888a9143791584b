# pyright: basic
"""Reductions along channels of (images, channels, positions), whose rows are positions."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct

import tileas_xdsl as tileas

RNG = np.random.default_rng(11)


@ct.kernel
def shares(x, y, channels: ct.Constant[int], width: ct.Constant[int]):
    image, position = ct.bid(0), ct.bid(1)
    tile = ct.astype(ct.load(x, (image, 0, position), (1, channels, width)), ct.float32)
    parts = tile / ct.sum(ct.abs(tile), axis=1, keepdims=True)
    ct.store(y, (image, 0, position), ct.astype(parts, y.dtype))


@pytest.mark.parametrize(("channels", "width"), [(512, 32), (256, 64), (64, 128)])
def test_channels_are_reduced_where_they_are(channels: int, width: int) -> None:
    """Threads have pieces of rows, so no tile goes through shared memory to be transposed."""
    x = RNG.standard_normal((2, channels, 2 * width)).astype(np.float16)
    y = np.full_like(x, np.nan)
    kernel = tileas.compile(shares, x, y, channels, width)
    found = kernel.emulate(x, y, channels, width, grid=(2, 2), order="random")
    assert [str(finding) for finding in found.findings] == []
    exact = x.astype(np.float64)
    np.testing.assert_allclose(
        found.arrays[1], exact / np.abs(exact).sum(1, keepdims=True), rtol=2e-3, atol=1e-6
    )
    assert kernel.abi.shared_bytes <= x[0].nbytes // 8
