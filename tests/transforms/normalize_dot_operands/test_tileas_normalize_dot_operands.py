# pyright: basic, reportArgumentType=false
"""Tiles whose columns are adjacent in memory: loaded as rows, multiplied as they are stored."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas

pytest.importorskip("cuda.tile")

from tests.transforms.normalize_dot_operands.transposed_kernels import (
    copied,
    multiplied,
    permuted,
    picked,
    picked_columns,
    stepped,
)

RNG = np.random.default_rng(17)
IMMEDIATES = re.compile(r"wgmma\.mma_async[^;]*?, (\d), (\d);")
"""The last two immediates: whether A, and B, lie with their rows or columns adjacent."""


def numbers(*shape: int) -> np.ndarray[Any, np.dtype[np.float16]]:
    return RNG.standard_normal(shape).astype(np.float16)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kernel", [multiplied, permuted], ids=["order", "permute"])
@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_b_is_multiplied_as_it_is_stored(kernel: Any, target: str) -> None:
    a, b = numbers(70, 40), numbers(90, 40)
    c = np.full((70, 90), np.nan, np.float32)
    made = tileas.compile(kernel, a, b, c, target=target)
    if target == "sm_90a":
        assert set(IMMEDIATES.findall(made.ptx)) == {("0", "0")}
    exact = a.astype(np.float64) @ b.astype(np.float64).T
    for run in (made.simulate, made.emulate):
        found = run(a, b, c, grid=(2, 2))
        assert [str(finding) for finding in getattr(found, "findings", [])] == []
        np.testing.assert_allclose(found.arrays[2], exact, 1e-5, 1e-4)


@pytest.mark.sample(2)
@pytest.mark.parametrize("depth", [64, 72])
@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_columns_that_pointers_go_along_are_copied_ahead(depth: int, target: str) -> None:
    a, b = numbers(70, depth), numbers(90, depth)
    rows = RNG.integers(-5, 75, 128).astype(np.int32)
    c = np.full((128, 90), np.nan, np.float32)
    made = tileas.compile(picked, a, b, rows, c, target=target)
    assert len(re.findall(r"cp\.async\.cg\.shared\.global", made.ptx)) >= 4
    taken = np.where(((rows >= 0) & (rows < 70))[:, None], a[rows % 70], 0)
    exact = taken.astype(np.float64) @ b.astype(np.float64).T
    for run in (made.simulate, made.emulate):
        found = run(a, b, rows, c, grid=(2, 2))
        assert [str(finding) for finding in getattr(found, "findings", [])] == []
        np.testing.assert_allclose(found.arrays[3], exact, 1e-5, 1e-4)


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_rows_that_pointers_go_along_are_copied_ahead(target: str) -> None:
    a, b = numbers(40, 72), numbers(40, 80)
    c = np.full((72, 80), np.nan, np.float32)
    made = tileas.compile(picked_columns, a, b, c, target=target)
    assert "cp.async.cg.shared.global" in made.ptx
    exact = a.astype(np.float64).T @ b.astype(np.float64)
    found = made.emulate(a, b, c, grid=(2, 2))
    assert not found.findings
    np.testing.assert_allclose(found.arrays[2], exact, 1e-5, 1e-4)


@pytest.mark.parametrize("shape", [(64, 96), (33, 50)])
def test_what_is_no_factor_is_turned_in_threads(shape: tuple[int, int]) -> None:
    x, y = numbers(*shape), np.full(shape[::-1], np.nan, np.float16)
    made = tileas.compile(copied, x, y)
    for run in (made.simulate, made.emulate):
        np.testing.assert_array_equal(run(x, y, grid=(4, 2)).arrays[1], x.T)


def test_permutations_around_many_steps_are_folded() -> None:
    """The tile of the last step is on 2**40 paths from what is loaded."""
    x = RNG.standard_normal((32, 64)).astype(np.float32)
    made = tileas.compile(stepped, x, np.zeros_like(x), target="sm_90a")
    assert "32x64xf32" in (found := made.ir("tileas-normalize-dot-operands"))
    assert "64x32xf32" not in found
    np.testing.assert_array_equal(made.emulate(x, np.zeros_like(x), grid=1).arrays[1], x)
