"""ldmatrix and stmatrix against an emulation of what the PTX ISA says they move."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.registers.register_layout import (
    RegisterLayout,
    register_layout_from_table,
    register_layout_from_tv,
)
from tileas_xdsl.layout.registers.warp_matrix import (
    MatrixAccess,
    Refusal,
    ldmatrix_fits,
    stmatrix_fits,
)
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES, Swizzle
from tileas_xdsl.layout.tables import table

relaxed = settings(deadline=None, max_examples=40)

MMA_A = register_layout_from_tv(Layout(((4, 8), (2, 2, 2)), ((32, 1), (16, 8, 128))), (16, 16))
MMA_B = register_layout_from_tv(Layout(((4, 8), (2, 2)), ((16, 1), (8, 64))), (8, 16))
WGMMA_C = register_layout_from_tv(
    Layout(((4, 8, 4), (2, 2, 8)), ((128, 1, 16), (64, 8, 512))), (64, 64)
)
TF32_A = register_layout_from_tv(Layout(((4, 8), (2, 2)), ((16, 1), (8, 64))), (16, 8))
FP8_A = register_layout_from_tv(Layout(((4, 8), (4, 2, 2)), ((64, 1), (16, 8, 256))), (16, 32))
BYTE_PAIRS = register_layout_from_tv(Layout(((4, 8), (2, 2, 2)), ((32, 2), (1, 16, 128))), (16, 16))
"""Lanes have rows 2 c and 2 c + 1 of columns 2 q and 2 q + 1: of each column two bytes."""


def tile_addresses(tile: tuple[int, int], bits: int, major: str, swizzle: Swizzle) -> np.ndarray:
    strides = (tile[1], 1) if major == "row" else (1, tile[0])
    return swizzle(table(Layout(tile, strides)) * bits // 8)


def ldmatrix(access: MatrixAccess, memory: np.ndarray, bits: int) -> np.ndarray:
    """Return `(threads, values)` as loaded from bytes, a transcription of the PTX ISA text."""
    kind = {8: np.uint8, 16: np.uint16, 32: np.uint32}[bits]
    warps, instructions, _ = access.row_addresses.shape
    words = np.zeros((warps * 32, instructions * access.count), dtype=np.uint32)
    for warp in range(warps):
        for k in range(instructions):
            for i in range(access.count):
                rows = [memory[access.row_addresses[warp, k, 8 * i + r] :][:16] for r in range(8)]
                for t in range(32):
                    if access.transposed:
                        halves = [rows[2 * (t % 4) + j].view(np.uint16)[t // 4] for j in (0, 1)]
                        word = np.array(halves, dtype=np.uint16).view(np.uint32)[0]
                    else:
                        word = rows[t // 4].view(np.uint32)[t % 4]
                    words[warp * 32 + t, k * access.count + i] = word
    return words.view(kind)


def check_load(fragment: RegisterLayout, addresses: np.ndarray, bits: int, access: object) -> None:
    assert isinstance(access, MatrixAccess), access
    kind = {8: np.uint8, 16: np.uint16, 32: np.uint32}[bits]
    rng = np.random.default_rng(7)
    tile = rng.integers(0, 1 << min(bits, 31), fragment.elements).astype(kind)
    memory = np.zeros(int(addresses.max()) + 16, dtype=np.uint8)
    size = bits // 8
    for j in range(size):
        memory[addresses + j] = tile.view(np.uint8).reshape(-1, size)[:, j]
    assert np.array_equal(ldmatrix(access, memory, bits), tile[fragment.held])
    assert np.array_equal(access.register_bits(), addresses[fragment.held] * 8)


@pytest.mark.parametrize("swizzle", ["none", "32B", "64B", "128B"])
@pytest.mark.parametrize(
    ("fragment", "bits", "major", "transposed"),
    [
        (MMA_A, 16, "row", False),
        (MMA_A, 16, "column", True),
        (MMA_B, 16, "row", False),
        (MMA_B, 16, "column", True),
        (WGMMA_C, 16, "row", False),
        (WGMMA_C, 16, "column", True),
        (TF32_A, 32, "row", False),
        (FP8_A, 8, "row", False),
        (BYTE_PAIRS, 8, "column", True),
    ],
)
def test_instruction_operands_fit(
    fragment: RegisterLayout, bits: int, major: str, transposed: bool, swizzle: str
) -> None:
    addresses = tile_addresses(fragment.shape, bits, major, BYTE_SWIZZLES[swizzle])
    for count in (1, 2, 4):
        words = fragment.values * bits // 32
        found = ldmatrix_fits(fragment, addresses, bits, transposed, count)
        if words % count:
            assert isinstance(found, Refusal)
            assert "at a time" in found.reason
            continue
        check_load(fragment, addresses, bits, found)
        stored = stmatrix_fits(fragment, addresses, bits, transposed, count)
        assert isinstance(stored, MatrixAccess)
        assert np.array_equal(stored.row_addresses, found.row_addresses)


def test_wavefronts_of_the_classic_tile() -> None:
    for name, factor in (("none", 8), ("32B", 4), ("64B", 2), ("128B", 1)):
        addresses = tile_addresses((64, 64), 16, "row", BYTE_SWIZZLES[name])
        access = stmatrix_fits(WGMMA_C, addresses, 16)
        assert isinstance(access, MatrixAccess)
        assert access.wavefronts.shape == (4, 4)
        assert (access.wavefronts == 4 * factor).all()
        assert str(access) == "stmatrix.m8n8.x4"


def test_lanes_supply_rows_in_order() -> None:
    addresses = table(Layout((16, 16), (16, 1))) * 2
    access = ldmatrix_fits(MMA_A, addresses, 16)
    assert isinstance(access, MatrixAccess)
    expected = [32 * (lane % 16) + 16 * (lane // 16) for lane in range(32)]
    assert access.row_addresses.tolist() == [[expected]]
    pair = ldmatrix_fits(MMA_A, addresses, 16, count=2)
    assert isinstance(pair, MatrixAccess)
    assert pair.row_addresses[0, 0].tolist() == [32 * (lane % 16) for lane in range(32)]
    assert (pair.wavefronts == 4).all()


def test_counterexamples_are_concrete() -> None:
    row_major = table(Layout((16, 16), (16, 1))) * 2
    wrong = ldmatrix_fits(MMA_A, row_major, 16, transposed=True)
    assert isinstance(wrong, Refusal)
    assert "lane 4 in warp 0 must be element 1 of row 0" in wrong.reason
    shifted = ldmatrix_fits(MMA_A, row_major + 8, 16)
    assert isinstance(shifted, Refusal)
    assert "starts at byte 8" in shifted.reason
    column = ldmatrix_fits(MMA_A, table(Layout((16, 16), (1, 16))) * 2, 16)
    assert isinstance(column, Refusal)
    assert "it is 256 bits past it" in column.reason
    wide = ldmatrix_fits(WGMMA_C, table(Layout((64, 64), (64, 1))) * 4, 32)
    assert isinstance(wide, Refusal)
    double = ldmatrix_fits(MMA_A, row_major * 4, 64)
    assert isinstance(double, Refusal)
    assert "not of 64" in double.reason
    bytewise = ldmatrix_fits(FP8_A, table(Layout((16, 32), (1, 16))), 8, transposed=True)
    assert isinstance(bytewise, Refusal)
    assert "element 1 of row 0, 8 bits past its start" in bytewise.reason
    words = ldmatrix_fits(TF32_A, table(Layout((16, 8), (1, 16))) * 4, 32, transposed=True)
    assert isinstance(words, Refusal)
    assert "16 bits at a time, not 32" in words.reason
    with pytest.raises(LayoutError, match="not 3"):
        ldmatrix_fits(MMA_A, row_major, 16, count=3)


def test_partial_warps_and_empty_registers_are_refused() -> None:
    half = register_layout_from_tv(Layout((16, 2), (2, 1)), (32,))
    refused = ldmatrix_fits(half, np.arange(32) * 2, 16, count=1)
    assert isinstance(refused, Refusal)
    assert "16 threads" in refused.reason
    idle = RegisterLayout(half.layout, (32,), 32)
    refused = ldmatrix_fits(idle, np.arange(32) * 2, 16, count=1)
    assert isinstance(refused, Refusal)
    assert "register 0 of thread 16 is empty" in refused.reason


@relaxed
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_any_placement_of_rows_fits(seed: int, transposed: bool) -> None:
    """Rows of 16 bytes may lie anywhere; one swapped pair of elements in a row breaks the rule."""
    rng = np.random.default_rng(seed)
    tile = (16, 16)
    major = "column" if transposed else "row"
    addresses = tile_addresses(tile, 16, major, BYTE_SWIZZLES["none"])
    scattered = rng.permutation(64)[:32][addresses // 16] * 16 + addresses % 16
    check_load(MMA_A, scattered, 16, ldmatrix_fits(MMA_A, scattered, 16, transposed))
    a, b = rng.choice(256, 2, replace=False)
    broken = scattered.copy()
    broken[[a, b]] = scattered[[b, a]]
    assert isinstance(ldmatrix_fits(MMA_A, broken, 16, transposed), Refusal)


def test_four_bit_elements() -> None:
    flat = np.arange(8 * 32).reshape(32, 8)
    fragment = register_layout_from_table(flat, (256,))
    bits = np.arange(256) * 4
    access = ldmatrix_fits(fragment, bits // 8, 4, count=1, bit_in_byte=bits % 8)
    assert isinstance(access, MatrixAccess)
    assert np.array_equal(access.register_bits(), bits[fragment.held])
    swapped = bits ^ 4
    refused = ldmatrix_fits(fragment, swapped // 8, 4, count=1, bit_in_byte=swapped % 8)
    assert isinstance(refused, Refusal)
