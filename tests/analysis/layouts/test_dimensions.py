"""Layouts of tiles that gain or lose a dimension of one element."""

from __future__ import annotations

import pytest

from tileas_xdsl.analysis.layouts.dimensions import with_dimension, without_dimension
from tileas_xdsl.dialects.nv_tileas.attributes import LinearEncoding, SharedEncoding
from tileas_xdsl.layout.axes import E
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout

ROWS = LinearEncoding(Layout((4, (2, 8)), (E("thread", 8), (E("value"), E("thread")))))


@pytest.mark.parametrize("axis", range(3))
def test_a_dimension_that_is_added_may_be_taken_out_again(axis: int) -> None:
    wider = with_dimension(ROWS, axis)
    assert isinstance(wider, LinearEncoding)
    assert wider.data[axis].size() == 1
    assert without_dimension(wider, axis) == ROWS


def test_only_dimensions_of_one_element_of_registers_are_taken_out() -> None:
    assert without_dimension(ROWS, 0) is None
    assert without_dimension(ROWS, 2) is None
    assert without_dimension(LinearEncoding(Layout((1,), (0,))), 0) is None
    shared = SharedEncoding(MemoryLayout(Layout((1, 8), (8, 1))))
    assert with_dimension(shared, 0) is None
    assert without_dimension(shared, 0) is None
