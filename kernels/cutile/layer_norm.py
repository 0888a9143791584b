# pyright: basic
"""Layer normalisation of each row of a matrix, and its gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import cuda.tile as ct
import numpy as np

from kernels.cutile.problem import Problem
from kernels.elements import ELEMENTS, F32, Array
from kernels.kernel import Reference, tiles_of
from kernels.rounded import Rounded, rounded

EPSILON = 1e-5


def rows_of(x, i, rows: int, columns: int):
    """Rows in f32; columns past the end are zero."""
    tile = ct.load(x, (i, 0), (rows, columns), padding_mode=ct.PaddingMode.ZERO)
    return ct.astype(tile, ct.float32)


def line_of(x, columns: int):
    """A vector in f32, with zeros past its end."""
    line = ct.load(x, (0,), (columns,), padding_mode=ct.PaddingMode.ZERO)
    return ct.astype(line, ct.float32)


@ct.kernel
def layer_norm(x, w, b, y, means, scales, rows: ct.Constant[int], columns: ct.Constant[int]):
    """`y = (x - mean) * scale * w + b`, where `scale` is one over the standard deviation."""
    i = ct.bid(0)
    count = x.shape[1]
    tile = rows_of(x, i, rows, columns)
    mean = ct.sum(tile, axis=1, keepdims=True) / count
    inside = ct.arange(columns, dtype=ct.int32) < count
    centred = ct.where(inside, tile - mean, 0.0)
    scale = ct.rsqrt(ct.sum(centred * centred, axis=1, keepdims=True) / count + EPSILON)
    result = centred * scale * line_of(w, columns) + line_of(b, columns)
    ct.store(y, (i, 0), ct.astype(result, y.dtype))
    ct.store(means, (i,), ct.reshape(mean, (rows,)))
    ct.store(scales, (i,), ct.reshape(scale, (rows,)))


@ct.kernel
def layer_norm_dx(x, w, dy, means, scales, dx, rows: ct.Constant[int], columns: ct.Constant[int]):
    """`dx = (g - mean(g) - xhat * mean(g * xhat)) * scale`, where `g = dy * w`."""
    i = ct.bid(0)
    count = x.shape[1]
    mean = ct.reshape(ct.load(means, (i,), (rows,)), (rows, 1))
    scale = ct.reshape(ct.load(scales, (i,), (rows,)), (rows, 1))
    inside = ct.arange(columns, dtype=ct.int32) < count
    shape = ct.where(inside, (rows_of(x, i, rows, columns) - mean) * scale, 0.0)
    gradient = rows_of(dy, i, rows, columns) * line_of(w, columns)
    common = ct.sum(gradient, axis=1, keepdims=True) / count
    tilt = ct.sum(gradient * shape, axis=1, keepdims=True) / count
    ct.store(dx, (i, 0), ct.astype((gradient - common - shape * tilt) * scale, dx.dtype))


@ct.kernel
def layer_norm_dw(x, dy, means, scales, dw, db, rows: ct.Constant[int], columns: ct.Constant[int]):
    """Column sums over all rows: `dw` of `dy * xhat`, `db` of `dy`."""
    j = ct.bid(0)
    weight = ct.zeros((rows, columns), dtype=ct.float32)
    bias = ct.zeros((rows, columns), dtype=ct.float32)
    for i in range(ct.num_tiles(x, axis=0, shape=(rows, columns))):
        zero = ct.PaddingMode.ZERO
        tile = ct.astype(ct.load(x, (i, j), (rows, columns), padding_mode=zero), ct.float32)
        given = ct.astype(ct.load(dy, (i, j), (rows, columns), padding_mode=zero), ct.float32)
        mean = ct.reshape(ct.load(means, (i,), (rows,), padding_mode=zero), (rows, 1))
        scale = ct.reshape(ct.load(scales, (i,), (rows,), padding_mode=zero), (rows, 1))
        weight += given * ((tile - mean) * scale)
        bias += given
    ct.store(dw, (j,), ct.sum(weight, axis=0))
    ct.store(db, (j,), ct.sum(bias, axis=0))


def make(
    rng: np.random.Generator, element: str, m: int, n: int, rows: int, columns: int
) -> Sequence[Any]:
    """A random matrix off the origin, weights and biases; the result, means and scales."""
    kind = ELEMENTS[element]
    x = (rng.standard_normal((m, n)) + 0.5).astype(kind.dtype)
    w, b = kind.random(rng, (n,)), kind.random(rng, (n,))
    results = (kind.unset(rng, (m, n)), F32.unset(rng, (m,)), F32.unset(rng, (m,)))
    return (x, w, b, *results, rows, columns)


def _forward(x: Array, w: Array, b: Array) -> tuple[Rounded, Rounded, Rounded]:
    exact, count = rounded(x), float(x.shape[1])
    mean = exact.sum(axis=1) / count
    centred = exact - mean
    scale = ((centred * centred).sum(axis=1) / count + EPSILON).rsqrt()
    return centred * scale * rounded(w) + rounded(b), mean, scale


def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
    """The result, and what its gradients need."""
    x, w, b, y, means, scales, *_ = arguments
    result, mean, scale = _forward(x, w, b)
    return {
        3: result.reference(y),
        4: mean.reference(means),
        5: scale.reference(scales),
    }


def make_gradient(
    rng: np.random.Generator, element: str, m: int, n: int, rows: int, columns: int
) -> Sequence[Any]:
    """What the forward kernel was given and left, and a gradient of its result."""
    kind = ELEMENTS[element]
    x, w, b, *_ = make(rng, element, m, n, rows, columns)
    _, mean, scale = _forward(x, w, b)
    kept = (v.value.reshape(m).astype(np.float32) for v in (mean, scale))
    return (x, w, kind.random(rng, (m, n)), *kept, kind.unset(rng, (m, n)), rows, columns)


def gradient(arguments: Sequence[Any]) -> Mapping[int, Reference]:
    """By the means and scales that are given."""
    x, w, dy, means, scales, dx, *_ = arguments
    count = float(x.shape[1])
    mean, scale = rounded(means[:, None]), rounded(scales[:, None])
    shape = (rounded(x) - mean) * scale
    given = rounded(dy) * rounded(w)
    common, tilt = given.sum(axis=1) / count, (given * shape).sum(axis=1) / count
    return {5: ((given - common - shape * tilt) * scale).reference(dx)}


def make_weights(
    rng: np.random.Generator, element: str, m: int, n: int, rows: int, columns: int
) -> Sequence[Any]:
    """As for the gradient of the input, with vectors for those of weights and biases."""
    x, _, dy, means, scales, *_ = make_gradient(rng, element, m, n, rows, columns)
    return (x, dy, means, scales, F32.unset(rng, (n,)), F32.unset(rng, (n,)), rows, columns)


def weights(arguments: Sequence[Any]) -> Mapping[int, Reference]:
    """Return the sums over rows."""
    x, dy, means, scales, dw, db, *_ = arguments
    shape = (rounded(x) - rounded(means[:, None])) * rounded(scales[:, None])
    return {
        4: (rounded(dy) * shape).sum(axis=0).reference(dw),
        5: rounded(dy).sum(axis=0).reference(db),
    }


def problem(element: str, m: int, n: int, rows: int, columns: int) -> Problem:
    """An `m x n` matrix, `rows` at a time."""
    return Problem(
        f"layer_norm {m}x{n} {element}",
        layer_norm,
        partial(make, element=element, m=m, n=n, rows=rows, columns=columns),
        reference,
        (tiles_of(m, rows), 1, 1),
    )


def gradient_problem(element: str, m: int, n: int, rows: int, columns: int) -> Problem:
    """The gradient of the input."""
    return Problem(
        f"layer_norm_dx {m}x{n} {element}",
        layer_norm_dx,
        partial(make_gradient, element=element, m=m, n=n, rows=rows, columns=columns),
        gradient,
        (tiles_of(m, rows), 1, 1),
    )


def weights_problem(element: str, m: int, n: int, rows: int, columns: int) -> Problem:
    """The gradients of weights and biases, some columns in each block."""
    return Problem(
        f"layer_norm_dw {m}x{n} {element}",
        layer_norm_dw,
        partial(make_weights, element=element, m=m, n=n, rows=rows, columns=columns),
        weights,
        (tiles_of(n, columns), 1, 1),
    )


PROBLEMS: Sequence[Problem] = (
    problem("f32", 4, 1024, 1, 1024),
    problem("f16", 9, 100, 4, 128),
    problem("bf16", 8, 512, 4, 512),
    problem("bf16", 56, 303, 1, 512),
    problem("f32", 11, 302, 1, 512),
    gradient_problem("f32", 4, 1024, 1, 1024),
    gradient_problem("f16", 9, 100, 4, 128),
    weights_problem("f32", 40, 256, 16, 128),
    weights_problem("f16", 37, 100, 8, 64),
)
