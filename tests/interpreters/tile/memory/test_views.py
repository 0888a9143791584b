"""Views against numpy: windows of windows, what of them exists, other shapes and elements."""

from __future__ import annotations

import random

import numpy as np
import pytest
from xdsl.dialects.builtin import bf16, f16, f32, i32

from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.interpreters.tile.memory.tracked_memory import WEAK, Actor, Memory
from tileas_xdsl.interpreters.tile.memory.views import (
    View,
    ViewError,
    as_tile,
    contiguous,
    row_major,
)
from tileas_xdsl.interpreters.tile.synchronization.vector_clocks import Clock


def actor() -> Actor:
    return Actor("a", "a", Clock("a"))


def memory(*shape: int) -> Memory:
    data = np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)
    return Memory("m", Space.GMEM, data, is_initialised=True)


def test_windows_of_windows_are_where_numpy_has_them() -> None:
    """Each index of a window stands for one of the array, whether it exists or not."""
    rng = random.Random(0)
    for _ in range(400):
        extents = (rng.randint(1, 7), rng.randint(1, 7))
        view = View.whole(memory(*extents), f32)
        origin, step = [0, 0], [1, 1]
        for _ in range(rng.randint(1, 3)):
            starts = [rng.randint(-3, 5) for _ in range(2)]
            steps = [rng.choice([1, 1, 2, 3]) for _ in range(2)]
            shape = [rng.randint(1, 5) for _ in range(2)]
            view = view.part(starts, shape, steps)
            origin = [o + s * i for o, s, i in zip(origin, step, starts, strict=True)]
            step = [s * t for s, t in zip(step, steps, strict=True)]
        data, place = view.memory.data, {}
        for index in np.ndindex(*view.shape):
            at = tuple(o + s * i for o, s, i in zip(origin, step, index, strict=True))
            if all(0 <= k < n for k, n in zip(at, extents, strict=True)):
                place[index] = data[at]
        assert view.is_inside == (len(place) == np.prod(view.shape))
        clipped = view.clipped()
        assert (clipped is None) == (not place)
        if clipped is None:
            continue
        inside, where = clipped
        covered = np.zeros(view.shape, np.bool_)
        covered[where] = True
        assert {tuple(map(int, i)) for i in np.argwhere(covered)} == set(place)
        first = min(place)
        wanted = np.array([place[i] for i in sorted(place)]).reshape(inside.shape)
        np.testing.assert_array_equal(inside.read(actor()), wanted)
        chosen = rng.sample(sorted(place), min(3, len(place)))
        index = [np.array([i[axis] for i in chosen]) for axis in range(2)]
        np.testing.assert_array_equal(view.read_at(index, actor()), [place[i] for i in chosen])
        view.write_at(index, np.float32(7), actor(), WEAK)
        assert all(inside.array()[tuple(np.subtract(i, first))] == 7 for i in chosen)


def test_index_arrays_reach_before_a_window() -> None:
    whole = View.whole(memory(6, 8), f32)
    view = whole.part((2, 4), (2, 2))
    rows, columns = np.array([-2, -1, 3]), np.array([-4, 3, 0])
    wanted = view.memory.data[rows + 2, columns + 4]
    np.testing.assert_array_equal(view.read_at((rows, columns), actor()), wanted)
    np.testing.assert_array_equal(view.seen_at((rows, columns)), wanted)


def test_other_shapes_and_elements_of_the_same_bytes() -> None:
    whole = View.whole(memory(6, 8), f32)
    data = whole.memory.data
    np.testing.assert_array_equal(whole.reshaped((4, 12)).array(), data.reshape(4, 12))
    np.testing.assert_array_equal(whole.reshaped((6, 8), i32).array(), data.view(np.int32))
    assert whole.reshaped((12, 8), bf16).read(actor()).tobytes() == data.tobytes()
    rows = whole.part((2, 0), (3, 8))
    np.testing.assert_array_equal(rows.reshaped((24,)).array(), data[2:5].ravel())
    np.testing.assert_array_equal(rows.reshaped((2, 4)).array(), data[2].reshape(2, 4))
    columns = whole.part((0, 1), (6, 4))
    assert columns.reshaped((6, 4), i32).array().tobytes() == data[:, 1:5].tobytes()
    with pytest.raises(ViewError, match="a window with gaps has no other shape"):
        columns.reshaped((24,))
    with pytest.raises(ViewError, match="192 bytes are asked of a window of 96"):
        rows.reshaped((6, 8))
    with pytest.raises(ViewError, match="has no other shape"):
        whole.part((4, 0), (3, 8)).reshaped((24,))


def test_a_window_may_pass_the_end_by_whole_rows() -> None:
    m = memory(5, 4)
    view = contiguous(m, 32, (4, 4), f32)
    assert view.valid == ((0, 3), (0, 4))
    assert not view.is_inside
    with pytest.raises(ViewError, match="a part of the tile is outside its memory"):
        as_tile(view, actor())
    assert as_tile(np.float32(3), actor()) == 3
    assert contiguous(m, 80, (2, 4), f32).clipped() is None
    assert contiguous(m, 16, (4, 4), f32).is_inside


def test_facts_of_a_view() -> None:
    view = View.whole(memory(6, 8), f32).part((1, 2), (2, 3), (2, 1))
    assert (view.offset, view.strides, view.extents) == (40, (64, 4), (3, 6))
    assert (view.dtype, view.is_contiguous) == (np.float32, False)
    assert row_major((2, 3, 4), 2) == (24, 8, 2)
    assert row_major((), 4) == ()
    scalar = View.whole(Memory("s", Space.GMEM, np.array(3, np.float16), is_initialised=True), f16)
    assert scalar.read(actor()) == 3
    assert scalar.is_inside
