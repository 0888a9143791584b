# pyright: basic
"""Matrix products of several types and any sizes, with transposed operands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import cuda.tile as ct
import numpy as np

from kernels.cutile.problem import Problem
from kernels.elements import ELEMENTS
from kernels.kernel import Reference, tiles_of
from kernels.products import TF32_UNIT, multiplied

ZERO = ct.PaddingMode.ZERO


@ct.kernel
def matmul(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """C = A B: each block computes one tile of C."""
    i, j = ct.bid(0), ct.bid(1)
    kind = ct.int32 if a.dtype == ct.int8 else ct.float32
    kind = ct.float64 if a.dtype == ct.float64 else kind
    sums = ct.full((tm, tn), 0, dtype=kind)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ZERO)
        y = ct.load(b, index=(k, j), shape=(tk, tn), padding_mode=ZERO)
        sums = ct.mma(x, y, sums)
    ct.store(c, index=(i, j), tile=ct.astype(sums, c.dtype))


@ct.kernel
def matmul_tf32(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """C = A B of f32, whose operands are rounded to tf32."""
    i, j = ct.bid(0), ct.bid(1)
    sums = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ZERO)
        y = ct.load(b, index=(k, j), shape=(tk, tn), padding_mode=ZERO)
        sums = ct.mma(ct.astype(x, ct.tfloat32), ct.astype(y, ct.tfloat32), sums)
    ct.store(c, index=(i, j), tile=sums)


@ct.kernel
def matmul_at(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """C = A^T B, where A is stored as K x M."""
    i, j = ct.bid(0), ct.bid(1)
    sums = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=0, shape=(tk, tm))):
        x = ct.load(a, index=(k, i), shape=(tk, tm), padding_mode=ZERO)
        y = ct.load(b, index=(k, j), shape=(tk, tn), padding_mode=ZERO)
        sums = ct.mma(ct.transpose(x), y, sums)
    ct.store(c, index=(i, j), tile=ct.astype(sums, c.dtype))


@ct.kernel
def matmul_bt(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """C = A B^T, where B is stored as N x K; its tiles are loaded in the other order."""
    i, j = ct.bid(0), ct.bid(1)
    sums = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ZERO)
        y = ct.load(b, index=(k, j), shape=(tk, tn), order="F", padding_mode=ZERO)
        sums = ct.mma(x, y, sums)
    ct.store(c, index=(i, j), tile=ct.astype(sums, c.dtype))


KERNELS = {
    "matmul": matmul,
    "matmul_tf32": matmul_tf32,
    "matmul_at": matmul_at,
    "matmul_bt": matmul_bt,
}


def product_problem(
    name: str,
    element: str,
    out: str,
    sizes: tuple[int, int, int],
    tiles: tuple[int, int, int],
) -> Problem:
    """A product of m x n x k."""
    kind, result = ELEMENTS[element], ELEMENTS[out]
    (m, n, k), (tm, tn, _) = sizes, tiles
    turns_a, turns_b = name == "matmul_at", name == "matmul_bt"

    def make(rng: np.random.Generator) -> Sequence[Any]:
        a = kind.random(rng, (k, m) if turns_a else (m, k))
        b = kind.random(rng, (n, k) if turns_b else (k, n))
        return a, b, result.unset(rng, (m, n)), *tiles

    def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        a, b, *_ = arguments
        rounded = TF32_UNIT if name == "matmul_tf32" else 0.0
        factors = a.T if turns_a else a, b.T if turns_b else b
        return {2: multiplied(*factors, result, rounded=rounded)}

    title = f"{name} {m}x{n}x{k} {element}, tiles {'x'.join(map(str, tiles))}"
    grid = (tiles_of(m, tm), tiles_of(n, tn), 1)
    return Problem(title, KERNELS[name], make, reference, grid)


PROBLEMS: Sequence[Problem] = (
    product_problem("matmul", "f16", "f32", (200, 136, 96), (128, 128, 64)),
    product_problem("matmul", "bf16", "bf16", (130, 72, 100), (64, 64, 32)),
    product_problem("matmul", "f16", "f16", (37, 50, 61), (32, 32, 32)),
    product_problem("matmul", "e4m3", "f32", (100, 72, 100), (64, 64, 64)),
    product_problem("matmul", "i8", "i32", (70, 100, 90), (64, 64, 64)),
    product_problem("matmul", "f32", "f32", (70, 50, 40), (64, 64, 32)),
    product_problem("matmul_tf32", "f32", "f32", (100, 72, 50), (64, 64, 32)),
    product_problem("matmul_at", "f16", "f32", (100, 72, 80), (64, 64, 32)),
    product_problem("matmul_bt", "bf16", "f32", (100, 72, 80), (64, 64, 32)),
)
