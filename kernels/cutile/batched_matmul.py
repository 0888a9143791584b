# pyright: basic
"""Products of matrices, many of one size: a matrix for each block, or several small ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import cuda.tile as ct
import numpy as np

from kernels.cutile.problem import Problem
from kernels.elements import ELEMENTS
from kernels.kernel import Reference, tiles_of
from kernels.products import multiplied

ZERO = ct.PaddingMode.ZERO


@ct.kernel
def batched_matmul(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """C[l] = A[l] B[l]: each block computes a tile of one of them."""
    i, j, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    sums = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=2, shape=(1, tm, tk))):
        x = ct.load(a, index=(batch, i, k), shape=(1, tm, tk), padding_mode=ZERO)
        y = ct.load(b, index=(batch, k, j), shape=(1, tk, tn), padding_mode=ZERO)
        sums = ct.mma(ct.reshape(x, (tm, tk)), ct.reshape(y, (tk, tn)), sums)
    tile = ct.reshape(ct.astype(sums, c.dtype), (1, tm, tn))
    ct.store(c, index=(batch, i, j), tile=tile)


@ct.kernel
def small_matmuls(
    a,
    b,
    c,
    tb: ct.Constant[int],
    tm: ct.Constant[int],
    tn: ct.Constant[int],
    tk: ct.Constant[int],
):
    """C[l] = A[l] B[l]: each block computes `tb` products of small matrices at once."""
    batch = ct.bid(0)
    x = ct.load(a, index=(batch, 0, 0), shape=(tb, tm, tk), padding_mode=ZERO)
    y = ct.load(b, index=(batch, 0, 0), shape=(tb, tk, tn), padding_mode=ZERO)
    sums = ct.mma(x, y, ct.full((tb, tm, tn), 0, dtype=ct.float32))
    ct.store(c, index=(batch, 0, 0), tile=ct.astype(sums, c.dtype))


def _problem(
    name: str,
    element: str,
    out: str,
    sizes: tuple[int, int, int, int],
    tiles: tuple[int, ...],
) -> Problem:
    """A batch of m x n x k matrix products; the first size is the batch."""
    kind, result = ELEMENTS[element], ELEMENTS[out]
    batch, m, n, k = sizes
    *_, tm, tn, _ = tiles

    def make(rng: np.random.Generator) -> Sequence[Any]:
        a, b = kind.random(rng, (batch, m, k)), kind.random(rng, (batch, k, n))
        return a, b, result.unset(rng, (batch, m, n)), *tiles

    def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        return {2: multiplied(arguments[0], arguments[1], result)}

    title = f"{name} {batch} of {m}x{n}x{k} {element}, tiles {'x'.join(map(str, tiles))}"
    if name == "small_matmuls":
        return Problem(title, small_matmuls, make, reference, (tiles_of(batch, tiles[0]), 1, 1))
    grid = (tiles_of(m, tm), tiles_of(n, tn), batch)
    return Problem(title, batched_matmul, make, reference, grid)


PROBLEMS: Sequence[Problem] = (
    _problem("batched_matmul", "f16", "f16", (3, 70, 72, 50), (64, 64, 32)),
    _problem("batched_matmul", "f32", "f32", (2, 20, 30, 40), (16, 32, 16)),
    _problem("small_matmuls", "bf16", "f32", (7, 16, 16, 32), (4, 16, 16, 32)),
    _problem("small_matmuls", "f32", "f32", (5, 7, 8, 3), (8, 8, 8, 4)),
)
