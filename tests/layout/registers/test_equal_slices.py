"""Slices of register tiles have one layout each, or none where they lie apart."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pytest

from tileas_xdsl.layout.axes import E
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.registers.blocked import blocked_layout, line_layout
from tileas_xdsl.layout.registers.equal_slices import equal_slices
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.tables import Table
from tileas_xdsl.target.mma.warp_tiles import accumulator_layout

T, V = partial(E, "thread"), partial(E, "value")
MMA_SYNC = RegisterLayout(
    Layout(
        ((8, 2, 2, 4), (2, 4, 2, 4, 4)),
        ((T(4), V(2), T(32), V(32)), (V(1), T(1), V(4), T(64), V(8))),
    ),
    (128, 256),
    256,
)
TILES = (
    MMA_SYNC,
    accumulator_layout(128, 64, 2),
    *(line_layout(shape, 2, 4) for shape in ((4, 64), (16, 8), (8, 256))),
    *(blocked_layout(shape, 4, 2) for shape in ((4, 64), (16, 8), (8, 256))),
)


@pytest.mark.parametrize("whole", TILES, ids=str)
def test_each_thread_holds_of_a_slice_what_it_holds_of_the_tile(whole: RegisterLayout) -> None:
    """By elements of each slice: the registers of its layout, in order, are those of the tile."""
    for parts in ((1, 2), (2, 1), (2, 4)):
        shape = tuple(extent // n for extent, n in zip(whole.shape, parts, strict=True))
        found = equal_slices(whole, shape)
        kept = [_held_of_slice(whole, shape, at) for at in product(*map(range, parts))]
        same = [_is(one, kept[0] if found is None else found.held) for one in kept]
        assert all(same) is (found is not None)


def _is(one: Table | None, other: Table | None) -> bool:
    return one is not None and other is not None and np.array_equal(one, other)


def _held_of_slice(
    whole: RegisterLayout, shape: tuple[int, ...], at: tuple[int, ...]
) -> Table | None:
    """By thread, its elements of a slice in the order of registers; None of unequal shares."""
    coordinates = np.unravel_index(whole.held, whole.shape, order="F")
    first = [k * extent for k, extent in zip(at, shape, strict=True)]
    inside = np.logical_and.reduce(
        [(c >= n) & (c < n + e) for c, n, e in zip(coordinates, first, shape, strict=True)]
    )
    shares = inside.sum(axis=1)
    if (shares != shares[0]).any():
        return None
    local = [np.where(inside, c - n, 0) for c, n in zip(coordinates, first, strict=True)]
    return np.ravel_multi_index(tuple(local), shape, order="F")[inside].reshape(len(inside), -1)


def test_a_slice_that_begins_within_a_digit_has_no_layout() -> None:
    columns = Layout((1, (2, 3, 2)), (0, (V(1), T(1), V(2))))
    assert equal_slices(RegisterLayout(columns, (1, 12), 4), (1, 4)) is None
