"""Register layouts of permuted tiles: every element stays in its thread and register."""

from __future__ import annotations

import numpy as np
import pytest

from tileas_xdsl.layout.axes import E
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.registers.permuted_dimensions import permuted_dimensions
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.target.mma.warp_tiles import accumulator_layout

REPLICATED = RegisterLayout(
    Layout((4, 2, 3), (E("thread"), E("value"), E("thread", 4))), (4, 2), 12
)


@pytest.mark.parametrize(
    "layout", [accumulator_layout(128, 64, 2), REPLICATED], ids=["sums", "replicas"]
)
def test_a_transpose_moves_nothing(layout: RegisterLayout) -> None:
    found = permuted_dimensions(layout, (1, 0))
    rows, columns = np.unravel_index(layout.held, layout.shape, order="F")
    assert (found.held == np.ravel_multi_index((columns, rows), found.shape, order="F")).all()
    assert permuted_dimensions(found, (1, 0)) == layout


def test_dimensions_go_where_the_order_says() -> None:
    layout = RegisterLayout(
        Layout((2, 4, 8), (E("thread"), E("value"), E("thread", 2))), (2, 4, 8), 16
    )
    assert permuted_dimensions(layout, (1, 2, 0)).shape == (8, 2, 4)
