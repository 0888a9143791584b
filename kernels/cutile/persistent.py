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


@ct.kernel
def ragged_matmul(
    a, b, c, starts, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]
):
    """Groups of whole tiles of rows: those from `starts[g]` to `starts[g + 1]` times `b[g]`.

    Every block goes through all groups and takes the tiles whose turn it has.
    """
    tiles_n = ct.cdiv(b.shape[2], tn)
    before = 0
    for group in range(b.shape[0]):
        first = ct.load(starts, index=(group,), shape=()).item()
        end = ct.load(starts, index=(group + 1,), shape=()).item()
        tiles = ct.cdiv(end - first, tm) * tiles_n
        begin = (ct.bid(0) - before % ct.num_blocks(0) + ct.num_blocks(0)) % ct.num_blocks(0)
        for tile in range(begin, tiles, ct.num_blocks(0)):
            i, j = first // tm + tile // tiles_n, tile % tiles_n
            sums = ct.zeros((tm, tn), dtype=ct.float32)
            for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
                x = ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ZERO)
                y = ct.load(b, index=(group, k, j), shape=(1, tk, tn), padding_mode=ZERO)
                sums = ct.mma(x, y.reshape((tk, tn)), sums)
            ct.store(c, index=(i, j), tile=ct.astype(sums, c.dtype))
        before += tiles


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


def _ragged(
    element: str, tiles_of_groups: Sequence[int], sizes: tuple[int, int], blocks: int
) -> Problem:
    """Groups of so many tiles of rows, each with a B of k x n."""
    kind, tiles = ELEMENTS[element], (64, 64, 32)
    n, k = sizes
    starts = np.cumsum([0, *tiles_of_groups], dtype=np.int32) * tiles[0]

    def make(rng: np.random.Generator) -> Sequence[Any]:
        a = kind.random(rng, (int(starts[-1]), k))
        b = kind.random(rng, (len(tiles_of_groups), k, n))
        return a, b, kind.unset(rng, (len(a), n)), starts, *tiles

    def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        parts = np.split(arguments[0], starts[1:-1])
        found = [multiplied(one, arguments[1][g], kind) for g, one in enumerate(parts)]
        value, bound = ([getattr(one, key) for one in found] for key in ("value", "bound"))
        return {2: Reference(np.concatenate(value), np.concatenate(bound))}

    title = f"ragged_matmul {'+'.join(map(str, tiles_of_groups))} tiles by {n}x{k} {element}"
    return Problem(title, ragged_matmul, make, reference, (blocks, 1, 1))


PROBLEMS: Sequence[Problem] = (
    persistent_problem("f16", (300, 200, 100), (64, 64, 32), 4),
    persistent_problem("bf16", (260, 300, 136), (128, 128, 64), 2),
    _ragged("f16", (2, 0, 1), (72, 96), 2),
    _until((200, 136, 104), (64, 64, 32), 3),
)
