# pyright: basic
"""Products of 8-bit floats on wgmma: sums are promoted to f32 unless `use_fast_acc` is given."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("cuda.tile")

from support.assembling import needs_ptxas

import tileas_xdsl as tileas
from tests.threads.dot import promoted_products as kernels

RNG = np.random.default_rng(5)


def operands(m: int, n: int, k: int, dtype) -> tuple:
    a, b = (RNG.standard_normal(shape).astype(dtype) for shape in ((m, k), (n, k)))
    return a, b, np.full((m, n), np.nan, np.float32)


def additions(ptx: str) -> int:
    return len(re.findall(r"add(?:\.rn)?\.f32", ptx))


@pytest.mark.sample(2)
@pytest.mark.parametrize("dtype", [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2])
@pytest.mark.parametrize("tile", [(256, 128, 64), (128, 256, 64)], ids=str)
def test_sums_are_promoted(dtype, tile) -> None:
    a, b, c = operands(*tile[:2], 3 * tile[2] - 16, dtype)
    kernel = tileas.compile(kernels.exact, a, b, c, *tile, target="sm_90a")
    assert additions(kernel.ptx) == tile[0] * tile[1] // 256  # two warpgroups
    (left,) = kernel.emulate(a, b, c, *tile, grid=(1, 1)).arrays[2:3]
    np.testing.assert_allclose(left, a.astype(np.float32) @ b.astype(np.float32).T, 1e-5, 1e-5)


@pytest.mark.parametrize(
    ("kernel", "target"), [(kernels.fast, "sm_90a"), (kernels.exact, "sm_100a")]
)
def test_sums_stay_in_the_accumulator(kernel, target) -> None:
    a, b, c = operands(128, 64, 128, ml_dtypes.float8_e4m3fn)
    made = tileas.compile(kernel, a, b, c, 128, 64, 64, target=target)
    assert additions(made.ptx) == 0
    (left,) = made.emulate(a, b, c, 128, 64, 64, grid=(1, 1)).arrays[2:3]
    np.testing.assert_allclose(left, a.astype(np.float32) @ b.astype(np.float32).T, 1e-5, 1e-5)


@needs_ptxas
def test_promotion_does_not_spill() -> None:
    arguments = (*operands(128, 256, 256, ml_dtypes.float8_e4m3fn), 128, 128, 64)
    assert tileas.compile(kernels.exact, *arguments, target="sm_90a").assemble().spills == 0
