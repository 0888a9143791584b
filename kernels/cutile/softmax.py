# pyright: basic
"""Softmax of each row of a matrix: of a row that is one tile, and of one that is many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import cuda.tile as ct
import numpy as np

from kernels.cutile.problem import Problem
from kernels.elements import ELEMENTS
from kernels.kernel import Reference, tiles_of
from kernels.rounded import rounded

NONE = float("-inf")


@ct.kernel
def softmax(x, y, rows: ct.Constant[int], columns: ct.Constant[int]):
    """Rows that a tile holds; columns past the end are minus infinity, whose power is 0."""
    i = ct.bid(0)
    tile = ct.load(x, (i, 0), (rows, columns), padding_mode=ct.PaddingMode.NEG_INF)
    tile = ct.astype(tile, ct.float32)
    powers = ct.exp(tile - ct.max(tile, axis=1, keepdims=True))
    shares = powers / ct.sum(powers, axis=1, keepdims=True)
    ct.store(y, (i, 0), ct.astype(shares, y.dtype))


@ct.kernel
def softmax_online(x, y, rows: ct.Constant[int], columns: ct.Constant[int]):
    """Rows of any length: the sum is rescaled when the running maximum grows, then divided by."""
    i = ct.bid(0)
    largest = ct.full((rows, 1), NONE, dtype=ct.float32)
    total = ct.zeros((rows, 1), dtype=ct.float32)
    count = ct.num_tiles(x, axis=1, shape=(rows, columns))
    for j in range(count):
        tile = ct.load(x, (i, j), (rows, columns), padding_mode=ct.PaddingMode.NEG_INF)
        tile = ct.astype(tile, ct.float32)
        new = ct.maximum(largest, ct.max(tile, axis=1, keepdims=True))
        total = total * ct.exp(largest - new) + ct.sum(ct.exp(tile - new), axis=1, keepdims=True)
        largest = new
    for j in range(count):
        tile = ct.astype(ct.load(x, (i, j), (rows, columns)), ct.float32)
        ct.store(y, (i, j), ct.astype(ct.exp(tile - largest) / total, y.dtype))


def make(
    rng: np.random.Generator, element: str, m: int, n: int, rows: int, columns: int
) -> Sequence[Any]:
    """A random matrix, and one for the result."""
    kind = ELEMENTS[element]
    x = (4 * rng.standard_normal((m, n))).astype(kind.dtype)
    return x, kind.unset(rng, (m, n)), rows, columns


def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
    """Powers over their sum."""
    x, y, *_ = arguments
    exact = rounded(x)
    powers = (exact - exact.max(axis=1)).exp()
    return {1: (powers / powers.sum(axis=1)).reference(y)}


def online(arguments: Sequence[Any]) -> Mapping[int, Reference]:
    """The sum is scaled once for each tile, by powers of differences that are rounded."""
    x, y, _, columns = arguments
    exact = rounded(x)
    powers = (exact - exact.max(axis=1)).exp()
    total = powers.sum(axis=1)
    spread = rounded(x.astype(np.float64).max(axis=1, keepdims=True) - x.min(axis=1, keepdims=True))
    for _ in range(tiles_of(x.shape[1], columns)):
        scale = (rounded(0.0) * spread).exp()
        total = total * scale
    return {1: (powers / total).reference(y)}


def problem(kernel: Any, element: str, m: int, n: int, rows: int, columns: int) -> Problem:
    """An `m x n` matrix, `rows` at a time."""
    name = "softmax" if kernel is softmax else "softmax_online"
    return Problem(
        f"{name} {m}x{n} {element}",
        kernel,
        partial(make, element=element, m=m, n=n, rows=rows, columns=columns),
        reference if kernel is softmax else online,
        (tiles_of(m, rows), 1, 1),
    )


PROBLEMS: Sequence[Problem] = (
    problem(softmax, "f32", 4, 1024, 1, 1024),
    problem(softmax, "f16", 37, 100, 4, 128),
    problem(softmax, "bf16", 8, 1000, 4, 1024),
    problem(softmax, "f32", 9, 33, 8, 64),
    problem(softmax_online, "f32", 3, 2500, 1, 1024),
    problem(softmax_online, "f16", 6, 1024, 4, 256),
    problem(softmax_online, "bf16", 5, 333, 2, 128),
)
