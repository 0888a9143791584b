# pyright: basic
"""`y = x^T`, tile by tile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import cuda.tile as ct
import numpy as np

from kernels.cutile.problem import Problem
from kernels.elements import ELEMENTS
from kernels.kernel import Reference, tiles_of


@ct.kernel
def transpose(x, y, rows: ct.Constant[int], columns: ct.Constant[int]):
    """Each block transposes a tile and stores it on the other side of the diagonal."""
    i, j = ct.bid(0), ct.bid(1)
    ct.store(y, (j, i), ct.transpose(ct.load(x, (i, j), (rows, columns))))


def make(
    rng: np.random.Generator, element: str, m: int, n: int, rows: int, columns: int
) -> Sequence[Any]:
    """A random matrix, and one for the result."""
    kind = ELEMENTS[element]
    return kind.random(rng, (m, n)), kind.unset(rng, (n, m)), rows, columns


def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
    """Nothing is computed."""
    return {1: Reference(arguments[0].T)}


def problem(element: str, m: int, n: int, rows: int, columns: int) -> Problem:
    """An `m x n` matrix in tiles."""
    return Problem(
        f"transpose {m}x{n} {element}",
        transpose,
        partial(make, element=element, m=m, n=n, rows=rows, columns=columns),
        reference,
        (tiles_of(m, rows), tiles_of(n, columns), 1),
    )


PROBLEMS: Sequence[Problem] = (
    problem("f32", 128, 64, 64, 64),
    problem("f16", 256, 128, 128, 128),
    problem("bf16", 70, 45, 32, 64),
    problem("i32", 33, 100, 32, 32),
)
