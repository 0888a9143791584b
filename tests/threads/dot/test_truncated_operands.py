# pyright: basic
"""Operands of f32 that are truncated to tf32: matrix instructions leave out the same bits."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct

import tileas_xdsl as tileas
from tests.support.plain_checks import TARGETS

RNG = np.random.default_rng(11)
ZERO = ct.PaddingMode.ZERO


@ct.kernel
def product(
    a, b, c, mode: ct.Constant, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]
):
    """A times B, which is stored N x K."""
    i, j = ct.bid(0), ct.bid(1)
    sums = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ZERO)
        y = ct.load(b, index=(k, j), shape=(tk, tn), order="F", padding_mode=ZERO)
        left = ct.astype(x, ct.tfloat32, rounding_mode=mode)
        sums = ct.mma(left, ct.astype(y, ct.tfloat32, rounding_mode=mode), sums)
    ct.store(c, index=(i, j), tile=sums)


def arguments(mode: ct.RoundingMode, *tiles: int) -> tuple[Any, ...]:
    a, b = (RNG.standard_normal((rows, 72)).astype(np.float32) for rows in (140, 136))
    return a, b, np.full((140, 136), np.nan, np.float32), mode, *tiles


def truncated(x: np.ndarray) -> np.ndarray:
    return (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("tiles", [(128, 128, 32), (16, 32, 16)], ids=str)
def test_truncation_takes_no_instruction(tiles: tuple[int, ...], target: str) -> None:
    a, b, c, *rest = arguments(ct.RoundingMode.RZ, *tiles)
    kernel = tileas.compile(product, a, b, c, *rest, target=target)
    assert not re.search(r"cvt\.\w+\.tf32|ldmatrix.*wgmma", kernel.ptx, re.S)
    wanted = truncated(a).astype(np.float64) @ truncated(b).T.astype(np.float64)
    grid = (-(-140 // tiles[0]), -(-136 // tiles[1]))
    emulated = kernel.emulate(a, b, c, *rest, grid=grid)
    assert not emulated.findings
    for one in (kernel.evaluate, kernel.simulate):
        np.testing.assert_allclose(one(a, b, c, *rest, grid=grid).arrays[2], wanted, 2e-5, 2e-5)
    np.testing.assert_allclose(emulated.arrays[2], wanted, 2e-5, 2e-5)


def test_tensor_cores_read_what_tma_loads() -> None:
    """Nothing moves operands that are stored as the instruction reads them."""
    ptx = tileas.compile(product, *arguments(ct.RoundingMode.RZ, 128, 256, 32)).ptx
    loop = ptx[ptx.index("wgmma.fence") : ptx.index("wgmma.wait_group")]
    assert "m64n256k8.f32.tf32.tf32" in loop
    assert not re.search(r"ldmatrix|ld\.shared", ptx)
    rounded = tileas.compile(product, *arguments(ct.RoundingMode.RN, 128, 128, 32)).ptx
    assert "cvt.rn.tf32.f32" in rounded
