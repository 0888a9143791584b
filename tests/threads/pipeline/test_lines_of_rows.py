# pyright: basic
"""Rows of one dimension, and weights of all rows that a program loads in front of them."""

from __future__ import annotations

import re

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct
import ml_dtypes

import tileas_xdsl as tileas
from tests.support.assembling import needs_ptxas

RNG = np.random.default_rng(23)
WIDTH = 4096


@ct.kernel
def norm(x, w, b, y, width: ct.Constant[int]):
    row, columns = ct.bid(0), ct.arange(width, dtype=ct.int32)
    tile = ct.astype(ct.gather(x, (row, columns), check_bounds=False), ct.float32)
    weights = ct.astype(ct.gather(w, columns, check_bounds=False), ct.float32)
    biases = ct.astype(ct.gather(b, columns, check_bounds=False), ct.float32)
    centred = tile - ct.sum(tile) / width
    scale = ct.rsqrt(ct.sum(centred * centred) / width + 1e-5)
    made = ct.astype(centred * scale * weights + biases, y.dtype)
    ct.scatter(y, (row, columns), made, check_bounds=False)


@ct.kernel
def norms_of_part(
    x, sums, count: ct.Constant[int], each: ct.Constant[int], width: ct.Constant[int]
):
    """Rows that CTAs have `each` of, with a condition around a round."""
    first, columns = ct.bid(0) * each, ct.arange(width, dtype=ct.int32)
    total = ct.zeros((width,), ct.float32)
    for number in range(each):
        row = first + number
        if row < count:
            tile = ct.astype(ct.gather(x, (row, columns), check_bounds=False), ct.float32)
            total = total + tile / ct.sum(tile * tile)
    ct.store(sums, (ct.bid(0), 0), ct.reshape(total, (1, width)))


def arrays():
    x, w, b = (
        RNG.standard_normal(n).astype(ml_dtypes.bfloat16) for n in ((2, WIDTH), WIDTH, WIDTH)
    )
    return x, w, b, np.full_like(x, np.nan)


@needs_ptxas
def test_lines_take_registers_behind_the_reductions() -> None:
    x, w, b, y = arrays()
    kernel = tileas.compile(norm, x, w, b, y, WIDTH)
    found = kernel.emulate(x, w, b, y, WIDTH, grid=2, order="random")
    assert [str(finding) for finding in found.findings] == []
    exact = x.astype(np.float64)
    centred = exact - exact.mean(1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
    wanted = scaled * w.astype(np.float64) + b.astype(np.float64)
    np.testing.assert_allclose(found.arrays[3].astype(np.float64), wanted, rtol=1e-2, atol=1e-2)
    ctas = re.search(r"minnctapersm (\d+)", kernel.ptx)
    assert ctas is not None
    assert int(ctas[1]) * kernel.abi.threads >= 28 * 32
    assert kernel.ptx.rindex("bar.sync") < kernel.ptx.rindex("ld.global")
    assert kernel.assemble().spills == 0


@pytest.mark.parametrize(("count", "each"), [(5, 3), (3, 3), (6, 3)])
def test_rounds_under_a_condition_have_none(count: int, each: int) -> None:
    """CTAs with all rows, with some, and with none."""
    x = RNG.standard_normal((6, 256)).astype(np.float32)
    sums = np.full((2, 256), np.nan, np.float32)
    kernel = tileas.compile(norms_of_part, x, sums, count, each, 256)
    assert kernel.ir("tileas-peel-masks").count("scf.for") == 2
    exact = x.astype(np.float64)
    exact[count:] = 0
    parts = exact / np.maximum((exact**2).sum(1, keepdims=True), 1e-30)
    wanted = parts.reshape(2, 3, 256).sum(1)
    found = kernel.emulate(x, sums, count, each, 256, grid=2, order="random")
    assert [str(finding) for finding in found.findings] == []
    for stored in (found.arrays[1], kernel.simulate(x, sums, count, each, 256, grid=2).arrays[1]):
        np.testing.assert_allclose(stored, wanted, rtol=1e-4, atol=1e-6)
