# pyright: basic, reportArgumentType=false
"""Matrix products by blocks that each compute several tiles, one after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import cuda.tile as ct
import numpy as np

from kernels.cutile.problem import Problem
from kernels.elements import ELEMENTS
from kernels.kernel import Reference
from kernels.products import multiplied

ZERO = ct.PaddingMode.ZERO


@ct.kernel
def persistent_matmul(
    a,
    b,
    c,
    tm: ct.Constant[int],
    tn: ct.Constant[int],
    tk: ct.Constant[int],
    rows_of_group: ct.Constant[int],
):
    """C = A B: a block takes tiles as far apart as there are blocks.

    Tiles go down columns of `rows_of_group` rows of tiles each, so that blocks which run together
    read the same rows and columns of A and B.
    """
    tiles_m = ct.cdiv(a.shape[0], tm)
    tiles_n = ct.cdiv(b.shape[1], tn)
    for tile in range(ct.bid(0), tiles_m * tiles_n, ct.num_blocks(0)):
        group = tile // (rows_of_group * tiles_n)
        first = group * rows_of_group
        rows = min(tiles_m - first, rows_of_group)
        i = first + tile % (rows_of_group * tiles_n) % rows
        j = tile % (rows_of_group * tiles_n) // rows
        sums = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
            x = ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ZERO)
            y = ct.load(b, index=(k, j), shape=(tk, tn), padding_mode=ZERO)
            sums = ct.mma(x, y, sums)
        ct.store(c, index=(i, j), tile=ct.astype(sums, c.dtype))


@ct.kernel
def matmul_until(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """C = A B: a block takes tiles as long as there are some."""
    tiles_n = ct.cdiv(b.shape[1], tn)
    tile = ct.bid(0)
    while tile < ct.cdiv(a.shape[0], tm) * tiles_n:
        i, j = tile // tiles_n, tile % tiles_n
        sums = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
            x = ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ZERO)
            y = ct.load(b, index=(k, j), shape=(tk, tn), padding_mode=ZERO)
            sums = ct.mma(x, y, sums)
        ct.store(c, index=(i, j), tile=ct.astype(sums, c.dtype))
        tile += ct.num_blocks(0)


def persistent_problem(
    element: str,
    sizes: tuple[int, int, int],
    tiles: tuple[int, int, int],
    blocks: int,
    rows_of_group: int = 2,
) -> Problem:
    """A product of m x n x k by so many blocks."""
    kind = ELEMENTS[element]
    m, n, k = sizes

    def make(rng: np.random.Generator) -> Sequence[Any]:
        a, b = kind.random(rng, (m, k)), kind.random(rng, (k, n))
        return a, b, kind.unset(rng, (m, n)), *tiles, rows_of_group

    def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        return {2: multiplied(arguments[0], arguments[1], kind)}

    title = f"persistent_matmul {m}x{n}x{k} {element}, tiles {'x'.join(map(str, tiles))}"
    return Problem(title, persistent_matmul, make, reference, (blocks, 1, 1))


def _until(sizes: tuple[int, int, int], tiles: tuple[int, int, int], blocks: int) -> Problem:
    """A product of m x n x k of f16 by so many blocks, in a loop with a condition."""
    kind = ELEMENTS["f16"]
    m, n, k = sizes

    def make(rng: np.random.Generator) -> Sequence[Any]:
        return kind.random(rng, (m, k)), kind.random(rng, (k, n)), kind.unset(rng, (m, n)), *tiles

    def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        return {2: multiplied(arguments[0], arguments[1], kind)}

    return Problem(f"matmul_until {m}x{n}x{k}", matmul_until, make, reference, (blocks, 1, 1))


PROBLEMS: Sequence[Problem] = (
    persistent_problem("f16", (300, 200, 100), (64, 64, 32), 4),
    persistent_problem("bf16", (260, 300, 136), (128, 128, 64), 2),
    _until((200, 136, 104), (64, 64, 32), 3),
)
