# pyright: basic
"""`y = alpha * x + y`: a scalar argument, and an array that is read and written."""

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


@ct.kernel
def saxpy(alpha, x, y, tile: ct.Constant[int]):
    """Each block updates a tile, in f32."""
    i = ct.bid(0)
    given = ct.astype(ct.load(x, (i,), (tile,)), ct.float32)
    old = ct.astype(ct.load(y, (i,), (tile,)), ct.float32)
    ct.store(y, (i,), ct.astype(alpha * given + old, y.dtype))


def make(rng: np.random.Generator, element: str, n: int, tile: int) -> Sequence[Any]:
    """A random factor and two random vectors."""
    kind = ELEMENTS[element]
    alpha = float(np.float32(rng.standard_normal()))
    return alpha, kind.random(rng, (n,)), kind.random(rng, (n,)), tile


def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
    """Product and sum, rounded once or twice."""
    alpha, x, y, _ = arguments
    return {2: (alpha * rounded(x) + rounded(y)).reference(y)}


def problem(element: str, n: int, tile: int) -> Problem:
    """`n` elements in tiles."""
    return Problem(
        f"saxpy {n} {element}",
        saxpy,
        partial(make, element=element, n=n, tile=tile),
        reference,
        (tiles_of(n, tile), 1, 1),
    )


PROBLEMS: Sequence[Problem] = (
    problem("f32", 4096, 1024),
    problem("f32", 1003, 256),
    problem("f16", 2050, 1024),
    problem("bf16", 640, 128),
)
