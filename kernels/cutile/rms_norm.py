# pyright: basic
"""Root mean square normalisation of each row of a matrix."""

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

EPSILON = 1e-5


@ct.kernel
def rms_norm(x, weight, y, rows: ct.Constant[int], columns: ct.Constant[int]):
    """Rows over the root of their mean square, times a weight for each column."""
    i = ct.bid(0)
    tile = ct.load(x, (i, 0), (rows, columns), padding_mode=ct.PaddingMode.ZERO)
    tile = ct.astype(tile, ct.float32)
    squares = ct.sum(tile * tile, axis=1, keepdims=True)
    scale = ct.rsqrt(squares / x.shape[1] + EPSILON)
    factor = ct.astype(ct.load(weight, (0,), (columns,)), ct.float32)
    ct.store(y, (i, 0), ct.astype(tile * scale * factor, y.dtype))


def make(
    rng: np.random.Generator, element: str, m: int, n: int, rows: int, columns: int
) -> Sequence[Any]:
    """A random matrix, weights, and a matrix for the result."""
    kind = ELEMENTS[element]
    return kind.random(rng, (m, n)), kind.random(rng, (n,)), kind.unset(rng, (m, n)), rows, columns


def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
    """In f32, and rounded."""
    x, weight, y, *_ = arguments
    exact = rounded(x)
    squares = (exact * exact).sum(axis=1)
    scale = (squares / float(x.shape[1]) + EPSILON).rsqrt()
    return {2: (exact * scale * rounded(weight)).reference(y)}


def problem(element: str, m: int, n: int, rows: int, columns: int) -> Problem:
    """An `m x n` matrix, `rows` at a time."""
    return Problem(
        f"rms_norm {m}x{n} {element}",
        rms_norm,
        partial(make, element=element, m=m, n=n, rows=rows, columns=columns),
        reference,
        (tiles_of(m, rows), 1, 1),
    )


PROBLEMS: Sequence[Problem] = (
    problem("f32", 4, 1024, 1, 1024),
    problem("f16", 7, 100, 4, 128),
    problem("bf16", 8, 512, 2, 512),
    problem("f16", 56, 301, 1, 512),
    problem("f16", 11, 303, 1, 512),
)
