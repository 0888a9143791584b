"""Blocked layouts: closed form and register layout agree on the position of every element."""

from __future__ import annotations

import numpy as np
import pytest

from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.output.text import parse_cute_layout
from tileas_xdsl.layout.registers.blocked import (
    WIDTHS,
    Blocked,
    blocked,
    blocked_layout,
    line_layout,
    row_values_layout,
    rows_layout,
)
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.tables import Table, is_injective
from tileas_xdsl.layout.units import WARP

SHAPES = [(), (1,), (64,), (2048,), (4, 16), (64, 64), (1, 1024), (4, 8, 16)]


def _place(form: Blocked, thread: int, block: int, register: int) -> int:
    """The row-major position that a register holds, from the definition of the closed form."""
    warp, lane = divmod(thread, WARP)
    chunk, inside = divmod(register, form.vector)
    chunk_of_thread = lane % form.lanes + form.lanes * (warp // form.copies % form.warps)
    column = inside + form.vector * chunk_of_thread + form.stride * chunk
    if not form.is_by_rows:
        return column
    row = warp // form.warps % form.row_warps + form.row_warps * block
    return row * form.columns + column


def _row_major(held: Table, shape: tuple[int, ...]) -> Table:
    """Column-major indices as row-major ones."""
    order: Table = np.arange(held.max() + 1, dtype=np.int64).reshape(shape)
    return order.ravel(order="F")[held]


def _layouts(shape: tuple[int, ...], warps: int) -> list[RegisterLayout]:
    found = [blocked_layout(shape, warps, width) for width in WIDTHS]
    if len(shape) < 2:
        return found
    rows = rows_layout(shape, warps, 4)
    return [*found, rows, row_values_layout(rows)]


@pytest.mark.parametrize("warps", [1, 2, 4, 6, 8, 12])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_closed_form_is_where_the_layout_has_its_elements(
    shape: tuple[int, ...], warps: int
) -> None:
    for layout in _layouts(shape, warps):
        form = blocked(layout)
        assert form is not None
        assert layout.values == form.blocks * form.registers
        found, used = _row_major(layout.held, layout.shape), form.used_warps
        holding = warps // used * used * WARP
        for thread in range(0, holding, 7):
            places = [
                _place(form, thread, block, register)
                for block in range(form.blocks)
                for register in range(form.registers)
            ]
            assert found[thread].tolist() == places
        assert (layout.held[holding:] == -1).all()


@pytest.mark.parametrize("warps", [1, 4, 6])
@pytest.mark.parametrize("shape", SHAPES)
def test_blocked_layouts_print_and_hold_each_element_where_no_other_is(
    shape: tuple[int, ...], warps: int
) -> None:
    for layout in [line_layout(shape, warps, 2), *_layouts(shape, warps)]:
        text = str(layout.layout)
        assert str(parse_cute_layout(text)) == text
        assert is_injective(layout.layout)


@pytest.mark.parametrize(
    "text",
    [
        "((8,2),(2,4,2)):((4@thread,2@value),(1@value,1@thread,4@value))",
        "(16,16):(16@value,1@value)",
        "(16,(2,8)):(8@thread,(1@thread,1@value))",
    ],
    ids=["fragment of mma", "one thread", "lanes before values"],
)
def test_other_layouts_have_no_closed_form(text: str) -> None:
    layout = parse_cute_layout(text)
    assert isinstance(layout, Layout)
    assert blocked(RegisterLayout(layout, (16, 16), 128)) is None
