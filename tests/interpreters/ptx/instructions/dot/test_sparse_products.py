"""Products with a sparse A against numpy, and what is wrong with metadata."""

from __future__ import annotations

import numpy as np
import pytest
from interpreters.ptx.harness import execute, pointers
from support.matrix_kernels import MatrixKernel
from support.sparse_kernels import (
    EITHER_ORDER,
    sparse_warp_product,
    sparse_warpgroup_product,
)

RNG = np.random.default_rng(5)


def run(kernel: MatrixKernel, block: int = 32) -> None:
    report = execute(
        kernel.body, pointers(kernel.names), kernel.arguments, block=block, version="8.8"
    )
    for argument, words in kernel.wanted.items():
        found = report.arrays[argument]
        assert found is not None
        np.testing.assert_array_equal(found, words)


@pytest.mark.parametrize(
    ("k", "types", "selector"),
    [
        (16, ("f16", "f16", "f16"), 3),
        (32, ("f32", "bf16", "bf16"), 1),
        (8, ("f32", "tf32", "tf32"), 2),
        (16, ("f32", "tf32", "tf32"), 0),
        (32, ("s32", "s8", "u8"), 1),
        (64, ("s32", "u8", "u8"), 0),
        (64, ("f32", "e4m3", "e5m2"), 0),
    ],
)
def test_products_of_a_warp(k: int, types: tuple[str, str, str], selector: int) -> None:
    run(sparse_warp_product(k, types, selector, RNG, ordered=True))


@pytest.mark.parametrize("in_registers", [False, True], ids=["shared", "registers"])
@pytest.mark.parametrize(
    ("types", "selector"),
    [
        (("f16", "f16", "f16"), 1),
        (("f32", "tf32", "tf32"), 0),
        (("f32", "e5m2", "e4m3"), 0),
        (("s32", "u8", "s8"), 0),
    ],
)
def test_products_of_a_warpgroup(
    types: tuple[str, str, str], selector: int, in_registers: bool
) -> None:
    modes, majors = ("32B", "64B"), ("k", "k")
    run(
        sparse_warpgroup_product(
            types, 24, modes, majors, selector, RNG, in_registers=in_registers
        ),
        128,
    )


def test_transposed_operands_of_a_warpgroup() -> None:
    modes, majors = ("64B", "128B"), ("mn", "mn")
    run(sparse_warpgroup_product(("f32", "f16", "f16"), 64, modes, majors, 0, RNG), 128)


def test_an_element_is_chosen_once() -> None:
    kernel = sparse_warp_product(16, ("f32", "f16", "f16"), 0, RNG, pairs=[0b0101])
    with pytest.raises(AssertionError, match="say 0b0101 for chunk 0, which is not two of four"):
        run(kernel)


def test_metadata_are_ordered_where_the_instruction_says_so() -> None:
    types = ("f32", "f16", "f16")
    run(sparse_warp_product(16, types, 0, RNG, pairs=EITHER_ORDER))
    kernel = sparse_warp_product(16, types, 0, RNG, pairs=[0b0001], ordered=True)
    with pytest.raises(AssertionError, match="not two of four elements in order"):
        run(kernel)
