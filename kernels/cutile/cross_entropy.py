# pyright: basic
"""Cross entropy of rows of logits with labels, and its gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import cuda.tile as ct
import numpy as np

from kernels.cutile.problem import Problem
from kernels.elements import ELEMENTS, F32
from kernels.kernel import Reference, tiles_of
from kernels.rounded import Rounded, rounded


@ct.kernel
def cross_entropy(x, labels, losses, gradients, rows: ct.Constant[int], columns: ct.Constant[int]):
    """`log(sum(exp(x))) - x[label]` for each row, and the softmax less 1 at the label."""
    i = ct.bid(0)
    tile = ct.load(x, (i, 0), (rows, columns), padding_mode=ct.PaddingMode.NEG_INF)
    tile = ct.astype(tile, ct.float32)
    shifted = tile - ct.max(tile, axis=1, keepdims=True)
    powers = ct.exp(shifted)
    total = ct.sum(powers, axis=1, keepdims=True)
    label = ct.reshape(ct.load(labels, (i,), (rows,)), (rows, 1))
    is_label = ct.arange(columns, dtype=ct.int32) == label
    right = ct.sum(ct.where(is_label, shifted, 0.0), axis=1, keepdims=True)
    ct.store(losses, (i,), ct.reshape(ct.log(total) - right, (rows,)))
    gradient = powers / total - ct.where(is_label, 1.0, 0.0)
    ct.store(gradients, (i, 0), ct.astype(gradient, gradients.dtype))


def make(
    rng: np.random.Generator, element: str, m: int, n: int, rows: int, columns: int
) -> Sequence[Any]:
    """Random logits and labels; losses and gradients."""
    kind = ELEMENTS[element]
    x = (3 * rng.standard_normal((m, n))).astype(kind.dtype)
    labels = rng.integers(0, n, m).astype(np.int32)
    return x, labels, F32.unset(rng, (m,)), kind.unset(rng, (m, n)), rows, columns


def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
    """Both results in f32; gradients are rounded to their elements."""
    x, labels, losses, gradients, *_ = arguments
    exact = rounded(x)
    shifted = exact - exact.max(axis=1)
    powers = shifted.exp()
    total = powers.sum(axis=1)
    is_label = np.arange(x.shape[1]) == labels[:, None]
    pair = (np.sum(v * is_label, axis=1, keepdims=True) for v in (shifted.value, shifted.error))
    return {
        2: (total.log() - Rounded(*pair)).reference(losses),
        3: (powers / total - rounded(is_label)).reference(gradients),
    }


def problem(element: str, m: int, n: int, rows: int, columns: int) -> Problem:
    """`m` rows of `n` logits."""
    return Problem(
        f"cross_entropy {m}x{n} {element}",
        cross_entropy,
        partial(make, element=element, m=m, n=n, rows=rows, columns=columns),
        reference,
        (tiles_of(m, rows), 1, 1),
    )


PROBLEMS: Sequence[Problem] = (
    problem("f32", 4, 1000, 1, 1024),
    problem("f16", 11, 100, 4, 128),
    problem("bf16", 8, 256, 4, 256),
)
