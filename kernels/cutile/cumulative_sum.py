# pyright: basic
"""Running sums and products along each axis, forwards and backwards; of long rows, tile by tile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import cuda.tile as ct
import numpy as np

from kernels.cutile.problem import Problem
from kernels.elements import ELEMENTS, F32, Reals, accumulated
from kernels.kernel import Reference, tiles_of
from kernels.rounded import Rounded

Count, Flag = ct.Constant[int], ct.Constant[bool]
ZERO = ct.PaddingMode.ZERO


@ct.kernel
def cumulative_sum(x, y, axis: Count, reverse: Flag, rows: Count, columns: Count):
    """Of a matrix that is one tile."""
    tile = ct.load(x, (0, 0), (rows, columns), padding_mode=ZERO)
    wide = ct.int32 if x.dtype == ct.int32 else ct.float32
    sums = ct.cumsum(ct.astype(tile, wide), axis=axis, reverse=reverse)
    ct.store(y, (0, 0), ct.astype(sums, y.dtype))


@ct.kernel
def cumulative_product(x, y, axis: Count, reverse: Flag, rows: Count, columns: Count):
    """Of a matrix that is one tile; what is past its end counts as 1."""
    tile = ct.load(x, (0, 0), (rows, columns))
    row = ct.reshape(ct.arange(rows, dtype=ct.int32), (rows, 1))
    column = ct.arange(columns, dtype=ct.int32)
    tile = ct.where((row < x.shape[0]) & (column < x.shape[1]), tile, 1.0)
    ct.store(y, (0, 0), ct.cumprod(tile, axis=axis, reverse=reverse))


@ct.kernel
def cumulative_sum_of_planes(
    x, y, axis: Count, reverse: Flag, planes: Count, rows: Count, columns: Count
):
    """Of an array of three axes that is one tile."""
    tile = ct.load(x, (0, 0, 0), (planes, rows, columns), padding_mode=ZERO)
    ct.store(y, (0, 0, 0), ct.cumsum(tile, axis=axis, reverse=reverse))


@ct.kernel
def cumulative_sum_of_rows(x, y, rows: ct.Constant[int], columns: ct.Constant[int]):
    """Rows of any length: each tile goes on from the sum of those before."""
    i = ct.bid(0)
    before = ct.zeros((rows, 1), dtype=ct.float32)
    for j in range(ct.num_tiles(x, axis=1, shape=(rows, columns))):
        tile = ct.load(x, (i, j), (rows, columns), padding_mode=ZERO)
        tile = ct.astype(tile, ct.float32)
        ct.store(y, (i, j), ct.astype(before + ct.cumsum(tile, axis=1), y.dtype))
        before += ct.sum(tile, axis=1, keepdims=True)


def running(x: Reals, axis: int, reverse: bool) -> Reals:
    """Return running sums in f64."""
    if reverse:
        return np.flip(np.cumsum(np.flip(x, axis), axis=axis), axis)
    return np.cumsum(x, axis=axis)


def make(
    rng: np.random.Generator,
    element: str,
    shape: Sequence[int],
    axis: int,
    reverse: bool,
) -> Sequence[Any]:
    """Random numbers, and an array for the result."""
    kind = ELEMENTS[element]
    x, y = kind.random(rng, tuple(shape)), kind.unset(rng, tuple(shape))
    return x, y, axis, reverse, *(1 << (n - 1).bit_length() for n in shape)


def sums(arguments: Sequence[Any]) -> Mapping[int, Reference]:
    """Sums of floats in any order; those of integers wrap."""
    x, y, axis, reverse, *_ = arguments
    if x.dtype.kind == "i":
        return {1: Reference(running(x, axis, reverse).astype(x.dtype))}
    wide = x.astype(np.float64)
    error = accumulated(x.shape[axis], running(np.abs(wide), axis, reverse))
    return {1: Rounded(running(wide, axis, reverse), error).reference(y)}


def make_factors(
    rng: np.random.Generator, shape: Sequence[int], axis: int, reverse: bool
) -> Sequence[Any]:
    """Factors near 1 of both signs."""
    _, y, *constants = make(rng, "f32", shape, axis, reverse)
    signs = rng.choice([-1.0, 1.0], shape)
    return (signs * rng.uniform(0.8, 1.2, shape)).astype(np.float32), y, *constants


def products(arguments: Sequence[Any]) -> Mapping[int, Reference]:
    """Each product rounds once."""
    x, y, axis, reverse, *_ = arguments
    wide = x.astype(np.float64)
    turned = np.flip(wide, axis) if reverse else wide
    found = np.cumprod(turned, axis=axis)
    found = np.flip(found, axis) if reverse else found
    error = accumulated(x.shape[axis], np.abs(found)) + x.shape[axis] * F32.least
    return {1: Rounded(found, error).reference(y)}


def make_rows(
    rng: np.random.Generator, element: str, m: int, n: int, rows: int, columns: int
) -> Sequence[Any]:
    """A random matrix, and one for the result."""
    kind = ELEMENTS[element]
    return kind.random(rng, (m, n)), kind.unset(rng, (m, n)), rows, columns


def sums_of_rows(arguments: Sequence[Any]) -> Mapping[int, Reference]:
    """Sums in any order, and one more for each tile."""
    x, y, _, columns = arguments
    wide = x.astype(np.float64)
    count = x.shape[1] + tiles_of(x.shape[1], columns)
    error = accumulated(count, running(np.abs(wide), 1, reverse=False))
    return {1: Rounded(running(wide, 1, reverse=False), error).reference(y)}


def problem(element: str, shape: Sequence[int], axis: int, reverse: bool = False) -> Problem:
    """Running sums of an array that is one tile."""
    words = f"{'x'.join(map(str, shape))} along {axis}{' reversed' if reverse else ''}"
    return Problem(
        f"cumulative_sum {words} {element}",
        cumulative_sum if len(shape) == 2 else cumulative_sum_of_planes,
        partial(make, element=element, shape=shape, axis=axis, reverse=reverse),
        sums,
        (1, 1, 1),
    )


def product_problem(shape: Sequence[int], axis: int, reverse: bool = False) -> Problem:
    """Running products of an array that is one tile."""
    words = f"{'x'.join(map(str, shape))} along {axis}{' reversed' if reverse else ''}"
    return Problem(
        f"cumulative_product {words} f32",
        cumulative_product,
        partial(make_factors, shape=shape, axis=axis, reverse=reverse),
        products,
        (1, 1, 1),
    )


def rows_problem(element: str, m: int, n: int, rows: int, columns: int) -> Problem:
    """Running sums of long rows."""
    return Problem(
        f"cumulative_sum_of_rows {m}x{n} {element}",
        cumulative_sum_of_rows,
        partial(make_rows, element=element, m=m, n=n, rows=rows, columns=columns),
        sums_of_rows,
        (tiles_of(m, rows), 1, 1),
    )


PROBLEMS: Sequence[Problem] = (
    problem("f32", (16, 64), 1),
    problem("f32", (16, 64), 0),
    problem("f32", (13, 100), 1, reverse=True),
    problem("f16", (16, 64), 0, reverse=True),
    problem("i32", (3, 1000), 1),
    problem("f32", (3, 7, 20), 1),
    product_problem((16, 64), 1),
    product_problem((13, 50), 0, reverse=True),
    rows_problem("f32", 3, 1000, 1, 256),
    rows_problem("f16", 5, 333, 4, 128),
)
