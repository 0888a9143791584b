# pyright: basic
"""What a thread combines before it exchanges with others."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct

from kernels.cutile.rms_norm import rms_norm
from tests.support.compiling import OfRows, specialized
from tileas_xdsl.compiler import compile
from tileas_xdsl.threads.reduce.combiner import PARTIAL_SUMS


@pytest.mark.parametrize("columns", [512, 1024])
def test_products_are_added_as_they_are_computed(columns: int) -> None:
    """All squares of a thread but the first few: elements times scales and weights are not."""
    given = f"x: f32[?, ?%16], weight: f32[?%16], y: f32[?, ?%16], rows=1, columns={columns}"
    kernel = compile(rms_norm, target="sm_90a", signature=given)
    elements = columns // kernel.abi.threads
    assert kernel.ptx.count("fma.rn.f32") == elements - PARTIAL_SUMS
    assert kernel.ptx.count("mul.rn.f32") == 2 * elements + PARTIAL_SUMS


@pytest.mark.parametrize(("columns", "held"), [(1300, 1536), (700, 768)])
def test_zeros_behind_rows_are_added_once(columns: int, held: int) -> None:
    """Of a tile of 2,048 columns no square behind the end of all rows is added."""
    shapes = (6, columns), (columns,), (6, columns)
    arrays = [np.zeros(shape, np.float32) for shape in shapes]
    kernel = specialized(rms_norm, *arrays, 1, 2048, choose=OfRows(columns))
    assert kernel.ptx.count("fma.rn.f32") == held // kernel.abi.threads - PARTIAL_SUMS


@ct.kernel
def reduced(x: Any, sums: Any, most: Any, columns: ct.Constant[int]) -> None:
    """The sums and the largest elements of rows, padded with zeros and with minus infinity."""
    i, padding = ct.bid(0), ct.PaddingMode
    zeros = ct.load(x, (i, 0), (1, columns), padding_mode=padding.ZERO)
    least = ct.load(x, (i, 0), (1, columns), padding_mode=padding.NEG_INF)
    ct.store(sums, (i,), ct.sum(zeros, axis=1))
    ct.store(most, (i,), ct.max(least, axis=1))


@pytest.mark.parametrize("element", [np.float32, np.float16])
def test_padding_that_is_combined_once_is_not_lost(element: Any) -> None:
    """Rows of negative zeros add up to zero with those behind them; NaN is no maximum."""
    x = np.random.default_rng(0).integers(-9, 10, (3, 1300)).astype(element)
    x[0], x[1] = -0.0, np.nan
    results = [np.full(3, np.nan, element) for _ in range(2)]
    kernel = specialized(reduced, x, *results, 2048, choose=OfRows(1300))
    assert kernel.abi.row_lengths == (1281, 1520)
    found = kernel.emulate(x, *results, 2048, grid=3)
    assert not found.findings
    sums, most = found.arrays[1:3]
    assert sums[0] == 0
    assert not np.signbit(sums[0])
    assert np.isnan(sums[1])
    assert sums[2] == x[2].astype(np.float32).sum()
    assert np.array_equal(most, kernel.evaluate(x, *results, 2048, grid=3).arrays[2])
    assert np.array_equal(most[[0, 2]], x[[0, 2]].max(axis=1))
