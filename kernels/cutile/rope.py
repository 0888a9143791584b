# pyright: basic
"""Rotary position embedding: pairs of elements are rotated by an angle for each position.

Source: Su et al., RoFormer: Enhanced Transformer with Rotary Position Embedding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import cuda.tile as ct
import numpy as np

from kernels.cutile.problem import Problem
from kernels.elements import ELEMENTS, Array
from kernels.kernel import Reference, tiles_of
from kernels.rounded import Rounded, rounded

BASE = 10000.0


@ct.kernel
def rope(x, cosines, sines, y, rows: ct.Constant[int], half: ct.Constant[int]):
    """Rotate pairs of an element of the left half of a head and one of the right half.

    `x` and `y` are `(heads, positions, width)`; a block rotates some positions of one head.
    """
    head, i = ct.bid(0), ct.bid(1)
    left = ct.astype(ct.load(x, (head, i, 0), (1, rows, half)), ct.float32)
    right = ct.astype(ct.load(x, (head, i, 1), (1, rows, half)), ct.float32)
    cosine = ct.reshape(ct.load(cosines, (i, 0), (rows, half)), (1, rows, half))
    sine = ct.reshape(ct.load(sines, (i, 0), (rows, half)), (1, rows, half))
    ct.store(y, (head, i, 0), ct.astype(left * cosine - right * sine, y.dtype))
    ct.store(y, (head, i, 1), ct.astype(right * cosine + left * sine, y.dtype))


@ct.kernel
def rope_interleaved(x, cosines, sines, y, rows: ct.Constant[int], half: ct.Constant[int]):
    """Rotate pairs of neighbours: a tile is reshaped to pairs, split, and joined again."""
    head, i = ct.bid(0), ct.bid(1)
    tile = ct.astype(ct.load(x, (head, i, 0), (1, rows, 2 * half)), ct.float32)
    pairs = ct.reshape(tile, (rows, half, 2))
    first = ct.extract(pairs, (0, 0, 0), (rows, half, 1))
    second = ct.extract(pairs, (0, 0, 1), (rows, half, 1))
    cosine = ct.reshape(ct.load(cosines, (i, 0), (rows, half)), (rows, half, 1))
    sine = ct.reshape(ct.load(sines, (i, 0), (rows, half)), (rows, half, 1))
    turned = ct.cat((first * cosine - second * sine, second * cosine + first * sine), 2)
    ct.store(y, (head, i, 0), ct.astype(ct.reshape(turned, (1, rows, 2 * half)), y.dtype))


def angles(positions: int, half: int) -> tuple[Array, Array]:
    """Cosines and sines in f32, `(positions, half)`."""
    steps = BASE ** (-np.arange(half, dtype=np.float64) / half)
    turned = np.arange(positions, dtype=np.float64)[:, None] * steps
    return np.cos(turned).astype(np.float32), np.sin(turned).astype(np.float32)


def make(
    rng: np.random.Generator, element: str, heads: int, positions: int, rows: int, half: int
) -> Sequence[Any]:
    """Random heads, tables of angles, and heads for the result."""
    kind, shape = ELEMENTS[element], (heads, positions, 2 * half)
    cosines, sines = angles(positions, half)
    return kind.random(rng, shape), cosines, sines, kind.unset(rng, shape), rows, half


def _turned(first: Array, second: Array, cosines: Array, sines: Array) -> tuple[Rounded, Rounded]:
    a, b, c, s = map(rounded, (first, second, cosines, sines))
    return a * c - b * s, b * c + a * s


def _joined(parts: Sequence[Rounded], axis: int) -> Rounded:
    values, errors = ([getattr(p, name) for p in parts] for name in ("value", "error"))
    return Rounded(np.concatenate(values, axis), np.concatenate(errors, axis))


def halves(arguments: Sequence[Any]) -> Mapping[int, Reference]:
    """Pairs from both halves."""
    x, cosines, sines, y, _, half = arguments
    parts = _turned(x[:, :, :half], x[:, :, half:], cosines, sines)
    return {3: _joined(parts, axis=2).reference(y)}


def neighbours(arguments: Sequence[Any]) -> Mapping[int, Reference]:
    """Pairs of neighbours."""
    x, cosines, sines, y, *_ = arguments
    parts = _turned(x[:, :, ::2], x[:, :, 1::2], cosines, sines)
    parts = [Rounded(p.value[..., None], p.error[..., None]) for p in parts]
    return {3: _joined(parts, axis=3).reference(y)}


def problem(kernel: Any, element: str, heads: int, positions: int, rows: int, half: int) -> Problem:
    """Heads of `2 * half` numbers for each position."""
    name = "rope" if kernel is rope else "rope_interleaved"
    return Problem(
        f"{name} {heads}x{positions}x{2 * half} {element}",
        kernel,
        partial(make, element=element, heads=heads, positions=positions, rows=rows, half=half),
        halves if kernel is rope else neighbours,
        (heads, tiles_of(positions, rows), 1),
    )


PROBLEMS: Sequence[Problem] = (
    problem(rope, "f32", 2, 16, 8, 32),
    problem(rope, "f16", 3, 21, 16, 64),
    problem(rope, "bf16", 2, 32, 16, 64),
    problem(rope_interleaved, "f32", 2, 16, 8, 32),
    problem(rope_interleaved, "f16", 2, 21, 16, 32),
)
