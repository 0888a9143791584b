# pyright: basic
"""Rows of any length, in kernels that are written twice, and of extents that are constants."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct

import tileas_xdsl as tileas
from kernels.cutile.softmax import softmax

Extent = ct.Constant[int]

COLUMNS = 4096


@ct.kernel
def centred(x, y, columns: Extent):
    """Rows less their sum, where ones behind their end are counted, too."""
    i = ct.bid(0)
    row = ct.astype(ct.load(x, (i, 0), (1, columns)), ct.float32)
    inside = ct.arange(columns, dtype=ct.int32) < x.shape[1]
    filled = ct.where(inside, row, 1.0)
    ct.store(y, (i, 0), ct.astype(row - ct.sum(filled, axis=1, keepdims=True), y.dtype))


@cache
def compiled(kernel: Any, rows: str) -> Any:
    options = "rows=1, " if kernel is softmax else ""
    signature = f"x: {rows}, y: {rows}, {options}columns={COLUMNS}"
    return tileas.compile(kernel, target="sm_90a", signature=signature)


def softmaxes(x: Any) -> Any:
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


@pytest.mark.parametrize("width", [1, 1400, 2049, 3065, 3066, 3072, 3073, 4095, 4096])
@pytest.mark.parametrize("element", [np.float16, np.float32])
def test_rows_end_anywhere(width: int, element: Any) -> None:
    """In the last quarter of their tile, in front of it, and at its beginning."""
    kernel = compiled(softmax, {np.float16: "f16[?, ?]", np.float32: "f32[?, ?]"}[element])
    x = np.random.default_rng(width).standard_normal((3, width)).astype(element)
    found = kernel.emulate(x, np.full_like(x, np.nan), 1, COLUMNS, grid=3)
    assert not found.findings
    tolerance = 2e-3 if element is np.float16 else 1e-5
    np.testing.assert_allclose(
        found.arrays[1], softmaxes(x.astype(np.float32)), rtol=tolerance, atol=1e-6
    )


@pytest.mark.parametrize("width", [2049, 3066, 4095])
def test_what_is_behind_the_end_counts_as_the_program_says(width: int) -> None:
    x = np.random.default_rng(width).integers(-9, 9, (3, width)).astype(np.float32)
    found = compiled(centred, "f32[?, ?]").emulate(x, np.zeros_like(x), COLUMNS, grid=3)
    assert not found.findings
    sums = x.astype(np.float32).sum(1, keepdims=True) + COLUMNS - width
    np.testing.assert_array_equal(found.arrays[1], x - sums)


def stores(kernel: Any) -> int:
    return kernel.ptx.count("st.global.v4")


def test_short_rows_are_stored_by_three_quarters_of_the_vectors() -> None:
    """A thread of four warps has eight vectors of four elements of 4,096 columns."""
    assert stores(compiled(softmax, "f32[?, ?%4]")) == 8
    assert stores(compiled(softmax, "f32[?, ?]")) == 8 + 6


@pytest.mark.parametrize(("width", "vectors"), [(2001, 2), (3000, 3)])
def test_constant_extents_are_known_without_a_second_form(width: int, vectors: int) -> None:
    kernel = compiled(softmax, f"f16[?, {width}]")
    x = np.random.default_rng(width).standard_normal((3, width)).astype(np.float16)
    found = kernel.emulate(x, np.full_like(x, np.nan), 1, COLUMNS, grid=3)
    assert not found.findings
    expected = softmaxes(x.astype(np.float32))
    np.testing.assert_allclose(found.arrays[1], expected, rtol=2e-3, atol=1e-6)
    assert stores(kernel) == vectors
