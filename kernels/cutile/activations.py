# pyright: basic
"""Activations of neural networks: GELU in both forms, SiLU, and GEGLU, which gates one half."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import erf, pi, sqrt
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


def erf_of(x):
    """The error function of a tile, which cuTile does not have."""
    size = ct.abs(x)
    t = 1.0 / (1.0 + ERF_P * size)
    series = t * (ERF_1 + t * (ERF_2 + t * (ERF_3 + t * (ERF_4 + t * ERF_5))))
    return ct.where(x < 0.0, -1.0, 1.0) * (1.0 - series * ct.exp(0.0 - size * size))


def gelu_of(x):
    """GELU by a hyperbolic tangent."""
    return 0.5 * x * (1.0 + ct.tanh(SQRT_2_OVER_PI * (x + CUBIC * x * x * x)))


@ct.kernel
def gelu_erf(x, y, tile: ct.Constant[int]):
    """`x` times the normal distribution function."""
    i = ct.bid(0)
    t = ct.astype(ct.load(x, (i,), (tile,)), ct.float32)
    ct.store(y, (i,), ct.astype(0.5 * t * (1.0 + erf_of(t * SQRT_HALF)), y.dtype))


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
    size = rounded(np.abs(x.value)) * SQRT_HALF
    t = 1.0 / (1.0 + ERF_P * size)
    series = t * (ERF_1 + t * (ERF_2 + t * (ERF_3 + t * (ERF_4 + t * ERF_5))))
    found = 1.0 - series * (-(size * size)).exp()
    sign = rounded(np.sign(x.value))
    off = 0.5 * np.abs(x.value) * ERF_ERROR
    computed = 0.5 * x * (1.0 + sign * found)
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
