"""Arguments of weights that one instruction computes are near enough for 16 bits."""

from __future__ import annotations

import numpy as np
import pytest

from tileas_xdsl.transforms.arithmetic.fuse_differences import NEAR


@pytest.mark.parametrize(("element", "least"), [(np.float16, -24.0), (None, -126.0)])
def test_a_fused_argument_is_near_enough(element: type | None, least: float) -> None:
    """Up to `NEAR`, of f16 weights and of those of bf16 that are normal numbers."""
    rng = np.random.default_rng(0)
    size = 1 << 18
    exact = rng.uniform(0.01, 4.0, size)
    scale = exact.astype(np.float32)
    most = (rng.uniform(-NEAR, NEAR, size) / exact).astype(np.float32)
    score = (most + rng.uniform(least, 0.0, size) / exact).astype(np.float32)
    of_row = most * scale
    # A product and a difference of f32 are exact in f64 but for the last bits of a wide sum.
    fused = (score.astype(np.float64) * scale - of_row).astype(np.float32)
    wanted = (score.astype(np.float64) - most) * exact
    off = np.abs(fused - wanted).max()
    assert off < (2**-17 if element is not None else 2**-16)
    places = 2**11 if element is not None else 2**8
    assert off * np.log(2) * places < 0.02
