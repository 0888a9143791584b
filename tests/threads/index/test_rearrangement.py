"""Register layouts in which tiles made of elements of others need no exchange."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.tensor import EmptyOp

from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.layout.axes import E
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.threads.index.rearrangement import (
    layout_of_result,
    layout_of_source,
    taken_elements,
)

T, V = (lambda step: E("thread", step)), (lambda step: E("value", step))
ROWS = RegisterLayout(Layout((4, 8), (T(1), V(1))), (4, 8), 4)
"""4x8: a thread has a row."""

LEFT = np.arange(16)
"""The left half of 4x8, column-major."""


def test_a_view_has_its_sources_elements_in_row_major_order() -> None:
    source = EmptyOp((), TensorType(f32, (2, 6)))
    taken = taken_elements(ViewOp(source.tensor, TensorType(f32, (4, 3))))
    assert taken is not None
    (one,) = taken
    numbers = np.random.default_rng(0).permutation(12).reshape(2, 6)
    seen = numbers.ravel(order="F")[one.at].reshape((4, 3), order="F")
    assert np.array_equal(seen, numbers.reshape(4, 3))
    assert one.is_injective


def test_a_part_stays_in_the_threads_that_hold_it() -> None:
    part = layout_of_result([(LEFT, ROWS)], (4, 4), 4)
    assert part is not None
    assert str(part.layout) == "(4,4):(1@thread,1@value)"


def test_tiles_side_by_side_are_held_together() -> None:
    halves = RegisterLayout(Layout((4, 4), (T(1), V(1))), (4, 4), 4)
    nothing = np.full(16, -1)
    joined = [np.r_[LEFT, nothing], np.r_[nothing, LEFT]]
    whole = layout_of_result([(at, halves) for at in joined], (4, 8), 4)
    assert whole == ROWS


def test_padding_that_every_thread_would_make_whole_has_no_common_layout() -> None:
    few, many = (np.r_[np.arange(4), np.full(extent, -1)] for extent in (4, 60))
    everywhere = RegisterLayout(Layout((4, 32), (V(1), T(1))), (4,), 32)
    padded = layout_of_result([(few, everywhere)], (8,), 32)
    assert padded is not None
    assert padded.values == 8
    assert layout_of_result([(many, everywhere)], (64,), 32) is None


def test_elements_of_different_threads_have_no_common_layout() -> None:
    """The sum of a row and the next one needs an exchange."""
    rows = RegisterLayout(Layout(4, T(1)), (4,), 4)
    pairs = [(np.array([0, 1, 2]), rows), (np.array([1, 2, 3]), rows)]
    assert layout_of_result(pairs, (3,), 4) is None


def test_a_part_of_some_threads_alone_leaves_others_idle_and_is_refused() -> None:
    columns = RegisterLayout(Layout((4, 8), (V(1), T(1))), (4, 8), 8)
    assert layout_of_result([(LEFT, columns)], (4, 4), 8) is None


def test_a_source_is_held_where_its_result_is() -> None:
    transposed = np.arange(32).reshape((4, 8), order="F").ravel(order="C")
    layout = RegisterLayout(Layout((8, 4), (V(1), T(1))), (8, 4), 4)
    assert layout_of_source(transposed, layout, (4, 8)) == ROWS


def test_a_source_that_a_thread_takes_twice_has_no_layout() -> None:
    layout = RegisterLayout(Layout((4, 2), (T(1), V(1))), (4, 2), 4)
    assert layout_of_source(np.r_[np.arange(4), np.arange(4)], layout, (4,)) is None


def test_what_is_read_in_memory_may_be_read_by_all_who_take_it() -> None:
    """Words of which each has eight parts: a thread of 4 has a word of two once, two threads it."""
    parts = RegisterLayout(Layout((2, 8), (T(1), (V(1)))), (2, 8), 2)
    found = layout_of_source(np.tile(np.arange(2), 8), parts, (2,), repeats=True)
    assert found is not None
    assert found.held.tolist() == [[0], [1]]
    halves = RegisterLayout(Layout((2, (4, 2)), (T(2), (V(1), T(1)))), (2, 8), 4)
    found = layout_of_source(np.tile(np.arange(2), 8), halves, (2,), repeats=True)
    assert found is not None
    assert found.held.tolist() == [[0], [0], [1], [1]]


def test_threads_that_take_unequally_many_have_no_layout() -> None:
    """One thread takes an element twice, the other one two."""
    layout = RegisterLayout(Layout((2, 2), (T(1), V(1))), (2, 2), 2)
    assert layout_of_source(np.array([0, 1, 0, 2]), layout, (3,), repeats=True) is None
