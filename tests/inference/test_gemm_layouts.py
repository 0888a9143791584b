"""Layouts of products against the instructions' registers, and partitions of warps."""

from __future__ import annotations

import numpy as np
import pytest

from tileas_xdsl.inference.decisions import InferenceError
from tileas_xdsl.inference.gemm_layouts import (
    Product,
    accumulator,
    continuity,
    operand,
    product_of,
    product_of_some_warps,
    shared_layout,
    swizzle_of,
)
from tileas_xdsl.inference.program import Buffer, Gemm, Program, Scope, WarpPolicy
from tileas_xdsl.layout.tables import table
from tileas_xdsl.target.mma.register_layouts import register_layout, wgmma_accumulator


def _asked(
    m: int, n: int, k: int, threads: int, policy: WarpPolicy, arch: str
) -> tuple[Program, Gemm]:
    buffers = {
        "a": Buffer("a", (m, k), 16, Scope.SHARED, "f16"),
        "b": Buffer("b", (k, n), 16, Scope.SHARED, "f16"),
        "c": Buffer("c", (m, n), 32, Scope.FRAGMENT, "f32"),
    }
    gemm = Gemm("a", "b", "c", policy=policy)
    return Program(threads, buffers, (gemm,), arch), gemm


def _product(
    m: int, n: int, k: int, threads: int, policy: WarpPolicy, arch: str = "sm_90a"
) -> Product:
    return product_of(*_asked(m, n, k, threads, policy, arch))


def _held(name: str) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """`(thread, value)` to the row-major index in the tile of an instruction's registers."""
    registers = (
        wgmma_accumulator(int(name.removeprefix("wgmma")))
        if "." not in name
        else register_layout(name)
    )
    rows, columns = registers.tile
    column, row = np.divmod(table(registers.layout), rows)
    return (row * columns + column).reshape(-1, registers.threads).T


def test_one_wgmma_accumulator() -> None:
    product = _product(64, 96, 64, 128, WarpPolicy.SQUARE)
    assert product.is_wgmma
    assert np.array_equal(accumulator(product, 128).held, _held("wgmma96"))


@pytest.mark.parametrize("bits", [8, 16])
def test_one_mma(bits: int) -> None:
    depth = 256 // bits
    product = _product(16, 8, depth, 32, WarpPolicy.SQUARE)
    assert not product.is_wgmma
    kind = f"mma.m16n8k{depth}.{bits}bit"
    assert np.array_equal(operand(product, "a", bits, False, 32).held, _held(f"{kind}.a"))
    assert np.array_equal(accumulator(product, 32).held, _held("mma.m16n8k16.16bit.c"))


def test_operand_b_of_one_mma() -> None:
    product = _product(16, 8, 16, 32, WarpPolicy.SQUARE)
    stored_by_columns = operand(product, "b", 16, True, 32)
    assert np.array_equal(stored_by_columns.held, _held("mma.m16n8k16.16bit.b"))
    stored_by_rows = operand(product, "b", 16, False, 32)
    assert np.array_equal(stored_by_rows.thread_table[0], stored_by_columns.thread_table[0].T)


@pytest.mark.parametrize(
    ("m", "n", "threads", "policy", "arch", "warps"),
    [
        (128, 256, 256, WarpPolicy.FULL_ROW, "sm_90a", (8, 1)),
        (128, 256, 256, WarpPolicy.FULL_COL, "sm_90a", (4, 2)),
        (64, 64, 128, WarpPolicy.SQUARE, "sm_90a", (4, 1)),
        (64, 64, 128, WarpPolicy.SQUARE, "sm_100a", (2, 2)),
        (128, 32, 128, WarpPolicy.FULL_COL, "sm_80", (1, 4)),
        (32, 64, 128, WarpPolicy.FULL_ROW, "sm_80", (2, 2)),
    ],
)
def test_partitions_of_warps(
    m: int, n: int, threads: int, policy: WarpPolicy, arch: str, warps: tuple[int, int]
) -> None:
    product = _product(m, n, 64, threads, policy, arch)
    assert (product.warps_m, product.warps_n) == warps
    for fragment in (accumulator(product, threads), operand(product, "a", 16, True, threads)):
        assert fragment.is_injective
        assert sorted(set(fragment.thread_table.ravel())) == list(range(threads))


def test_warps_that_cannot_share_a_product() -> None:
    with pytest.raises(InferenceError, match="a product of 16x16 cannot be spread evenly over 4"):
        _product(16, 16, 16, 128, WarpPolicy.SQUARE)


@pytest.mark.parametrize(
    ("sizes", "threads", "warps", "words"),
    [
        ((48, 8, 32), 256, (3, 1), 8),
        ((16, 16, 8), 128, (1, 2), 4),
        ((64, 24, 24), 256, (2, 3), 4),
    ],
)
def test_first_warps_share_what_not_all_can(
    sizes: tuple[int, int, int], threads: int, warps: tuple[int, int], words: int
) -> None:
    asked = _asked(*sizes, threads, WarpPolicy.SQUARE, "sm_90a")
    product = product_of_some_warps(*asked)
    assert (product.warps_m, product.warps_n, product.words) == (*warps, words)
    for fragment in (accumulator(product, threads), operand(product, "a", 16, False, threads)):
        assert fragment.is_injective
        assert set(fragment.thread_table.ravel()) == set(range(product.threads))
        assert sorted(set(fragment.slot_table.ravel())) == list(range(fragment.slots))


def test_shared_operands_are_swizzled_by_what_divides_their_rows() -> None:
    product = _product(128, 256, 32, 256, WarpPolicy.FULL_ROW)
    assert continuity(product, "a", False) == 32
    assert continuity(product, "b", False) == 256
    assert [swizzle_of(row, 16) for row in (64, 32, 16, 8)] == [3, 2, 1, 0]
    layout = shared_layout((16, 128), 16, 3)
    offsets = table(layout).reshape(128, 16).T
    assert sorted(offsets.ravel()) == list(range(0, 16 * 128 * 2, 2))
    assert offsets[1, 8] == 128
    assert offsets[0, 64] == 16 * 128
    assert offsets[3, 65] == 16 * 128 + 3 * 128 + (3 << 4) + 2
