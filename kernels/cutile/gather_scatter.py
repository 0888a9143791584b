# pyright: basic
"""Rows that are found by their numbers: an embedding, rows put where they belong, single elements.

Numbers that are none of a row, negative ones too, give the padding, or are not stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import cuda.tile as ct
import numpy as np

from kernels.cutile.problem import Problem
from kernels.elements import ELEMENTS, Array
from kernels.kernel import Reference, tiles_of

NOTHING = -7
"""What elements that are left out become."""


@ct.kernel
def embedding(table, words, y, rows: ct.Constant[int], columns: ct.Constant[int]):
    """Gather rows of the table by the indices in `words`; out-of-bounds ones give zeros."""
    i, j = ct.bid(0), ct.bid(1)
    row = ct.load(words, index=(i,), shape=(rows,), padding_mode=ct.PaddingMode.ZERO)
    column = j * columns + ct.arange(columns, dtype=ct.int32)
    ct.store(y, index=(i, j), tile=ct.gather(table, (row[:, None], column[None, :])))


@ct.kernel
def scatter_rows(x, places, y, rows: ct.Constant[int], columns: ct.Constant[int]):
    """Scatter row k of `x` to row `places[k]` of `y`."""
    i, j = ct.bid(0), ct.bid(1)
    at = i * rows + ct.arange(rows, dtype=ct.int32)
    # Behind the end of `places` there is no row.
    row = ct.gather(places, at, padding_value=-1)
    column = j * columns + ct.arange(columns, dtype=ct.int32)
    tile = ct.load(x, index=(i, j), shape=(rows, columns))
    ct.scatter(y, (row[:, None], column[None, :]), tile)


@ct.kernel
def take(x, indices, y, tile: ct.Constant[int]):
    """Gather elements of a vector by even indices; others give NOTHING."""
    i = ct.bid(0)
    index = ct.load(indices, index=(i,), shape=(tile,), padding_mode=ct.PaddingMode.ZERO)
    even = ct.bitwise_and(index, 1) == 0
    ct.store(y, index=(i,), tile=ct.gather(x, index, mask=even, padding_value=NOTHING))


def _numbers(rng: np.random.Generator, count: int, rows: int) -> Array:
    """Return random row indices, every eighth out of bounds on either side."""
    found = rng.integers(0, rows, count).astype(np.int32)
    found[::8] += rows
    found[4::16] = -1 - found[4::16]
    return found


def _rows(table: Array, numbers: Array, nothing: float) -> Array:
    known = (numbers >= 0) & (numbers < len(table))
    taken = table[np.where(known, numbers, 0)]
    return np.where(known.reshape(-1, *[1] * (table.ndim - 1)), taken, table.dtype.type(nothing))


def _embedding(rows: int, words: int, width: int, tile: tuple[int, int], element: str) -> Problem:
    kind = ELEMENTS[element]

    def make(rng: np.random.Generator) -> Sequence[Any]:
        table, y = kind.random(rng, (rows, width)), kind.unset(rng, (words, width))
        return table, _numbers(rng, words, rows), y, *tile

    def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        return {2: Reference(_rows(arguments[0], arguments[1], 0))}

    grid = (tiles_of(words, tile[0]), tiles_of(width, tile[1]), 1)
    name = f"embedding {words} of {rows}x{width} {element}"
    return Problem(name, embedding, make, reference, grid)


def _scatter(rows: int, into: int, width: int, tile: tuple[int, int], element: str) -> Problem:
    kind = ELEMENTS[element]

    def make(rng: np.random.Generator) -> Sequence[Any]:
        places = rng.permutation(into + rows)[:rows].astype(np.int32)
        y = rng.permutation(into * width).reshape(into, width).astype(kind.dtype)
        return kind.random(rng, (rows, width)), places, y, *tile

    def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        x, places, y, *_ = arguments
        expected = y.copy()
        expected[places[places < into]] = x[places < into]
        return {2: Reference(expected)}

    grid = (tiles_of(rows, tile[0]), tiles_of(width, tile[1]), 1)
    name = f"scatter {rows} into {into}x{width} {element}"
    return Problem(name, scatter_rows, make, reference, grid)


def _take(length: int, count: int, tile: int, element: str) -> Problem:
    kind = ELEMENTS[element]

    def make(rng: np.random.Generator) -> Sequence[Any]:
        x, y = kind.random(rng, (length,)), kind.unset(rng, (count,))
        return x, _numbers(rng, count, length), y, tile

    def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        x, indices, *_ = arguments
        chosen = np.where(indices % 2 == 0, indices, -1)
        return {2: Reference(_rows(x, chosen, NOTHING))}

    grid = (tiles_of(count, tile), 1, 1)
    return Problem(f"take {count} of {length} {element}", take, make, reference, grid)


PROBLEMS: Sequence[Problem] = (
    _embedding(50, 37, 100, (16, 64), "f16"),
    _embedding(300, 64, 256, (8, 256), "f32"),
    _scatter(37, 50, 72, (16, 64), "f16"),
    _scatter(32, 40, 64, (32, 64), "i64"),
    _take(500, 333, 128, "f32"),
    _take(99, 64, 64, "i32"),
)
