# pyright: basic
"""One column of a row that a mask chooses: loaded, and stored, on its own."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct

from kernels.cutile import cross_entropy
from kernels.cutile.problem import emulated
from tileas_xdsl.compiler import compile

ROWS = 8


@ct.kernel
def chosen(
    x: Any, at: Any, sums: Any, y: Any, n: int, columns: ct.Constant[int], stays: ct.Constant[int]
) -> None:
    """Of each row the element at `at`, plus `y` with twice that one less 1, and 3 at `n`."""
    i, columns_ = ct.bid(0), ct.arange(columns, dtype=ct.int32)
    row = ct.astype(ct.load(x, (i, 0), (1, columns), padding_mode=ct.PaddingMode.ZERO), ct.float32)
    label = ct.reshape(ct.load(at, (i,), (1,)), (1, 1))
    here = ct.where(columns_ == label, row * 2.0, 0.0)
    ct.store(sums, (i,), ct.sum(here, axis=1))
    less = ct.where(columns_ == label, 1.0, 0.0)
    result = row * 2.0 - less
    if stays:
        result = ct.where(columns_ == n, 3.0, result)
    ct.store(y, (i, 0), ct.astype(result, y.dtype))


@ct.kernel
def in_place(x: Any, at: Any, sums: Any, columns: ct.Constant[int]) -> None:
    """The element at `at` of each row, whose elements become 0."""
    i, columns_ = ct.bid(0), ct.arange(columns, dtype=ct.int32)
    row = ct.load(x, (i, 0), (1, columns))
    ct.store(x, (i, 0), ct.zeros((1, columns), dtype=x.dtype))
    label = ct.reshape(ct.load(at, (i,), (1,)), (1, 1))
    ct.store(sums, (i,), ct.sum(ct.where(columns_ == label, row, 0.0), axis=1))


def expected(x: Any, at: Any, n: int | None) -> tuple[Any, Any]:
    here = np.arange(x.shape[1]) == at[:, None]
    y = 2 * x.astype(np.float32) - here
    if n is not None:
        y = np.where(np.arange(x.shape[1]) == n, np.float32(3), y)
    return np.where(here, 2 * x.astype(np.float32), 0).sum(axis=1), y


@pytest.mark.parametrize(
    ("target", "columns", "n"),
    [
        ("sm_90a", 256, None),
        ("sm_100a", 256, 17),
        ("sm_90a", 200, -1),
        ("sm_90a", 201, 17),
        ("sm_100a", 201, None),
        ("sm_90a", 200, 256),
    ],
)
def test_columns_are_right_wherever_they_are(target: str, columns: int, n: int | None) -> None:
    """At either end of the row, in front of it, behind it in the tile, and behind the tile."""
    x = np.random.default_rng(columns).standard_normal((ROWS, columns)).astype(np.float16)
    at = np.array([0, columns - 1, -1, columns, 255, 256, 100, -(2**31)], np.int32)
    x[6, 100] = -0.0
    sums, y = np.full(ROWS, np.nan, np.float32), np.full_like(x, np.nan)
    args = (x, at, sums, y, 0 if n is None else n, 256, n is not None)
    ran = compile(chosen, *args, target=target).emulate(*args, grid=ROWS)
    assert not ran.findings
    total, result = expected(x, at, n)
    np.testing.assert_array_equal(ran.arrays[2], total)
    assert not np.signbit(ran.arrays[2][6]), "the sum of -0.0 and zeros is 0.0"
    np.testing.assert_array_equal(ran.arrays[3], result.astype(np.float16))


def test_rows_that_are_overwritten_are_summed() -> None:
    """The element is no more there when the sum is asked for."""
    x = np.random.default_rng(0).standard_normal((ROWS, 256)).astype(np.float32)
    at, sums = np.arange(3, 3 + ROWS, dtype=np.int32), np.full(ROWS, np.nan, np.float32)
    kernel = compile(in_place, x, at, sums, 256, target="sm_90a")
    ran = kernel.emulate(x, at, sums, 256, grid=ROWS)
    assert not ran.findings
    np.testing.assert_array_equal(ran.arrays[2], x[np.arange(ROWS), at])
    assert not ran.arrays[0].any()


@pytest.mark.parametrize(("element", "columns"), [("f16", 1000), ("bf16", 4096), ("f32", 1001)])
def test_nothing_is_compared_with_labels(element: str, columns: int) -> None:
    """Where all columns were compared, each of them took three instructions, twice."""
    width = 1 << (columns - 1).bit_length()
    problem = cross_entropy.problem(element, ROWS, columns, 1, width)
    kernel = problem.compiled("sm_90a")
    assert len(re.findall(r"setp\.eq\.s32", kernel.ptx)) < width // kernel.abi.threads
    assert emulated(problem, kernel).is_right
