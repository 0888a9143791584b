# pyright: basic
"""Activations of neural networks: GELU in both forms, SiLU, and GEGLU, which gates one half."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import erf, log, pi, sqrt
from typing import Any

import cuda.tile as ct
import numpy as np

from kernels.cutile.problem import Problem
from kernels.elements import ELEMENTS, Reals
from kernels.kernel import Reference, tiles_of
from kernels.rounded import Rounded, rounded

SQRT_2_OVER_PI = sqrt(2 / pi)
SQRT_HALF = sqrt(0.5)
CUBIC = 0.044715
"""Hendrycks and Gimpel, Gaussian Error Linear Units."""

ERF_P = 0.3275911
ERF_1, ERF_2, ERF_3 = 0.254829592, -0.284496736, 1.421413741
ERF_4, ERF_5 = -1.453152027, 1.061405429
ERF_ERROR = 1.5e-7
"""Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26."""


TAIL_P = ERF_P * SQRT_HALF
TAIL_1, TAIL_2, TAIL_3, TAIL_4, TAIL_5 = (c / 2 for c in (ERF_1, ERF_2, ERF_3, ERF_4, ERF_5))
"""The same for half of `1 - erf(|x| / sqrt(2))`, the tail of the normal distribution."""

HALF_LOG2_E = 0.5 / log(2)


def tail_of(x, size):
    """The normal distribution beyond `size`, the magnitude of `x`; cuTile has no error function.

    What an exponential flushes is far below what is left of the tail beside 1.
    """
    t = 1.0 / (1.0 + TAIL_P * size)
    series = t * (TAIL_1 + t * (TAIL_2 + t * (TAIL_3 + t * (TAIL_4 + t * TAIL_5))))
    return series * ct.exp2(x * (x * -HALF_LOG2_E), flush_to_zero=True)


def gelu_of(x):
    """GELU by a hyperbolic tangent."""
    return 0.5 * x * (1.0 + ct.tanh(SQRT_2_OVER_PI * (x + CUBIC * x * x * x)))


@ct.kernel
def gelu_erf(x, y, tile: ct.Constant[int]):
    """`x` times the normal distribution function: what is positive of it, less a tail."""
    i = ct.bid(0)
    t = ct.astype(ct.load(x, (i,), (tile,)), ct.float32)
    size = ct.abs(t)
    ct.store(y, (i,), ct.astype(ct.maximum(t, 0.0) - size * tail_of(t, size), y.dtype))


@ct.kernel
def gelu_tanh(x, y, tile: ct.Constant[int]):
    """The usual approximation of GELU."""
    i = ct.bid(0)
    t = ct.astype(ct.load(x, (i,), (tile,)), ct.float32)
    ct.store(y, (i,), ct.astype(gelu_of(t), y.dtype))


@ct.kernel
def silu(x, y, tile: ct.Constant[int]):
    """`x` times its logistic function."""
    i = ct.bid(0)
    t = ct.astype(ct.load(x, (i,), (tile,)), ct.float32)
    ct.store(y, (i,), ct.astype(t / (1.0 + ct.exp(-t)), y.dtype))


@ct.kernel
def geglu(x, y, rows: ct.Constant[int], columns: ct.Constant[int]):
    """The left half of each row of `x` times GELU of the right one."""
    i, j = ct.bid(0), ct.bid(1)
    left, right = x.slice(1, 0, y.shape[1]), x.slice(1, y.shape[1], x.shape[1])
    value = ct.astype(ct.load(left, (i, j), (rows, columns)), ct.float32)
    gate = ct.astype(ct.load(right, (i, j), (rows, columns)), ct.float32)
    ct.store(y, (i, j), ct.astype(value * gelu_of(gate), y.dtype))


def _distribution(x: Reals) -> Reals:
    return 0.5 * (1 + np.vectorize(erf, otypes=[np.float64])(x * SQRT_HALF))


def exact_gelu(x: Rounded) -> Rounded:
    """By the series for erf, whose terms are up to 1.5 and of both signs."""
    size = rounded(np.abs(x.value))
    t = 1.0 / (1.0 + TAIL_P * size)
    series = t * (TAIL_1 + t * (TAIL_2 + t * (TAIL_3 + t * (TAIL_4 + t * TAIL_5))))
    tail = series * (x * (x * -HALF_LOG2_E)).exp2()
    off = 0.5 * np.abs(x.value) * ERF_ERROR
    computed = rounded(np.maximum(x.value, 0.0)) - size * tail
    return Rounded(x.value * _distribution(x.value), computed.error + off)


def tanh_gelu(x: Rounded) -> Rounded:
    """By the hyperbolic tangent."""
    return 0.5 * x * (1.0 + (SQRT_2_OVER_PI * (x + CUBIC * x * x * x)).tanh())


def logistic(x: Rounded) -> Rounded:
    """SiLU."""
    return x / (1.0 + (-x).exp())


FORMS: Mapping[str, tuple[Any, Callable[[Rounded], Rounded]]] = {
    "gelu_erf": (gelu_erf, exact_gelu),
    "gelu_tanh": (gelu_tanh, tanh_gelu),
    "silu": (silu, logistic),
}


def make(rng: np.random.Generator, element: str, n: int, tile: int) -> Sequence[Any]:
    """Numbers where activations bend, and a vector for the result."""
    kind = ELEMENTS[element]
    x = (3 * rng.standard_normal(n)).astype(kind.dtype)
    return x, kind.unset(rng, (n,)), tile


def reference(
    arguments: Sequence[Any], form: Callable[[Rounded], Rounded]
) -> Mapping[int, Reference]:
    """In f32, and rounded."""
    x, y, _ = arguments
    return {1: form(rounded(x)).reference(y)}


def problem(name: str, element: str, n: int, tile: int) -> Problem:
    """`n` elements in tiles."""
    kernel, form = FORMS[name]
    return Problem(
        f"{name} {n} {element}",
        kernel,
        partial(make, element=element, n=n, tile=tile),
        partial(reference, form=form),
        (tiles_of(n, tile), 1, 1),
    )


def make_gated(
    rng: np.random.Generator, element: str, m: int, n: int, rows: int, columns: int
) -> Sequence[Any]:
    """A matrix of both halves."""
    kind = ELEMENTS[element]
    return kind.random(rng, (m, 2 * n)), kind.unset(rng, (m, n)), rows, columns


def gated(arguments: Sequence[Any]) -> Mapping[int, Reference]:
    """The product of the left half and GELU of the right one."""
    x, y, *_ = arguments
    left, right = np.split(x, 2, axis=1)
    return {1: (rounded(left) * tanh_gelu(rounded(right))).reference(y)}


def gated_problem(element: str, m: int, n: int, rows: int, columns: int) -> Problem:
    """A matrix in tiles."""
    return Problem(
        f"geglu {m}x{n} {element}",
        geglu,
        partial(make_gated, element=element, m=m, n=n, rows=rows, columns=columns),
        gated,
        (tiles_of(m, rows), tiles_of(n, columns), 1),
    )


PROBLEMS: Sequence[Problem] = (
    problem("gelu_erf", "f32", 1000, 512),
    problem("gelu_erf", "f16", 2048, 1024),
    problem("gelu_tanh", "f32", 2048, 1024),
    problem("gelu_tanh", "bf16", 999, 256),
    problem("silu", "f32", 1030, 512),
    problem("silu", "f16", 2048, 1024),
    gated_problem("f16", 8, 512, 4, 256),
    gated_problem("f32", 13, 100, 4, 64),
)
