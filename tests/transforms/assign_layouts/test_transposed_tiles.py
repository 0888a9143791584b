# pyright: basic
"""Tiles that are loaded and written to shared memory transposed, by blocks of 16 bytes."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct

from kernels.cutile.matmul import matmul_tf32
from tileas_xdsl.compiler import compile


def test_a_product_of_tf32_transposes_b_alone_by_16_bytes() -> None:
    """A goes from its stage to registers by ldmatrix, and no element is stored by itself."""
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal(s).astype(np.float32) for s in ((64, 40), (40, 72)))
    kernel = compile(matmul_tf32, a, b, c := np.full((64, 72), np.nan, np.float32), 64, 64, 32)
    loop = kernel.ptx.partition("setmaxnreg.inc")[2].partition("wgmma.mma_async")[0]
    counts = {
        "ldmatrix": 4,
        "ld.shared.v4.f32": 4,
        "ld.shared": 4,
        "st.shared.v4.b32": 4,
        "st.shared": 4,
    }
    assert {word: loop.count(word) for word in counts} == counts
    run = kernel.emulate(a, b, c, 64, 64, 32, grid=(1, 2))
    assert run.findings == []
    np.testing.assert_allclose(run.arrays[2], a @ b, atol=0.02)
    table = run.arrays[2] - kernel.simulate(a, b, c, 64, 64, 32, grid=(1, 2)).arrays[2]
    assert np.abs(table).max() < 1e-5


@ct.kernel
def by_weighted_columns(x, y, weights, c):
    """C = X^T Y, with weights of the 64 rows of X; of 1x64x128 bf16 each."""
    rows = ct.reshape(ct.load(x, (0, 0, 0), (1, 64, 128)), (64, 128))
    weighted = ct.astype(rows, ct.float32) * ct.load(weights, (0,), (64,))[:, None]
    columns = ct.astype(ct.reshape(ct.load(y, (0, 0, 0), (1, 64, 64)), (64, 64)), ct.float32)
    a, b = ct.transpose(ct.astype(weighted, ct.tfloat32)), ct.astype(columns, ct.tfloat32)
    ct.store(c, (0, 0), ct.mma(a, b, ct.zeros((128, 64), dtype=ct.float32)))


def test_tiles_loaded_from_global_memory_are_transposed_by_16_bytes() -> None:
    """Both operands are K x M and K x N, and wgmma takes words that are next to others along K."""
    rng = np.random.default_rng(4)
    x, y = (rng.standard_normal((1, 64, n)).astype(ml_dtypes.bfloat16) for n in (128, 64))
    weights = rng.standard_normal(64).astype(np.float32)
    kernel = compile(by_weighted_columns, x, y, weights, c := np.zeros((128, 64), np.float32))
    front, _, _ = kernel.ptx.partition("wgmma.mma_async")
    words = set(re.findall(r"st\.shared\S*b32", front))
    assert words == {"st.shared.v4.b32"}
    assert set(re.findall(r"ld\.global\.v\S*", front)) == {"ld.global.v2.b32"}
    run = kernel.emulate(x, y, weights, c, grid=(1,))
    assert run.findings == []
    wanted = (x[0].astype(np.float64) * weights[:, None]).T @ y[0].astype(np.float64)
    np.testing.assert_allclose(run.arrays[3], wanted, atol=0.05)


@ct.kernel
def of_weighted_rows(x, y, weights, c):
    """C = X Y^T, with weights of the 128 columns of X; of 1x64x128 bf16 each."""
    rows = ct.reshape(ct.load(x, (0, 0, 0), (1, 64, 128)), (64, 128))
    weighted = ct.astype(rows, ct.float32) * ct.load(weights, (0,), (128,))[None, :]
    columns = ct.astype(ct.reshape(ct.load(y, (0, 0, 0), (1, 64, 128)), (64, 128)), ct.float32)
    a, b = ct.astype(weighted, ct.tfloat32), ct.transpose(ct.astype(columns, ct.tfloat32))
    ct.store(c, (0, 0), ct.mma(a, b, ct.zeros((64, 64), dtype=ct.float32)))


def test_tiles_that_are_widened_are_stored_as_their_lanes_lie() -> None:
    """A thread has 4 elements, 16 bytes of shared memory: of 8 each other vector would conflict."""
    rng = np.random.default_rng(5)
    x, y = (rng.standard_normal((1, 64, 128)).astype(ml_dtypes.bfloat16) for _ in range(2))
    weights = rng.standard_normal(128).astype(np.float32)
    kernel = compile(of_weighted_rows, x, y, weights, c := np.zeros((64, 64), np.float32))
    front, _, _ = kernel.ptx.partition("wgmma.mma_async")
    assert set(re.findall(r"ld\.global\.v\S*b32", front)) == {"ld.global.v2.b32"}
    assert set(re.findall(r"st\.shared\S*b32", front)) == {"st.shared.v4.b32"}
    run = kernel.emulate(x, y, weights, c, grid=(1,))
    assert run.findings == []
    wanted = (x[0].astype(np.float64) * weights) @ y[0].astype(np.float64).T
    np.testing.assert_allclose(run.arrays[3], wanted, atol=0.05)
