"""The layouts that the lowering chooses, as layouts onto threads and values."""

from __future__ import annotations

import numpy as np
import pytest

from tileas_xdsl.analysis.register_tiles import (
    LANES,
    AccumulatorLayout,
    ColumnLayout,
    PlainLayout,
    RowsLayout,
    column_layout,
    encoding_layout,
    flat_layout,
    rows_layout,
)
from tileas_xdsl.layout.fragment import Fragment
from tileas_xdsl.layout.tables import Table, is_injective
from tileas_xdsl.layout.text import parse_cute_layout
from tileas_xdsl.target.register_layouts import wgmma_accumulator


def _place(layout: PlainLayout, thread: int, block: int, register: int) -> int:
    """The row-major position that a register holds, from the definitions of the layouts."""
    warp, lane = thread // LANES % layout.warps, thread % LANES % layout.lanes
    group, turn = warp // layout.group, warp % layout.group
    piece, inside = divmod(register, layout.vector)
    if isinstance(layout, ColumnLayout):
        return group + layout.groups * register
    if isinstance(layout, RowsLayout):
        column = piece * layout.stride + (turn * layout.lanes + lane) * layout.vector + inside
        return (group + layout.groups * block) * layout.columns + column
    return piece * layout.stride + (warp * layout.lanes + lane) * layout.vector + inside


def _row_major(held: Table, shape: tuple[int, ...]) -> Table:
    """Column-major indices as row-major ones."""
    order: Table = np.arange(held.max() + 1, dtype=np.int64).reshape(shape)
    return order.ravel(order="F")[held]


@pytest.mark.parametrize("warps", [1, 2, 4, 6, 8, 12])
@pytest.mark.parametrize(
    "shape", [(), (1,), (64,), (2048,), (4, 16), (64, 64), (1, 1024), (4, 8, 16)]
)
def test_encodings_are_where_the_lowering_has_its_elements(
    shape: tuple[int, ...], warps: int
) -> None:
    layouts: list[PlainLayout] = [flat_layout(shape, warps, 2)]
    if len(shape) > 1:
        matrix = rows_layout(shape, warps, 4)
        layouts = [matrix, column_layout(matrix)]
    for layout in layouts:
        encoding = encoding_layout(layout, warps * LANES)
        assert str(parse_cute_layout(str(encoding))) == str(encoding)
        assert is_injective(encoding)
        held = Fragment(encoding, layout.shape, warps * LANES).held
        assert held.shape[1] == layout.blocks * layout.registers
        found = _row_major(held, layout.shape)
        used = warps // layout.warps * layout.warps * LANES
        for thread in range(0, used, 7):
            places = [
                _place(layout, thread, block, register)
                for block in range(layout.blocks)
                for register in range(layout.registers)
            ]
            assert found[thread].tolist() == places
        assert (held[used:] == -1).all()


@pytest.mark.parametrize("n", [8, 24, 256])
def test_accumulators_are_those_of_the_instruction(n: int) -> None:
    one = encoding_layout(AccumulatorLayout(64, n, 1), 128)
    assert np.array_equal(Fragment(one, (64, n), 128).held, wgmma_accumulator(n).fragment.held)


def test_accumulators_of_several_blocks_and_warpgroups() -> None:
    layout = encoding_layout(AccumulatorLayout(256, 16, 2), 256)
    held = Fragment(layout, (256, 16), 256).held
    single = wgmma_accumulator(16).fragment.held
    for group in range(2):
        for block in range(2):
            here = held[128 * group : 128 * (group + 1), 8 * block : 8 * (block + 1)]
            rows, columns = single % 64, single // 64
            assert np.array_equal(here, rows + 64 * block + 128 * group + 256 * columns)
