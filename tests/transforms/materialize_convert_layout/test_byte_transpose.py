"""Bytes that are transposed in shared memory for wgmma: right in any order, without conflicts."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

from kernels.cutile.matmul import product_problem
from kernels.cutile.problem import emulated, evaluated

LANES = np.arange(32)
MATRIX, R = LANES // 8, LANES % 8


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("kernel", "element", "out", "sizes", "tiles", "order"),
    [
        ("matmul", "e4m3", "f32", (80, 48, 144), (64, 32, 64), "random"),
        ("matmul_at", "e4m3", "f16", (144, 80, 80), (128, 64, 64), "lazy"),
        ("matmul", "e4m3", "f32", (64, 20, 75), (64, 16, 32), "lazy"),
        ("matmul", "e4m3", "f16", (20, 144, 80), (16, 128, 64), "eager"),
    ],
    ids=str,
)
def test_products_are_right(
    kernel: str,
    element: str,
    out: str,
    sizes: tuple[int, int, int],
    tiles: tuple[int, int, int],
    order: str,
) -> None:
    """With TMA and without it, where rows are no multiples of 16 bytes."""
    found = product_problem(kernel, element, out, sizes, tiles)
    made = found.compiled("sm_90a")
    assert evaluated(found, made).is_right
    assert emulated(found, made, seed=5, order=order).is_right


def test_matrices_are_free_of_bank_conflicts() -> None:
    """The 8 rows of a matrix differ modulo 8, which is what swizzles tell apart."""
    half = MATRIX % 2 ^ R // 4
    own = 16 * (MATRIX // 2) + 4 * (R // 2) + R % 2 + 2 * half
    of_sums = 16 * (MATRIX // 2) + 2 * (R // 2) + R % 2 + 8 * half
    columns = 2 * R + half
    assert sorted(own) == sorted(of_sums) == list(range(32))
    for matrix in range(4):
        for rows in (own, of_sums):
            assert len({*(rows[matrix == MATRIX] % 8)}) == 8
        assert len({*(columns[matrix == MATRIX] % 8)}) == 8
