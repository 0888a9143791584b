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
def copied(x: Any, y: Any, i: Any, j: Any, steps: ct.Constant[tuple]) -> None:
    """Copies one tile."""
    tile = x.tiled_view((8, 16), traversal_steps=steps).load((i, j))
    y.tiled_view((8, 16), traversal_steps=steps).store((i, j), tile)


@ct.kernel
def copied_known(x: Any, y: Any, i: Any, j: ct.Constant[int]) -> None:
    """Copies one tile, of which the columns are known."""
    tile = x.tiled_view((8, 128), traversal_steps=(4, 64)).load((i, j))
    y.tiled_view((8, 128), traversal_steps=(4, 64)).store((i, j), tile)


@ct.kernel
def squared(x: Any, y: Any, i: Any, j: Any) -> None:
    """Stores a product to one tile, and its double to one of a strided view."""
    tile = ct.load(x, (0, 0), (64, 64))
    products = ct.mma(tile, tile, ct.zeros((64, 64), ct.float32))
    ct.store(y, (i - 2, j), ct.astype(products, ct.float16))
    view = y.tiled_view((64, 64), traversal_steps=(32, 32))
    view.store((i, j), ct.astype(products * 2, ct.float16))


@ct.kernel
def narrowly_indexed(x: Any, line: Any, y: Any, rows: Any) -> None:
    """A tile, one of a strided view, rows of a gather and its columns, by indices of 8 bits."""
    chosen, counted = ct.load(rows, (0,), (8,)), ct.arange(8, dtype=ct.int32)
    first = ct.load(rows, (0,), (1,)).item()
    steps = line.tiled_view((64,), traversal_steps=(1,))
    ct.store(y, (0, 0), ct.reshape(ct.load(line, (first,), (64,)), (8, 8)))
    ct.store(y, (1, 0), ct.reshape(steps.load((first,)), (8, 8)))
    ct.store(y, (2, 0), ct.load_advanced_indexing(x, (chosen, ct.Slice(0, 8))))
    ct.store(y, (3, 0), ct.load_advanced_indexing(x, (counted, ct.Slice(first, 8))))


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


@pytest.mark.parametrize("index", [(-1, -1), (1, -1), (0, -3)])
def test_a_tile_may_begin_in_front_of_its_array(index: tuple[int, int]) -> None:
    """Columns -8 to 7 or -24 to -9 of it: those in the array are moved, and no others."""
    wanted, first = np.full_like(X, 7), (4 * index[0], 8 * index[1])
    rows = slice(max(first[0], 0), first[0] + 8), slice(0, max(first[1] + 16, 0))
    wanted[rows] = X[rows]
    for after in runs(copied, X, np.full_like(X, 7), *index, (4, 8)):
        np.testing.assert_array_equal(after[1], wanted)


@pytest.mark.parametrize("index", [-1, -2])
def test_known_columns_may_be_in_front_of_an_array(index: int) -> None:
    """Half a tile is, or all of it: columns that end at 0 are in bounds of no row."""
    x = np.random.default_rng(2).standard_normal((20, 200)).astype(np.float32)
    wanted = np.full_like(x, 7)
    wanted[4:12, : 128 + 64 * index] = x[4:12, : 128 + 64 * index]
    for after in runs(copied_known, x, np.full_like(x, 7), 1, index):
        np.testing.assert_array_equal(after[1], wanted)


def test_products_are_stored_in_front_of_an_array() -> None:
    """An H200 has no store by TMA that begins at a negative coordinate: none is issued."""
    x = np.random.default_rng(3).integers(-2, 3, (64, 64)).astype(np.float16)
    wanted = np.full((128, 128), 7, np.float16)
    wanted[:32, 64:] = 2 * (x @ x)[32:, :]
    for after in runs(squared, x, np.full_like(wanted, 7), -1, 2):
        np.testing.assert_array_equal(after[1], wanted)


def test_indices_of_eight_bits_are_unsigned() -> None:
    x = np.random.default_rng(4).integers(0, 999, (256, 264)).astype(np.int32)
    rows, line = np.array([200, 7, 255, 128, 127, 0, 199, 201], np.uint8), x.ravel()
    tiles = line[12800:12864].reshape(8, 8), line[200:264].reshape(8, 8)
    wanted = np.concatenate([*tiles, x[rows, :8], x[:8, 200:208]])
    args = (x, line, np.zeros_like(wanted), rows.view(np.int8))
    for after in runs(narrowly_indexed, *args):
        np.testing.assert_array_equal(after[2], wanted)


@pytest.mark.parametrize("dtype", [np.float16, np.int64])
def test_arrays_of_known_extents_may_be_smaller_than_tiles(dtype: type) -> None:
    x = np.random.default_rng(5).integers(1, 90, (12, 16)).astype(dtype)
    y = np.full((9, 16), 7, dtype)
    expected = y.copy()
    expected[1:7] = 0
    expected[1:7, :8] = x[2:8, 8:]
    for arrays in runs(sliced, x, y):
        np.testing.assert_array_equal(arrays[1], expected)
