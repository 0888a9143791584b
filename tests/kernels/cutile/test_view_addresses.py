"""Where the tiles of views are: traversal steps, and slices beside indexed dimensions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas

ct: Any = pytest.importorskip("cuda.tile")

TARGETS = ("sm_90a", "sm_100a")
STEPS = [(4, 16), (5, 7), (16, 32)]
"""Tiles of 8x16 that overlap, that begin anywhere, and that leave gaps."""


@ct.kernel
def gathered(x: Any, y: Any, rows: Any, column: Any) -> None:
    """Loads eight rows of eight columns from a column on."""
    indices = ct.load(rows, (0,), (8,))
    slices = (indices, ct.Slice(column, 8))
    ct.store(y, (0, 0), ct.load_advanced_indexing(x, slices, padding_mode=ct.PaddingMode.ZERO))


@ct.kernel
def scattered(x: Any, y: Any, rows: Any, column: Any) -> None:
    """Stores eight rows of eight columns from a column on."""
    indices = ct.load(rows, (0,), (8,))
    ct.store_advanced_indexing(y, (indices, ct.Slice(column, 8)), ct.load(x, (0, 0), (8, 8)))


@ct.kernel
def columns(x: Any, y: Any, chosen: Any, row: ct.Constant[int]) -> None:
    """Loads eight columns of four rows from a row that is known."""
    indices = ct.load(chosen, (0,), (8,))
    ct.store(y, (0, 0), ct.load_advanced_indexing(x, (ct.Slice(row, 4), indices)))


@ct.kernel
def moved(x: Any, y: Any, steps: ct.Constant[tuple]) -> None:
    """Stores the tiles of a view in order: where several have an element, the last one wins."""
    source = x.tiled_view((8, 16), traversal_steps=steps)
    target = y.tiled_view((8, 16), traversal_steps=steps)
    for i in range(source.num_tiles(0)):
        for j in range(source.num_tiles(1)):
            target.store((i, j), source.load((i, j)) + 10 * i + j)


@ct.kernel
def added(x: Any, y: Any, steps: ct.Constant[tuple]) -> None:
    """Adds the tiles of a view to memory."""
    source = x.tiled_view((8, 16), traversal_steps=steps)
    target = y.tiled_view((8, 16), traversal_steps=steps)
    for i in range(source.num_tiles(0)):
        for j in range(source.num_tiles(1)):
            target.atomic_store_add((i, j), source.load((i, j)))


@ct.kernel
def sliced(x: Any, y: Any) -> None:
    """Copies a slice of 6 to 8 elements, which is smaller than the tile along one axis."""
    source = x.slice(axis=0, start=2, stop=8).slice(axis=1, start=8, stop=16)
    target = y.slice(axis=0, start=1, stop=7)
    tile = ct.load(source, (0, 0), (8, 16), padding_mode=ct.PaddingMode.ZERO)
    ct.store(target, (0, 0), tile)


def runs(kernel: Any, *args: Any) -> Iterator[Sequence[Any]]:
    """The arguments after a run at each level, for each target."""
    for target in TARGETS:
        compiled = tileas.compile(kernel, *args, target=target)
        yield compiled.evaluate(*args).arrays
        yield compiled.simulate(*args).arrays
        emulated = compiled.emulate(*args)
        assert not emulated.findings
        yield emulated.arrays


X = np.random.default_rng(0).standard_normal((20, 40)).astype(np.float32)
ROWS = np.array([7, 0, 19, 3, 21, 5, -1, 2], np.int32)


def known(column: int) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """The elements of the tile that the array has."""
    for i, j in product(range(8), range(8)):
        if 0 <= ROWS[i] < 20 and 0 <= column + j < 40:
            yield (i, j), (ROWS[i], column + j)


@pytest.mark.parametrize("column", [0, 3, 37, -2])
def test_a_slice_begins_at_an_element(column: int) -> None:
    wanted = np.zeros((8, 8), np.float32)
    for here, there in known(column):
        wanted[here] = X[there]
    for after in runs(gathered, X, np.ones_like(wanted), ROWS, column):
        np.testing.assert_array_equal(after[1], wanted)


def test_a_slice_is_stored_from_an_element_on() -> None:
    tile, wanted = X[8:16, :8].copy(), np.ones_like(X)
    for here, there in known(5):
        wanted[there] = tile[here]
    for after in runs(scattered, tile, np.ones_like(X), ROWS, 5):
        np.testing.assert_array_equal(after[1], wanted)


def test_a_slice_of_rows_beside_indexed_columns() -> None:
    chosen = np.array([3, 39, 0, 17, 3, 8, 21, 4], np.int32)
    for after in runs(columns, X, np.zeros((4, 8), np.float32), chosen, 6):
        np.testing.assert_array_equal(after[1], X[6:10, chosen])


@pytest.mark.parametrize("steps", STEPS)
def test_tiles_begin_a_traversal_step_apart(steps: tuple[int, int]) -> None:
    wanted = np.zeros_like(X)
    for i, j in product(range(0, 20, steps[0]), range(0, 40, steps[1])):
        part = slice(i, i + 8), slice(j, j + 16)
        wanted[part] = X[part] + np.float32(10 * (i // steps[0]) + j // steps[1])
    for after in runs(moved, X, np.zeros_like(X), steps):
        np.testing.assert_allclose(after[1], wanted, rtol=1e-6)


@pytest.mark.parametrize("steps", STEPS)
def test_tiles_a_traversal_step_apart_are_updated(steps: tuple[int, int]) -> None:
    x = np.random.default_rng(1).integers(0, 99, (20, 40)).astype(np.int32)
    wanted = np.ones_like(x)
    for i, j in product(range(0, 20, steps[0]), range(0, 40, steps[1])):
        part = slice(i, i + 8), slice(j, j + 16)
        wanted[part] += x[part]
    for after in runs(added, x, np.ones_like(x), steps):
        np.testing.assert_array_equal(after[1], wanted)


@pytest.mark.parametrize("dtype", [np.float16, np.int64])
def test_arrays_of_known_extents_may_be_smaller_than_tiles(dtype: type) -> None:
    x = np.random.default_rng(5).integers(1, 90, (12, 16)).astype(dtype)
    y = np.full((9, 16), 7, dtype)
    expected = y.copy()
    expected[1:7] = 0
    expected[1:7, :8] = x[2:8, 8:]
    for arrays in runs(sliced, x, y):
        np.testing.assert_array_equal(arrays[1], expected)
