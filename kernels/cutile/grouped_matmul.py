# pyright: basic
"""Several products in one launch: groups of rows of A, each with a B of its own."""

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
def grouped_matmul(a, b, c, ends, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """Rows of A up to `ends[g]`, from where the group before ends, are multiplied by B[g].

    Block (i, j, g) computes tile (i, j) of group g, if the group has it.
    """
    i, j, group = ct.bid(0), ct.bid(1), ct.bid(2)
    end = ct.load(ends, index=(group,), shape=()).item()
    first = i * tm
    if group > 0:
        first += ct.load(ends, index=(group - 1,), shape=()).item()
    if first < end:
        row = first + ct.arange(tm, dtype=ct.int32)
        rows = ct.expand_dims(ct.where(row < end, row, -1), 1)
        sums = ct.full((tm, tn), 0, dtype=ct.float32)
        for k in range(ct.num_tiles(b, axis=1, shape=(1, tk, tn))):
            depth = ct.expand_dims(k * tk + ct.arange(tk, dtype=ct.int32), 0)
            x = ct.gather(a, (rows, depth))
            y = ct.load(b, index=(group, k, j), shape=(1, tk, tn), padding_mode=ZERO)
            sums = ct.mma(x, ct.reshape(y, (tk, tn)), sums)
        columns = ct.expand_dims(j * tn + ct.arange(tn, dtype=ct.int32), 0)
        ct.scatter(c, (rows, columns), ct.astype(sums, c.dtype))


def _problem(
    element: str,
    out: str,
    rows: tuple[int, ...],
    sizes: tuple[int, int],
    tiles: tuple[int, int, int],
) -> Problem:
    """Groups of so many rows each, of n columns and k."""
    kind, result = ELEMENTS[element], ELEMENTS[out]
    (n, k), (tm, tn, _), m = sizes, tiles, sum(rows)

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
    grid = (tiles_of(max(rows), tm), tiles_of(n, tn), len(rows))
    return Problem(title, grouped_matmul, make, reference, grid)


PROBLEMS: Sequence[Problem] = (
    _problem("f16", "f32", (70, 20, 0, 64), (72, 50), (64, 64, 32)),
    _problem("bf16", "bf16", (17, 33, 5), (40, 64), (16, 32, 32)),
    _problem("f16", "f16", (70, 64), (72, 160), (64, 64, 128)),
)
