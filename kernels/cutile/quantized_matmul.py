# pyright: basic
"""Products whose second operand is stored in 8 or 4 bits, and scaled."""

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


@ct.kernel
def packed_matmul(
    a,
    words,
    zeros,
    scales,
    c,
    tm: ct.Constant[int],
    tn: ct.Constant[int],
    tk: ct.Constant[int],
    group: ct.Constant[int],
):
    """C = A ((Q - zeros) * scales): a word is eight weights of a row of Q, as AWQ packs them.

    Of the weights 0 to 7 the even ones are in the lower half of a word.  Each `group` of rows has
    zeros, packed alike, and scales.
    """
    i, j = ct.bid(0), ct.bid(1)
    weight = ct.arange(8, dtype=ct.int32)
    shifts = ct.reshape((weight // 2 + weight % 2 * 4) * 4, (1, 1, 8))
    sums = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ZERO)
        q = ct.load(words, index=(k, j), shape=(tk, tn // 8), padding_mode=ZERO)
        first = k * tk // group
        z = ct.load(zeros, index=(first, j), shape=(1, tn // 8), padding_mode=ZERO)
        scale = ct.load(scales, index=(first, j), shape=(1, tn), padding_mode=ZERO)
        weights = ct.reshape(
            ct.bitwise_and(ct.reshape(q, (tk, tn // 8, 1)) >> shifts, 15), (tk, tn)
        )
        zero = ct.reshape(ct.bitwise_and(ct.reshape(z, (1, tn // 8, 1)) >> shifts, 15), (1, tn))
        sums = ct.mma(x, ct.astype(weights - zero, a.dtype) * scale, sums)
    ct.store(c, index=(i, j), tile=ct.astype(sums, c.dtype))


@ct.kernel
def block_scaled_matmul(
    a, b, rows, blocks, c, tm: ct.Constant[int], tn: ct.Constant[int], group: ct.Constant[int]
):
    """C = A B^T of 8-bit floats: each row of A has a scale for a group of K, and each block of B.

    `rows` is M x K / group, `blocks` N / group x K / group; the products of a group are scaled.
    """
    i, j = ct.bid(0), ct.bid(1)
    sums = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, group))):
        x = ct.load(a, index=(i, k), shape=(tm, group), padding_mode=ZERO)
        y = ct.load(b, index=(k, j), shape=(group, tn), order="F", padding_mode=ZERO)
        products = ct.mma(x, y, ct.full((tm, tn), 0, dtype=ct.float32))
        row = ct.load(rows, index=(i, k), shape=(tm, 1), padding_mode=ZERO)
        block = ct.load(blocks, index=(j * tn // group, k), shape=(1, 1), padding_mode=ZERO)
        sums = sums + products * (row * block)
    ct.store(c, index=(i, j), tile=ct.astype(sums, c.dtype))


def packed(weights: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Rows of weights of 4 bits as rows of words."""
    eights = weights.reshape(weights.shape[0], -1, 8).astype(np.uint32)
    shifts = np.array([4 * (n // 2 + n % 2 * 4) for n in range(8)], np.uint32)
    return np.bitwise_or.reduce(eights << shifts, axis=2).view(np.int32)


def _packed_problem(
    element: str, sizes: tuple[int, int, int], tiles: tuple[int, int, int], group: int
) -> Problem:
    """A product of m x n x k; the scales are powers of two, so that weights stay exact."""
    kind = ELEMENTS[element]
    (m, n, k), (tm, tn, _) = sizes, tiles

    def make(rng: np.random.Generator) -> Sequence[Any]:
        weights, zeros = (rng.integers(0, 16, (rows, n)) for rows in (k, k // group))
        scales = 2.0 ** rng.integers(-6, -2, zeros.shape)
        arrays = (packed(weights), packed(zeros), scales.astype(kind.dtype))
        return (kind.random(rng, (m, k)), *arrays, kind.unset(rng, (m, n)), *tiles, group)

    def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        a, words, zeros, scales, *_ = arguments
        q = unpacked(words) - np.repeat(unpacked(zeros), group, 0)
        b = (q * np.repeat(scales.astype(np.float64), group, 0)).astype(kind.dtype)
        return {4: multiplied(a, b, kind)}

    title = f"packed_matmul {m}x{n}x{k} {element} by i4, tiles {'x'.join(map(str, tiles))}"
    grid = (tiles_of(m, tm), tiles_of(n, tn), 1)
    return Problem(title, packed_matmul, make, reference, grid)


def unpacked(words: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Rows of words as rows of weights."""
    shifts = np.array([4 * (n // 2 + n % 2 * 4) for n in range(8)])
    eights = words.astype(np.int64)[:, :, None] >> shifts & 15
    return eights.reshape(words.shape[0], -1)


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


def block_scaled_problem(
    sizes: tuple[int, int, int], tiles: tuple[int, int], group: int
) -> Problem:
    """A matmul of m x n x k; scales are powers of two, so that scaled operands stay exact."""
    kind, result = ELEMENTS["e4m3"], ELEMENTS["bf16"]
    (m, n, k), (tm, tn) = sizes, tiles
    groups = tiles_of(k, group)

    def make(rng: np.random.Generator) -> Sequence[Any]:
        scales = (
            2.0 ** rng.integers(-3, 3, shape)
            for shape in ((m, groups), (tiles_of(n, group), groups))
        )
        rows, blocks = (one.astype(np.float32) for one in scales)
        a, b = kind.random(rng, (m, k)), kind.random(rng, (n, k))
        return a, b, rows, blocks, result.unset(rng, (m, n)), *tiles, group

    def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        a, b, rows, blocks, *_ = arguments
        left = a.astype(np.float64) * np.repeat(rows, group, 1)[:, :k]
        spread = np.repeat(np.repeat(blocks, group, 0)[:n], group, 1)[:, :k]
        return {4: multiplied(left, (b.astype(np.float64) * spread).T, result)}

    title = f"block_scaled_matmul {m}x{n}x{k} e4m3 by {group}, tiles {tm}x{tn}"
    return Problem(
        title, block_scaled_matmul, make, reference, (tiles_of(m, tm), tiles_of(n, tn), 1)
    )


PROBLEMS: Sequence[Problem] = (
    _problem("f16", "f16", (130, 80, 144), (128, 64, 64)),
    _problem("bf16", "f32", (70, 144, 80), (64, 128, 32)),
    _packed_problem("f16", (16, 256, 256), (16, 128, 128), 128),
    _packed_problem("bf16", (100, 128, 128), (64, 64, 64), 64),
    block_scaled_problem((200, 144, 320), (128, 128), 128),
    block_scaled_problem((300, 128, 192), (256, 64), 64),
)
