# pyright: basic, reportArgumentType=false
"""Several products in one launch: groups of rows of A, each with a B of its own."""

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
def grouped_matmul(a, b, c, ends, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """Rows of A up to `ends[g]`, from where the group before ends, are multiplied by B[g].

    Every block goes through all groups and takes the tiles whose turn it has, down the rows of a
    group, which blocks that run together multiply by the same columns of B.
    """
    tiles_n = ct.cdiv(b.shape[2], tn)
    first, before = 0, 0
    for group in range(b.shape[0]):
        end = ct.load(ends, index=(group,), shape=()).item()
        rows, out = a.slice(0, first, end), c.slice(0, first, end)
        tiles_m = ct.cdiv(end - first, tm)
        begin = (ct.bid(0) - before % ct.num_blocks(0) + ct.num_blocks(0)) % ct.num_blocks(0)
        for tile in range(begin, tiles_m * tiles_n, ct.num_blocks(0)):
            i, j = tile % tiles_m, tile // tiles_m
            sums = ct.full((tm, tn), 0, dtype=ct.float32)
            for k in range(ct.num_tiles(b, axis=1, shape=(1, tk, tn))):
                x = ct.load(rows, index=(i, k), shape=(tm, tk), padding_mode=ZERO)
                y = ct.load(b, index=(group, k, j), shape=(1, tk, tn), padding_mode=ZERO)
                sums = ct.mma(x, ct.reshape(y, (tk, tn)), sums)
            ct.store(out, index=(i, j), tile=ct.astype(sums, c.dtype))
        first, before = end, before + tiles_m * tiles_n


def _problem(
    element: str,
    out: str,
    rows: tuple[int, ...],
    sizes: tuple[int, int],
    tiles: tuple[int, int, int],
) -> Problem:
    """Groups of so many rows each, of n columns and k."""
    kind, result = ELEMENTS[element], ELEMENTS[out]
    (n, k), m = sizes, sum(rows)

    def make(rng: np.random.Generator) -> Sequence[Any]:
        a, b = kind.random(rng, (m, k)), kind.random(rng, (len(rows), k, n))
        return a, b, result.unset(rng, (m, n)), np.cumsum(rows, dtype=np.int32), *tiles

    def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        a, b, _, ends, *_ = arguments
        parts = np.split(a, ends[:-1])
        found = [multiplied(part, b[g], result) for g, part in enumerate(parts)]
        value, bound = ([getattr(one, key) for one in found] for key in ("value", "bound"))
        return {2: Reference(np.concatenate(value), np.concatenate(bound))}

    title = f"grouped_matmul {'+'.join(map(str, rows))} by {n}x{k} {element}"
    return Problem(title, grouped_matmul, make, reference, (3, 1, 1))


PROBLEMS: Sequence[Problem] = (
    _problem("f16", "f32", (70, 20, 0, 64), (72, 50), (64, 64, 32)),
    _problem("bf16", "bf16", (17, 33, 5), (40, 64), (16, 32, 32)),
    _problem("f16", "f16", (70, 64), (72, 160), (64, 64, 128)),
)
