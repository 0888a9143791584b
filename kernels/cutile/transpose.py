# pyright: basic
"""`y = x^T`, and permutations of three and four axes, tile by tile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import cuda.tile as ct
import numpy as np

from kernels.cutile.problem import Problem
from kernels.elements import ELEMENTS
from kernels.kernel import Reference, tiles_of

Count = ct.Constant[int]


@ct.kernel
def transpose(x, y, rows: ct.Constant[int], columns: ct.Constant[int]):
    """Each block transposes a tile and stores it on the other side of the diagonal."""
    i, j = ct.bid(0), ct.bid(1)
    ct.store(y, (j, i), ct.transpose(ct.load(x, (i, j), (rows, columns))))


@ct.kernel
def permute3(x, y, p0: Count, p1: Count, p2: Count, t0: Count, t1: Count, t2: Count):
    """Axis k of `y` is axis `pk` of `x`; tiles are of `x`."""
    at = (ct.bid(0), ct.bid(1), ct.bid(2))
    tile = ct.load(x, at, (t0, t1, t2))
    ct.store(y, (at[p0], at[p1], at[p2]), ct.permute(tile, (p0, p1, p2)))


@ct.kernel
def permute4(
    x, y, p0: Count, p1: Count, p2: Count, p3: Count, t0: Count, t1: Count, t2: Count, t3: Count
):
    """The same of four axes; the first dimension of the grid has the tiles of the first two."""
    count = ct.num_tiles(x, axis=1, shape=(t0, t1, t2, t3))
    at = (ct.bid(0) // count, ct.bid(0) % count, ct.bid(1), ct.bid(2))
    tile = ct.load(x, at, (t0, t1, t2, t3))
    ct.store(y, (at[p0], at[p1], at[p2], at[p3]), ct.permute(tile, (p0, p1, p2, p3)))


def make(
    rng: np.random.Generator, element: str, m: int, n: int, rows: int, columns: int
) -> Sequence[Any]:
    """A random matrix, and one for the result."""
    kind = ELEMENTS[element]
    return kind.random(rng, (m, n)), kind.unset(rng, (n, m)), rows, columns


def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
    """Nothing is computed."""
    return {1: Reference(arguments[0].T)}


def problem(element: str, m: int, n: int, rows: int, columns: int) -> Problem:
    """An `m x n` matrix in tiles."""
    return Problem(
        f"transpose {m}x{n} {element}",
        transpose,
        partial(make, element=element, m=m, n=n, rows=rows, columns=columns),
        reference,
        (tiles_of(m, rows), tiles_of(n, columns), 1),
    )


def permuted_grid(shape: Sequence[int], tile: Sequence[int]) -> tuple[int, int, int]:
    """The tiles of an array of three or four axes, those of the first two of four in one."""
    counts = [tiles_of(n, t) for n, t in zip(shape, tile, strict=True)]
    first = counts[0] if len(counts) == 3 else counts[0] * counts[1]
    return first, counts[-2], counts[-1]


def permutation(
    element: str, shape: Sequence[int], axes: Sequence[int], tile: Sequence[int]
) -> Problem:
    """An array of three or four axes."""
    kind = ELEMENTS[element]

    def make(rng: np.random.Generator) -> Sequence[Any]:
        x = kind.random(rng, tuple(shape))
        return x, kind.unset(rng, tuple(shape[axis] for axis in axes)), *axes, *tile

    def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        return {1: Reference(np.transpose(arguments[0], axes))}

    return Problem(
        f"permute {'x'.join(map(str, shape))} by {''.join(map(str, axes))} {element}",
        permute3 if len(shape) == 3 else permute4,
        make,
        reference,
        permuted_grid(shape, tile),
    )


PROBLEMS: Sequence[Problem] = (
    problem("f32", 128, 64, 64, 64),
    problem("f16", 256, 128, 128, 128),
    problem("bf16", 70, 45, 32, 64),
    problem("i32", 33, 100, 32, 32),
    permutation("f32", (5, 33, 40), (2, 0, 1), (1, 32, 32)),
    permutation("f16", (2, 3, 40, 64), (0, 3, 2, 1), (1, 2, 16, 64)),
)
