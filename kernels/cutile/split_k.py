# pyright: basic
"""Products of few rows and columns and a long K, which several blocks share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import cuda.tile as ct
import numpy as np

from kernels.cutile.problem import Problem
from kernels.elements import ELEMENTS, F32
from kernels.kernel import Reference, tiles_of
from kernels.products import bound_of, multiplied

ZERO = ct.PaddingMode.ZERO


@ct.kernel
def split_k_atomic(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """C += A B: each block adds up its share of K, and then to C, which all of them add to."""
    i, j, part = ct.bid(0), ct.bid(1), ct.bid(2)
    sums = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(part, ct.num_tiles(a, axis=1, shape=(tm, tk)), ct.num_blocks(2)):
        x = ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ZERO)
        y = ct.load(b, index=(k, j), shape=(tk, tn), padding_mode=ZERO)
        sums = ct.mma(x, y, sums)
    rows = ct.expand_dims(i * tm + ct.arange(tm, dtype=ct.int32), 1)
    columns = ct.expand_dims(j * tn + ct.arange(tn, dtype=ct.int32), 0)
    ct.atomic_add(c, (rows, columns), sums, memory_order=ct.MemoryOrder.RELAXED)


@ct.kernel
def split_k_parts(a, b, parts, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """The first pass: each block stores what its share of K gives."""
    i, j, part = ct.bid(0), ct.bid(1), ct.bid(2)
    sums = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(part, ct.num_tiles(a, axis=1, shape=(tm, tk)), ct.num_blocks(2)):
        x = ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ZERO)
        y = ct.load(b, index=(k, j), shape=(tk, tn), padding_mode=ZERO)
        sums = ct.mma(x, y, sums)
    ct.store(parts, index=(part, i, j), tile=ct.reshape(sums, (1, tm, tn)))


@ct.kernel
def split_k_sum(parts, c, count: ct.Constant[int], tm: ct.Constant[int], tn: ct.Constant[int]):
    """The second pass: the sum of all shares."""
    i, j = ct.bid(0), ct.bid(1)
    sums = ct.full((tm, tn), 0, dtype=ct.float32)
    for part in range(count):
        tile = ct.load(parts, index=(part, i, j), shape=(1, tm, tn), padding_mode=ZERO)
        sums = sums + ct.reshape(tile, (tm, tn))
    ct.store(c, index=(i, j), tile=ct.astype(sums, c.dtype))


def _atomic(
    element: str, sizes: tuple[int, int, int], tiles: tuple[int, int, int], parts: int
) -> Problem:
    kind, (m, n, k), (tm, tn, _) = ELEMENTS[element], sizes, tiles

    def make(rng: np.random.Generator) -> Sequence[Any]:
        a, b = kind.random(rng, (m, k)), kind.random(rng, (k, n))
        return a, b, np.zeros((m, n), np.float32), *tiles

    def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        return {2: multiplied(arguments[0], arguments[1], F32, sums=parts)}

    grid = (tiles_of(m, tm), tiles_of(n, tn), parts)
    title = f"split_k_atomic {m}x{n}x{k} {element} in {parts}"
    return Problem(title, split_k_atomic, make, reference, grid)


def _first_pass(
    element: str, sizes: tuple[int, int, int], tiles: tuple[int, int, int], parts: int
) -> Problem:
    kind, (m, n, k), (tm, tn, tk) = ELEMENTS[element], sizes, tiles

    def make(rng: np.random.Generator) -> Sequence[Any]:
        a, b = kind.random(rng, (m, k)), kind.random(rng, (k, n))
        return a, b, F32.unset(rng, (parts, m, n)), *tiles

    def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        a, b, *_ = arguments
        share = np.arange(k) // tk % parts
        found = [multiplied(a[:, share == p], b[share == p], F32) for p in range(parts)]
        value, bound = ([getattr(one, key) for one in found] for key in ("value", "bound"))
        return {2: Reference(np.stack(value), np.stack(bound))}

    grid = (tiles_of(m, tm), tiles_of(n, tn), parts)
    title = f"split_k_parts {m}x{n}x{k} {element} in {parts}"
    return Problem(title, split_k_parts, make, reference, grid)


def _second_pass(out: str, sizes: tuple[int, int], tiles: tuple[int, int], parts: int) -> Problem:
    (m, n), (tm, tn), result = sizes, tiles, ELEMENTS[out]

    def make(rng: np.random.Generator) -> Sequence[Any]:
        return F32.random(rng, (parts, m, n)), result.unset(rng, (m, n)), parts, *tiles

    def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        terms = arguments[0].astype(np.float64)
        exact = terms.sum(axis=0)
        return {1: Reference(exact, bound_of(exact, np.abs(terms).sum(axis=0), parts, result))}

    grid = (tiles_of(m, tm), tiles_of(n, tn), 1)
    return Problem(f"split_k_sum {m}x{n} of {parts} to {out}", split_k_sum, make, reference, grid)


PROBLEMS: Sequence[Problem] = (
    _atomic("f16", (60, 40, 500), (64, 64, 64), 4),
    _atomic("bf16", (30, 20, 200), (128, 256, 32), 3),
    _first_pass("f16", (60, 72, 300), (64, 64, 64), 3),
    _second_pass("f16", (60, 72), (32, 64), 3),
)
