"""Products of fewer rows than the matrix unit has: those of the transposes."""

from __future__ import annotations

import pytest

pytest.importorskip("cuda.tile")

from kernels.cutile.matmul import product_problem
from kernels.cutile.problem import emulated, evaluated, simulated


@pytest.mark.parametrize(
    ("kernel", "element", "out", "sizes", "tiles", "target"),
    [
        ("matmul", "bf16", "bf16", (20, 144, 136), (16, 128, 64), "sm_90a"),
        ("matmul_bt", "f16", "f32", (40, 72, 72), (32, 64, 32), "sm_100a"),
        ("matmul", "f16", "f16", (37, 50, 61), (32, 64, 32), "sm_90a"),
    ],
    ids=str,
)
def test_products_of_transposes_are_right(
    kernel: str,
    element: str,
    out: str,
    sizes: tuple[int, int, int],
    tiles: tuple[int, int, int],
    target: str,
) -> None:
    found = product_problem(kernel, element, out, sizes, tiles)
    made = found.compiled(target)
    assert "mma.sync" not in made.ptx
    for run in (evaluated, simulated):
        assert run(found, made).is_right
    for order in ("lazy", "eager"):
        assert emulated(found, made, seed=3, order=order).is_right
