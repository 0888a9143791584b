"""Matrices of warps and warpgroups against numpy, by the tables of register layouts."""

from typing import Any

import numpy as np
import pytest
from interpreters.ptx.harness import execute, pointers
from support.matrix_kernels import (
    MMA,
    MatrixKernel,
    canonical,
    moved_matrices,
    warp_product,
    warpgroup_product,
)

from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES
from tileas_xdsl.layout.tables import flat_table

RNG = np.random.default_rng(11)


def check(kernel: MatrixKernel, **options: Any) -> None:
    report = execute(kernel.body, pointers(kernel.names), kernel.arguments, **options)
    for argument, words in kernel.wanted.items():
        found = report.arrays[argument]
        assert found is not None
        np.testing.assert_array_equal(found, words)


@pytest.mark.parametrize(("shape", "family", "a", "b", "d"), MMA)
def test_products_of_a_warp(shape: str, family: str, a: str, b: str, d: str) -> None:
    check(warp_product(shape, family, a, b, d, RNG))


@pytest.mark.parametrize("trans", ["", ".trans"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_matrices_are_loaded_and_stored(count: int, trans: str) -> None:
    check(moved_matrices(count, trans, RNG))


@pytest.mark.parametrize(("form", "count"), [("m16n16 b8", 1), ("m16n16 b8", 2), ("m16n8 b8", 1),
                                             ("m16n8 b8", 2), ("m16n8 b8", 4)])  # fmt: skip
def test_matrices_of_bytes_are_transposed(form: str, count: int) -> None:
    check(moved_matrices(count, ".trans", RNG, form), target="sm_100a", version="8.6")


# wgmma


def run_wgmma(*arguments: Any, **options: Any) -> None:
    check(warpgroup_product(*arguments, **options), block=128, version="8.4")


@pytest.mark.parametrize(
    "types",
    [("f32", "f16", "f16"), ("f16", "f16", "f16"), ("f32", "bf16", "bf16"), ("f32", "tf32", "tf32"),
     ("f32", "e4m3", "e5m2"), ("f16", "e5m2", "e5m2"), ("s32", "s8", "u8"), ("s32", "u8", "u8")],
)  # fmt: skip
@pytest.mark.parametrize("in_registers", [False, True])
def test_types_of_a_warpgroup(types: tuple[str, str, str], in_registers: bool) -> None:
    n = int(RNG.choice([8, 24, 32, 64, 128, 256]))
    run_wgmma(types, n, ("128B", "128B"), ("k", "k"), RNG, in_registers=in_registers)


@pytest.mark.parametrize("mode", ["none", "32B", "64B", "128B"])
@pytest.mark.parametrize("majors", [("k", "k"), ("k", "mn"), ("mn", "k"), ("mn", "mn")])
def test_layouts_of_operands(mode: str, majors: tuple[str, str]) -> None:
    run_wgmma(("f32", "bf16", "bf16"), 64, (mode, mode), (majors[0], majors[1]), RNG)


def test_signs_of_operands() -> None:
    run_wgmma(("f32", "f16", "f16"), 64, ("128B", "64B"), ("k", "mn"), RNG, signs=(1, -1))
    run_wgmma(("f32", "f16", "f16"), 16, ("128B", "32B"), ("k", "k"), RNG, signs=(-1, -1),
              in_registers=True)  # fmt: skip


def test_layouts_here_are_the_published_ones() -> None:
    """The oracle itself: K-major rows of 128 bytes are the swizzled rows that TMA writes."""
    layout = canonical("128B", "k", 16, 64)
    for row in (0, 1, 7, 8, 63):
        for k in range(16):
            plain = row // 8 * 1024 + row % 8 * 128 + 2 * k
            assert int(layout.byte_address(row, k)) == BYTE_SWIZZLES["128B"](plain)
    assert flat_table(Layout(4, 2)).tolist() == [0, 2, 4, 6]
