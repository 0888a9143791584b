# pyright: basic
"""Sum, maximum, minimum and the places of extremes, along each axis of tiles of two and three axes.

An array is one tile, or several along the axis that is reduced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import cuda.tile as ct
import numpy as np

from kernels.cutile.problem import Problem
from kernels.elements import ELEMENTS, Array
from kernels.kernel import Reference, tiles_of
from kernels.rounded import rounded

Count = ct.Constant[int]
ZERO, LOWEST, HIGHEST = ct.PaddingMode.ZERO, ct.PaddingMode.NEG_INF, ct.PaddingMode.POS_INF


def whole(x, planes: int, rows: int, columns: int, padding):
    """All of an array of two or three axes."""
    if x.ndim == 2:
        return ct.load(x, (0, 0), (rows, columns), padding_mode=padding)
    return ct.load(x, (0, 0, 0), (planes, rows, columns), padding_mode=padding)


def put(y, tile):
    """A tile into an array that it fills."""
    tile = ct.astype(tile, y.dtype)
    if y.ndim == 1:
        ct.store(y, (0,), tile)
    else:
        ct.store(y, (0, 0), tile)


@ct.kernel
def sum_along(x, y, axis: Count, planes: Count, rows: Count, columns: Count):
    """Sums of integers and of floats, which are in f32."""
    tile = whole(x, planes, rows, columns, ZERO)
    wide = ct.int32 if x.dtype == ct.int32 else ct.float32
    put(y, ct.sum(ct.astype(tile, wide), axis=axis))


@ct.kernel
def max_along(x, y, axis: Count, planes: Count, rows: Count, columns: Count):
    """Maxima of floats."""
    put(y, ct.max(whole(x, planes, rows, columns, LOWEST), axis=axis))


@ct.kernel
def min_along(x, y, axis: Count, planes: Count, rows: Count, columns: Count):
    """Minima of floats."""
    put(y, ct.min(whole(x, planes, rows, columns, HIGHEST), axis=axis))


@ct.kernel
def argmax_along(x, y, axis: Count, planes: Count, rows: Count, columns: Count):
    """The first index of each maximum."""
    put(y, ct.argmax(whole(x, planes, rows, columns, LOWEST), axis=axis))


@ct.kernel
def argmin_along(x, y, axis: Count, planes: Count, rows: Count, columns: Count):
    """The first index of each minimum."""
    put(y, ct.argmin(whole(x, planes, rows, columns, HIGHEST), axis=axis))


@ct.kernel
def sum_of_rows(x, y, rows: ct.Constant[int], columns: ct.Constant[int]):
    """Sums of rows of any length: elements of tiles are summed before those of a tile."""
    i = ct.bid(0)
    total = ct.zeros((rows, columns), dtype=ct.float32)
    for j in range(ct.num_tiles(x, axis=1, shape=(rows, columns))):
        tile = ct.load(x, (i, j), (rows, columns), padding_mode=ZERO)
        total += ct.astype(tile, ct.float32)
    ct.store(y, (i,), ct.astype(ct.sum(total, axis=1), y.dtype))


@ct.kernel
def sum_of_columns(x, y, rows: ct.Constant[int], columns: ct.Constant[int]):
    """Sums of columns of any height."""
    j = ct.bid(0)
    total = ct.zeros((rows, columns), dtype=ct.float32)
    for i in range(ct.num_tiles(x, axis=0, shape=(rows, columns))):
        tile = ct.load(x, (i, j), (rows, columns), padding_mode=ZERO)
        total += ct.astype(tile, ct.float32)
    ct.store(y, (j,), ct.astype(ct.sum(total, axis=0), y.dtype))


KERNELS: Mapping[str, tuple[Any, Callable[..., Array]]] = {
    "max": (max_along, np.max),
    "min": (min_along, np.min),
    "argmax": (argmax_along, np.argmax),
    "argmin": (argmin_along, np.argmin),
}
"""Kernels with exact results, and their numpy equivalents."""


def make(
    rng: np.random.Generator, name: str, element: str, shape: Sequence[int], axis: int
) -> Sequence[Any]:
    """Numbers among which some are equal, and an array of one axis less."""
    kind = ELEMENTS[element]
    x = np.round(4 * rng.standard_normal(shape)).astype(kind.dtype)
    if name in ("sum", "max", "min"):
        x = kind.random(rng, tuple(shape))
    kept = tuple(n for k, n in enumerate(shape) if k != axis)
    result = ELEMENTS["i32"] if name.startswith("arg") else kind
    tile = [1 << (n - 1).bit_length() for n in (1, *shape)[-3:]]
    return x, result.unset(rng, kept), axis, *tile


def exact(arguments: Sequence[Any], numpy: Callable[..., Array]) -> Mapping[int, Reference]:
    """Numpy's, bit for bit."""
    x, y, axis, *_ = arguments
    return {1: Reference(numpy(x, axis=axis).astype(y.dtype))}


def summed(arguments: Sequence[Any]) -> Mapping[int, Reference]:
    """Sums in any order, rounded once; those of integers wrap."""
    x, y, axis, *_ = arguments
    if not element_unit(x):
        return {1: Reference(np.sum(x, axis=axis, dtype=x.dtype))}
    return {1: rounded(x).sum(axis=axis).reference(y)}


def element_unit(x: Array) -> bool:
    """Whether numbers are rounded."""
    return x.dtype.kind != "i"


def problem(name: str, element: str, shape: Sequence[int], axis: int) -> Problem:
    """An array that is one tile."""
    kernel, numpy = KERNELS.get(name, (sum_along, np.sum))
    return Problem(
        f"{name} {'x'.join(map(str, shape))} along {axis} {element}",
        kernel,
        partial(make, name=name, element=element, shape=shape, axis=axis),
        summed if name == "sum" else partial(exact, numpy=numpy),
        (1, 1, 1),
    )


def make_matrix(
    rng: np.random.Generator, element: str, m: int, n: int, tile: tuple[int, int], axis: int
) -> Sequence[Any]:
    """A random matrix, and a vector for its sums."""
    kind = ELEMENTS[element]
    return kind.random(rng, (m, n)), kind.unset(rng, ((m, n)[1 - axis],)), *tile


def summed_matrix(arguments: Sequence[Any], axis: int) -> Mapping[int, Reference]:
    """Sums in f32, rounded once."""
    x, y, *_ = arguments
    return {1: rounded(x).sum(axis=axis).reference(y)}


def looped(element: str, m: int, n: int, tile: tuple[int, int], axis: int) -> Problem:
    """A matrix of several tiles."""
    return Problem(
        f"sum_of_{('columns', 'rows')[axis]} {m}x{n} {element}",
        (sum_of_columns, sum_of_rows)[axis],
        partial(make_matrix, element=element, m=m, n=n, tile=tile, axis=axis),
        partial(summed_matrix, axis=axis),
        (tiles_of((m, n)[1 - axis], tile[1 - axis]), 1, 1),
    )


PROBLEMS: Sequence[Problem] = (
    problem("sum", "f32", (16, 64), 0),
    problem("sum", "f32", (64, 64), 1),
    problem("sum", "f16", (13, 100), 0),
    problem("sum", "i32", (13, 30), 1),
    problem("sum", "f32", (4, 8, 32), 0),
    problem("sum", "f32", (4, 8, 32), 1),
    problem("sum", "f32", (3, 7, 20), 2),
    problem("max", "f32", (16, 64), 0),
    problem("max", "bf16", (13, 100), 1),
    problem("max", "f32", (3, 7, 20), 1),
    problem("min", "f16", (16, 64), 0),
    problem("min", "f32", (13, 100), 1),
    problem("min", "f32", (3, 7, 20), 0),
    problem("argmax", "f32", (16, 64), 0),
    problem("argmax", "f32", (13, 100), 1),
    problem("argmax", "f16", (4, 8, 32), 0),
    problem("argmax", "f32", (3, 7, 20), 1),
    problem("argmax", "f32", (4, 8, 32), 2),
    problem("argmin", "f32", (16, 64), 1),
    problem("argmin", "bf16", (13, 100), 0),
    problem("argmin", "f32", (3, 7, 20), 2),
    looped("f32", 8, 1000, (4, 256), 1),
    looped("f16", 70, 200, (16, 64), 0),
)
