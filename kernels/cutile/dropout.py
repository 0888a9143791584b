# pyright: basic
"""Dropout whose choice depends on a seed and on the place of an element only: Philox 4x32-10.

Source: Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3 (SC 2011).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import cuda.tile as ct
import numpy as np
from numpy.typing import NDArray

from kernels.cutile.problem import Problem
from kernels.elements import ELEMENTS
from kernels.kernel import Reference, tiles_of

ROUNDS = 10
FACTOR_A, FACTOR_B = 0xD2511F53, 0xCD9E8D57
STEP_A, STEP_B = 0x9E3779B9, 0xBB67AE85
WORD = 32
MASK = 0xFFFFFFFF


def product(factor: int, word):
    """Return the high and the low word of a product of two words."""
    wide = ct.astype(word, ct.uint64) * ct.uint64(factor)
    return ct.astype(wide >> 32, ct.uint32), ct.astype(wide, ct.uint32)


def philox(place, seed):
    """Return the first random word of the counter `(place, 0, 0, 0)`."""
    a, b = place, ct.zeros(place.shape, dtype=ct.uint32)
    c, d = b, b
    key_a = ct.full(place.shape, seed, dtype=ct.uint32)
    key_b = b
    for _ in ct.static_iter(range(ROUNDS)):
        high_a, low_a = product(FACTOR_A, a)
        high_b, low_b = product(FACTOR_B, c)
        a, b, c, d = high_b ^ b ^ key_a, low_b, high_a ^ d ^ key_b, low_a
        key_a, key_b = key_a + STEP_A, key_b + STEP_B
    return a


@ct.kernel
def dropout(x, y, seed, limit, scale, tile: ct.Constant[int]):
    """Scale elements whose random word is below `limit`, and zero the others."""
    i = ct.bid(0)
    place = ct.astype(i * tile + ct.arange(tile, dtype=ct.int32), ct.uint32)
    kept = philox(place, seed) < ct.astype(limit, ct.uint32)
    scaled = ct.astype(ct.load(x, (i,), (tile,)), ct.float32) * scale
    ct.store(y, (i,), ct.astype(ct.where(kept, scaled, 0.0), y.dtype))


def words(count: int, seed: int) -> NDArray[np.uint32]:
    """Return the same random words in numpy."""
    a, b, c, d = (np.zeros(count, np.uint64) for _ in range(4))
    a += np.arange(count, dtype=np.uint64)
    key_a, key_b = seed, 0
    for _ in range(ROUNDS):
        first, second = a * np.uint64(FACTOR_A), c * np.uint64(FACTOR_B)
        high, low = np.uint64(WORD), np.uint64(MASK)
        a, b, c, d = (
            (second >> high) ^ b ^ np.uint64(key_a),
            second & low,
            (first >> high) ^ d ^ np.uint64(key_b),
            first & low,
        )
        key_a, key_b = (key_a + STEP_A) & MASK, (key_b + STEP_B) & MASK
    return a.astype(np.uint32)


def make(rng: np.random.Generator, element: str, n: int, share: float, tile: int) -> Sequence[Any]:
    """A random vector and a random seed; `share` is dropped."""
    kind = ELEMENTS[element]
    seed = int(rng.integers(1 << 31))
    limit = int((1 - share) * (1 << 31))
    return kind.random(rng, (n,)), kind.unset(rng, (n,)), seed, limit, 1 / (1 - share), tile


def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
    """The product in f32, rounded to the element: the same bits."""
    x, y, seed, limit, scale, _ = arguments
    kept = words(len(x), seed) < limit
    scaled = (x.astype(np.float32) * np.float32(scale)).astype(y.dtype)
    return {1: Reference(np.where(kept, scaled, np.zeros_like(scaled)))}


def problem(element: str, n: int, share: float, tile: int) -> Problem:
    """`n` elements in tiles."""
    return Problem(
        f"dropout {n} {element}",
        dropout,
        partial(make, element=element, n=n, share=share, tile=tile),
        reference,
        (tiles_of(n, tile), 1, 1),
    )


PROBLEMS: Sequence[Problem] = (
    problem("f32", 4096, 0.7, 1024),
    problem("f16", 1001, 0.75, 256),
    problem("bf16", 2048, 0.9, 1024),
)
