"""Instruction inputs: special values, rounding ties, values of similar magnitude, random bits."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import ml_dtypes
import numpy as np
from hardware.cases.case import Array

COUNT = 512
"""Number of elements of an input."""

FLOATS = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
MANTISSA = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}
NARROWER = (2, 3, 7, 10)
"""Mantissa widths of e5m2, e4m3, bf16, and f16 or tf32."""


def rng_of(name: str) -> np.random.Generator:
    """Return a random generator seeded by a name alone."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def inputs_of(type_: str, name: str, count: int = COUNT) -> Array:
    """Return the bits of random values of a type as unsigned integers (`x2` types: pairs)."""
    rng = rng_of(f"{type_} {name}")
    if type_.endswith("x2"):
        one = type_.removesuffix("x2")
        low, high = (inputs_of(one, f"{name} {half}", count) for half in ("low", "high"))
        bits = 8 * low.dtype.itemsize
        wide = low.astype(f"u{2 * bits // 8}")
        return wide | high.astype(wide.dtype) << wide.dtype.type(bits)
    if type_ in FLOATS:
        return _mixed(_float_parts(type_, rng, count), rng, count)
    if type_ in ("e4m3", "e5m2"):
        return rng.integers(0, 256, count).astype(np.uint8)
    bits = int(type_[1:])
    return _mixed(_integer_parts(bits, rng, count), rng, count)


def _mixed(parts: Sequence[Array], rng: np.random.Generator, count: int) -> Array:
    """Shuffle the whole first part with elements of the others, `count` in total."""
    first, *others = parts
    rest = rng.permutation(np.concatenate(others))
    return rng.permutation(np.concatenate([first, rest])[:count])


def _integer_parts(bits: int, rng: np.random.Generator, count: int) -> Sequence[Array]:
    dtype = f"u{bits // 8}"
    turns = [0, 1, 2, 3, 31, 32, 33, 63, 64, 65, (1 << bits) - 1, (1 << bits) - 2]
    turns += [1 << (bits - 1), (1 << (bits - 1)) - 1, (1 << (bits - 1)) + 1]
    held = [turn for turn in turns if turn < 1 << bits]
    lengths = rng.integers(0, bits, count).astype(np.uint64)
    anything = rng.integers(0, 1 << bits, count, dtype=np.uint64, endpoint=False)
    return (
        np.array(held, np.uint64).astype(dtype),
        anything.astype(dtype),
        (anything >> lengths).astype(dtype),
        rng.integers(0, 40, count // 4).astype(dtype),
    )


def _float_parts(type_: str, rng: np.random.Generator, count: int) -> Sequence[Array]:
    dtype = np.dtype(FLOATS[type_])
    bits, mantissa = 8 * dtype.itemsize, MANTISSA[type_]
    word = f"u{dtype.itemsize}"
    top, infinity = 1 << (bits - 1), (1 << (bits - 1)) - (1 << mantissa)
    specials = [0, 1, (1 << mantissa) - 1, 1 << mantissa, infinity - 1, infinity, infinity + 1]
    specials += [infinity | 1 << (mantissa - 1), infinity | 3 << (mantissa - 2), top - 1]
    both = np.array([x | sign for x in specials for sign in (0, top)], np.uint64).astype(word)

    def numbers(values: Array) -> Array:
        with np.errstate(all="ignore"):
            return values.astype(dtype).view(word)

    plain = rng.standard_normal(count)
    wide = plain * 2.0 ** rng.integers(-40, 70, count)
    small = plain[: count // 2] * 2.0 ** rng.integers(-30, -5, count // 2)
    halves = rng.integers(-300, 300, count // 2) + 0.5
    anything = rng.integers(0, 1 << bits, count // 2, dtype=np.uint64).astype(word)
    ties = [_ties(numbers(small), mantissa, keep, word) for keep in NARROWER if keep < mantissa]
    edges = np.array([s * (2.0**n + d) for n in (7, 8, 15, 16, 31, 32, 63, 64)
                      for d in (-1, -0.5, 0, 0.5) for s in (1, -1)])  # fmt: skip
    return (both, numbers(plain), numbers(wide), *ties, numbers(halves), numbers(edges), anything)


def _ties(words: Array, mantissa: int, keep: int, word: str) -> Array:
    """Return floats at or one ulp beside the midpoint of two floats with `keep` mantissa bits."""
    unit = 1 << (mantissa - keep)
    cleared = words & np.dtype(word).type(~(unit - 1) & ((1 << 8 * words.dtype.itemsize) - 1))
    beside = np.array([unit // 2 - 1, unit // 2, unit // 2 + 1], np.uint64).astype(word)
    return cleared | np.resize(beside, len(words))
