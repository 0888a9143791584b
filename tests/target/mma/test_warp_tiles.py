"""Accumulators of wgmma over several instructions and warpgroups."""

from __future__ import annotations

import numpy as np
import pytest

from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.registers.row_values import row_values
from tileas_xdsl.target.mma.matrix_units import WGMMA
from tileas_xdsl.target.mma.register_layouts import REGISTER_LAYOUTS, wgmma_accumulator
from tileas_xdsl.target.mma.warp_tiles import (
    accumulator_layout,
    columns_of_warpgroup,
    fits_accumulators,
    fragment_layout,
    fragment_of_sums,
    has_whole_rows,
    instructions_of,
    is_accumulator,
    warpgroups_of,
)


@pytest.mark.parametrize("n", [8, 24, 256])
def test_accumulators_are_those_of_the_instruction(n: int) -> None:
    one = accumulator_layout(64, n, 1)
    assert one.has_same_map(wgmma_accumulator(n).fragment)
    assert is_accumulator(one)
    assert is_accumulator(wgmma_accumulator(n).fragment)


@pytest.mark.parametrize(
    ("bits", "name"), [(8, "m64k32.8bit"), (16, "m64k16.16bit"), (32, "m64k8.tf32")]
)
def test_fragments_of_a_are_those_of_the_instruction(bits: int, name: str) -> None:
    """Steps of K lie behind one another, instructions of a warpgroup behind those."""
    one, depth = REGISTER_LAYOUTS[f"wgmma.{name}.a"].fragment, 256 // bits
    assert fragment_layout(64, depth, bits, 1).has_same_map(one)
    held = fragment_layout(256, 2 * depth, bits, 2).held[128:]
    rows, columns, count = one.held % 64, one.held // 64, one.values
    for part in range(4):
        block, step = divmod(part, 2)
        here = held[:, part * count : (part + 1) * count]
        assert np.array_equal(here, rows + 64 * block + 128 + 256 * (columns + step * depth))


@pytest.mark.parametrize(("m", "k", "groups"), [(64, 32, 1), (128, 128, 2), (256, 64, 2)])
def test_fragments_of_sums_are_fragments_of_a_permuted_depth(m: int, k: int, groups: int) -> None:
    """A thread has the columns of its sums, in the places of four bytes side by side."""
    place = np.arange(k)
    column = place // 16 * 16 + 8 * (place // 2 % 2) + 2 * (place % 16 // 4) + place % 2
    of_bytes, found = fragment_layout(m, k, 8, groups).held, fragment_of_sums(m, k, groups).held
    assert np.array_equal(found, of_bytes % m + m * column[of_bytes // m])
    sums = accumulator_layout(m, k, groups).held
    assert np.array_equal(np.sort(found, axis=1), np.sort(sums, axis=1))


@pytest.mark.parametrize(("m", "groups"), [(64, 1), (128, 1), (256, 2)])
def test_rows_in_pairs_are_rows_in_order_of_lanes(m: int, groups: int) -> None:
    """What has row r of a warp's 16 has row 2 r, what has 8 + r has 2 r + 1: of A, and of sums."""
    row = np.arange(m)
    moved = row // 16 * 16 + row % 8 * 2 + row % 16 // 8
    for usual, found in (
        (accumulator_layout(m, 32, groups), accumulator_layout(m, 32, groups, in_pairs=True)),
        (fragment_layout(m, 32, 16, groups), fragment_layout(m, 32, 16, groups, in_pairs=True)),
    ):
        assert np.array_equal(found.held, moved[usual.held % m] + usual.held // m * m)
        assert not is_accumulator(found)
        assert is_accumulator(found, in_pairs=True)


def test_accumulators_of_several_instructions_and_warpgroups() -> None:
    layout = accumulator_layout(256, 16, 2)
    assert (warpgroups_of(layout), instructions_of(layout)) == (2, 2)
    single = wgmma_accumulator(16).fragment.held
    for group in range(2):
        for block in range(2):
            here = layout.held[128 * group : 128 * (group + 1), 8 * block : 8 * (block + 1)]
            rows, columns = single % 64, single // 64
            assert np.array_equal(here, rows + 64 * block + 128 * group + 256 * columns)


def test_the_values_of_their_rows_are_in_the_four_lanes_that_have_parts_of_them() -> None:
    """Value `i` is of half `i % 2` of instruction `i // 2`."""
    rows = row_values(accumulator_layout(256, 32, 2).layout)
    assert rows is not None
    held = RegisterLayout(rows, (256,), 256).held
    for thread in range(0, 256, 5):
        warp, lane = thread // 32 % 4, thread % 32
        first = 128 * (thread // 128) + 16 * warp + lane // 4
        assert held[thread].tolist() == [first + 8 * (i % 2) + 64 * (i // 2) for i in range(4)]


def test_warpgroups_share_columns_where_rows_are_few() -> None:
    """Two of 64 x 128: the first has columns 0 to 63, as one instruction of 64 x 64 has them."""
    layout, single = accumulator_layout(64, 128, 2), wgmma_accumulator(64).fragment.held
    assert is_accumulator(layout)
    assert not has_whole_rows(layout)
    assert (columns_of_warpgroup(layout), instructions_of(layout)) == (64, 1)
    for group in range(2):
        here = layout.held[128 * group : 128 * (group + 1)]
        assert np.array_equal(here, single + 64 * 64 * group)
    assert fits_accumulators(192, 192, 2) is False, "shares of 96 columns are no whole panels"
    assert [WGMMA.takes_extents(64, 512, groups) for groups in (1, 2)] == [False, True]


def test_other_layouts_are_no_accumulators() -> None:
    layout = accumulator_layout(64, 16, 1)
    assert not is_accumulator(RegisterLayout(layout.layout, layout.shape, 256))
