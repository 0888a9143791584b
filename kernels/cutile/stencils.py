# pyright: basic
"""Elements computed of their neighbours, each gathered: blurs and edges of bytes, heat, a filter.

What lies outside of the array is zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import cuda.tile as ct
import numpy as np

from kernels.cutile.problem import Problem
from kernels.elements import ELEMENTS, F32, Array
from kernels.kernel import Reference, tiles_of

WEIGHTS = ((1, 2, 1), (2, 4, 2), (1, 2, 1))
"""Of the blur, in sixteenths."""

STEP = 0.125
"""How much of the difference from its neighbours an element loses."""

FILTER = (0.5, 0.25, 0.125, 0.125)
"""By how far the filter looks back."""


@ct.kernel
def blur(x, y, rows: ct.Constant[int], columns: ct.Constant[int]):
    """The mean of nine bytes, weighted, rounded down."""
    i, j = ct.bid(0), ct.bid(1)
    row = i * rows + ct.arange(rows, dtype=ct.int32)[:, None]
    column = j * columns + ct.arange(columns, dtype=ct.int32)[None, :]
    total = ct.zeros((rows, columns), dtype=ct.int32)
    for down in ct.static_iter((-1, 0, 1)):
        for right in ct.static_iter((-1, 0, 1)):
            there = ct.gather(x, (row + down, column + right))
            weight = (2 - down * down) * (2 - right * right)
            total += ct.astype(there, ct.int32) * weight
    ct.store(y, index=(i, j), tile=ct.astype(total >> 4, y.dtype))


@ct.kernel
def edges(x, y, rows: ct.Constant[int], columns: ct.Constant[int]):
    """How much brighter it gets to the right, by Sobel's weights; what is not brighter is 0."""
    i, j = ct.bid(0), ct.bid(1)
    row = i * rows + ct.arange(rows, dtype=ct.int32)[:, None]
    column = j * columns + ct.arange(columns, dtype=ct.int32)[None, :]

    def beside(at):
        above, below = ct.gather(x, (row - 1, at)), ct.gather(x, (row + 1, at))
        here = ct.astype(ct.gather(x, (row, at)), ct.int32)
        return ct.astype(above, ct.int32) + 2 * here + ct.astype(below, ct.int32)

    total = beside(column + 1) - beside(column - 1)
    ct.store(y, index=(i, j), tile=ct.astype(ct.maximum(total >> 3, 0), y.dtype))


@ct.kernel
def heat(x, y, rows: ct.Constant[int], columns: ct.Constant[int]):
    """A step of the heat equation: four neighbours."""
    i, j = ct.bid(0), ct.bid(1)
    row = i * rows + ct.arange(rows, dtype=ct.int32)[:, None]
    column = j * columns + ct.arange(columns, dtype=ct.int32)[None, :]
    here = ct.astype(ct.gather(x, (row, column)), ct.float32)
    total = here * -4.0
    for down, right in ct.static_iter(((-1, 0), (1, 0), (0, -1), (0, 1))):
        total += ct.astype(ct.gather(x, (row + down, column + right)), ct.float32)
    ct.store(y, index=(i, j), tile=ct.astype(here + STEP * total, y.dtype))


@ct.kernel
def look_back(x, y, tile: ct.Constant[int]):
    """A causal filter of four taps."""
    i = ct.bid(0)
    at = i * tile + ct.arange(tile, dtype=ct.int32)
    total = ct.zeros((tile,), dtype=ct.float32)
    for k, weight in ct.static_iter(((0, 0.5), (1, 0.25), (2, 0.125), (3, 0.125))):
        total += weight * ct.astype(ct.gather(x, at - k), ct.float32)
    ct.store(y, index=(i,), tile=ct.astype(total, y.dtype))


def _moved(x: Array, *distances: int) -> Array:
    """The array whose elements are those so far on, zeros behind its ends."""
    padded = np.pad(x, [(abs(d), abs(d)) for d in distances])
    begins = (abs(d) + d for d in distances)
    return padded[tuple(slice(b, b + n) for b, n in zip(begins, x.shape, strict=True))]


def _stencil(
    kernel: Any,
    shape: tuple[int, ...],
    tile: tuple[int, ...],
    element: str,
    terms: Any,
    least: float = -np.inf,
) -> Problem:
    kind = ELEMENTS[element]

    def make(rng: np.random.Generator) -> Sequence[Any]:
        return kind.random(rng, shape), kind.unset(rng, shape), *tile

    def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        x = arguments[0].astype(np.float64)
        parts = [weight * _moved(x, *distance) for distance, weight in terms.items()]
        exact = np.sum(parts, axis=0)
        if not kind.unit:
            return {1: Reference(np.maximum(np.floor(exact), least))}
        error = 8 * F32.unit * np.sum(np.abs(parts), axis=0)
        return {1: Reference(exact, error + kind.rounding(np.abs(exact) + error))}

    x, y = [*(tiles_of(n, t) for n, t in zip(shape, tile, strict=True)), 1][:2]
    name = f"{kernel._pyfunc.__name__} {'x'.join(map(str, shape))} {element}"
    return Problem(name, kernel, make, reference, (x, y, 1))


_BLUR = {(i, j): WEIGHTS[i + 1][j + 1] / 16 for i in (-1, 0, 1) for j in (-1, 0, 1)}
_EDGES = {(i, s): s * (2 - i * i) / 8 for i in (-1, 0, 1) for s in (-1, 1)}
_HEAT = {(0, 0): 1 - 4 * STEP, **{d: STEP for d in ((-1, 0), (1, 0), (0, -1), (0, 1))}}
_BACK = {(-k,): weight for k, weight in enumerate(FILTER)}

PROBLEMS: Sequence[Problem] = (
    _stencil(blur, (20, 96), (8, 32), "i8", _BLUR),
    _stencil(blur, (9, 144), (4, 128), "i8", _BLUR),
    _stencil(blur, (11, 50), (8, 64), "i8", _BLUR),
    _stencil(edges, (20, 96), (8, 32), "i8", _EDGES, 0),
    _stencil(edges, (9, 150), (1, 128), "i8", _EDGES, 0),
    _stencil(heat, (12, 80), (4, 64), "f16", _HEAT),
    _stencil(heat, (16, 72), (8, 64), "f32", _HEAT),
    _stencil(look_back, (1000,), (512,), "bf16", _BACK),
    _stencil(look_back, (300,), (256,), "f32", _BACK),
)
