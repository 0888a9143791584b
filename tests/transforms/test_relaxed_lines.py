# pyright: basic
"""Rows that are tiles of one dimension have weights that are relaxed, too, and stay as exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas

pytest.importorskip("cuda.tile")

from tests.transforms import line_kernels as kernels

X = (4 * np.random.default_rng(0).standard_normal((3, 1000))).astype(np.float16)
EXACT = X.astype(np.float64)
LOGS = np.log(np.exp(EXACT - EXACT.max(1, keepdims=True)).sum(1)) + EXACT.max(1)


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_shares_of_a_line(target: str) -> None:
    args = (X, np.zeros_like(X), np.zeros(3, np.float32))
    made = tileas.compile(kernels.softmax_of_line, *args, target=target)
    text = made.ir("tileas-relax-weights")
    assert text.count("nv_tileas.ftz") == 1
    assert "tensor<1024xf32>" not in text.partition("arith.divf")[2].splitlines()[0]
    found = made.emulate(*args, grid=3)
    assert not found.findings
    wanted = np.exp(EXACT - LOGS[:, None])
    off = np.abs(found.arrays[1] - wanted) - 0.501 * np.spacing(wanted.astype(np.float16))
    assert off.max() <= 0
    np.testing.assert_allclose(found.arrays[2], LOGS, atol=1e-6)


@pytest.mark.parametrize("kernel", [kernels.logs_of_lines, kernels.logs_of_late_sums])
def test_logarithms_of_sums_of_chunks(kernel: Any) -> None:
    args = (X, np.zeros(3, np.float32))
    made = tileas.compile(kernel, *args, target="sm_90a")
    assert made.ir("tileas-relax-weights").count("nv_tileas.ftz") == 2
    found = made.emulate(*args, grid=3)
    assert not found.findings
    np.testing.assert_allclose(found.arrays[1], LOGS, atol=1e-6)
