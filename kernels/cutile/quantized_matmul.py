# pyright: basic
"""Products whose second operand is stored in 8 bits, and scaled by columns."""

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
def quantized_matmul(
    a, b, scales, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]
):
    """C = A (B * scales): weights of 8 bits become those of A's type where they are multiplied."""
    i, j = ct.bid(0), ct.bid(1)
    scale = ct.load(scales, index=(0, j), shape=(1, tn), padding_mode=ZERO)
    sums = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ZERO)
        y = ct.load(b, index=(k, j), shape=(tk, tn), padding_mode=ZERO)
        sums = ct.mma(x, ct.astype(y, a.dtype) * scale, sums)
    ct.store(c, index=(i, j), tile=ct.astype(sums, c.dtype))


def _problem(
    element: str, out: str, sizes: tuple[int, int, int], tiles: tuple[int, int, int]
) -> Problem:
    """A product of m x n x k; the scales are powers of two, so that weights stay exact."""
    kind, result = ELEMENTS[element], ELEMENTS[out]
    (m, n, k), (tm, tn, _) = sizes, tiles

    def make(rng: np.random.Generator) -> Sequence[Any]:
        weights = rng.integers(-128, 128, (k, n), np.int8)
        scales = 2.0 ** rng.integers(-9, -4, (1, n))
        return (
            kind.random(rng, (m, k)),
            weights,
            scales.astype(kind.dtype),
            result.unset(rng, (m, n)),
            *tiles,
        )

    def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        a, weights, scales, *_ = arguments
        b = (weights * scales.astype(np.float64)).astype(kind.dtype)
        return {3: multiplied(a, b, result)}

    title = f"quantized_matmul {m}x{n}x{k} {element} by i8, tiles {'x'.join(map(str, tiles))}"
    grid = (tiles_of(m, tm), tiles_of(n, tn), 1)
    return Problem(title, quantized_matmul, make, reference, grid)


PROBLEMS: Sequence[Problem] = (
    _problem("f16", "f16", (130, 80, 144), (128, 64, 64)),
    _problem("bf16", "f32", (70, 144, 80), (64, 128, 32)),
)
