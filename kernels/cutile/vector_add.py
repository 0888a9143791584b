# pyright: basic
"""The sum of two vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import cuda.tile as ct
import numpy as np

from kernels.cutile.problem import Problem
from kernels.elements import ELEMENTS
from kernels.kernel import Reference, tiles_of


@ct.kernel
def vector_add(a, b, c, tile: ct.Constant[int]):
    """Each block adds one tile; elements out of bounds are not stored."""
    i = ct.bid(0)
    x = ct.load(a, index=(i,), shape=(tile,))
    y = ct.load(b, index=(i,), shape=(tile,))
    ct.store(c, index=(i,), tile=x + y)


def _problem(length: int, tile: int, element: str) -> Problem:
    kind = ELEMENTS[element]

    def make(rng: np.random.Generator) -> Sequence[Any]:
        a, b = (kind.random(rng, (length,)) for _ in range(2))
        return a, b, kind.unset(rng, (length,)), tile

    def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        a, b, *_ = arguments
        return {2: Reference(a + b)}

    grid = (tiles_of(length, tile), 1, 1)
    return Problem(f"vector_add {length} {element}", vector_add, make, reference, grid)


PROBLEMS: Sequence[Problem] = (
    _problem(1000, 256, "f32"),
    _problem(777, 128, "f16"),
    _problem(64, 128, "i32"),
    _problem(4096, 1024, "f32"),
    _problem(2048, 2048, "bf16"),
)
