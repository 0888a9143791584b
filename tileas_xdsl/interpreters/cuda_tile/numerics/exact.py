"""Sums, products, quotients and roots, rounded to odd in float64 or rounded once in f64.

The operands of the first kind have at most 24 bits of precision, so that products are exact in
float64 and the errors of the others are known (Dekker, "A floating-point technique for extending
the available precision", 1971).  f64 itself is computed with fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import isfinite, isqrt

import numpy as np

from tileas_xdsl.dialects.cuda_tile.enums import RoundingMode
from tileas_xdsl.interpreters.cuda_tile.numerics.rounding import NEAREST, Reals


def to_odd(values: Reals, errors: Reals) -> Reals:
    """The sum of nearest values and what is left, rounded to odd: the sign of the rest decides."""
    exact = ~np.isfinite(values) | ~np.isfinite(errors) | (errors == 0)
    is_odd = np.ascontiguousarray(values).view(np.int64).reshape(values.shape) & 1 == 1
    neighbour = np.nextafter(values, np.where(errors > 0, np.inf, -np.inf))
    return np.where(exact | is_odd, values, neighbour)


def add(a: Reals, b: Reals) -> Reals:
    """Knuth's two-sum: the error of a sum is a float64."""
    total = a + b
    part = total - a
    return to_odd(total, (a - (total - part)) + (b - part))


def subtract(a: Reals, b: Reals) -> Reals:
    """The difference."""
    return add(a, -b)


def multiply(a: Reals, b: Reals) -> Reals:
    """The product, which is exact."""
    return a * b


def multiply_add(a: Reals, b: Reals, c: Reals) -> Reals:
    """The product plus a number."""
    return add(a * b, c)


def divide(a: Reals, b: Reals) -> Reals:
    """The quotient; the sign of what is left of the dividend is that of its error."""
    quotient = a / b
    high, low = _halves(quotient)
    left = (a - high * b) - low * b
    return to_odd(quotient, left * np.sign(b))


def square_root(a: Reals) -> Reals:
    """The square root."""
    root = np.sqrt(a)
    high, low = _halves(root)
    return to_odd(root, ((a - high * high) - 2 * high * low) - low * low)


def _halves(values: Reals) -> tuple[Reals, Reals]:
    """A number as the sum of two of at most 27 bits."""
    bits = np.ascontiguousarray(values).view(np.int64).reshape(values.shape)
    high = (bits & ~np.int64((1 << 27) - 1)).view(np.float64)
    return high, np.where(np.isfinite(values), values - high, 0.0)


def with_signed_zeros(
    name: str, found: Reals, operands: Sequence[Reals], mode: RoundingMode
) -> Reals:
    """Sums that cancel are -0 if rounded down, but for that of two +0 (IEEE 754, 6.3)."""
    if mode is not RoundingMode.NEGATIVE_INF or name not in ("add", "sub", "fma"):
        return found
    *factors, last = operands
    first = factors[0] if len(factors) == 1 else factors[0] * factors[1]
    last = -last if name == "sub" else last
    stays = (found != 0) | (first == 0) & (last == 0) & ~np.signbit(first) & ~np.signbit(last)
    return np.where(stays, found, -0.0)


def wide(
    exactly: Callable[..., Fraction], nearest: Callable[..., Reals], mode: RoundingMode
) -> Callable[..., Reals]:
    """An operation of f64: `nearest` where that is wanted, else corrected by what is exact."""

    def compute(*operands: Reals) -> Reals:
        found = np.asarray(nearest(*operands), np.float64)
        if mode in NEAREST:
            return found
        given = np.broadcast_arrays(*operands)
        every = zip(found.flat, *(each.flat for each in given), strict=True)
        return np.array([_directed(exactly, mode, *map(float, one)) for one in every]).reshape(
            found.shape
        )

    return compute


def _directed(
    exactly: Callable[..., Fraction], mode: RoundingMode, found: float, *operands: float
) -> float:
    """The neighbour of a nearest result that the mode wants."""
    if not all(map(isfinite, operands)) or found != found:
        return found
    if exactly is _divided and operands[1] == 0:
        return found
    # An overflow that was rounded to infinity has no `Fraction`; the true result is then on the
    # side of zero, which the sign of the error says.
    if isfinite(found):
        error = exactly(*map(Fraction, operands)) - Fraction(found)
    else:
        error = Fraction(-1 if found > 0 else 1)
    up = mode is RoundingMode.POSITIVE_INF or (mode is RoundingMode.ZERO and found < 0)
    if mode is RoundingMode.ZERO and found == 0:
        return found
    if error and (error > 0) == up:
        return float(np.nextafter(found, np.inf if up else -np.inf))
    return found


def _added(a: Fraction, b: Fraction) -> Fraction:
    return a + b


def _subtracted(a: Fraction, b: Fraction) -> Fraction:
    return a - b


def _multiplied(a: Fraction, b: Fraction) -> Fraction:
    return a * b


def _divided(a: Fraction, b: Fraction) -> Fraction:
    return a / b


def _multiplied_and_added(a: Fraction, b: Fraction, c: Fraction) -> Fraction:
    return a * b + c


def _root(a: Fraction) -> Fraction:
    """The square root to 200 bits, rounded down; exact where it is rational."""
    scaled = a.numerator * a.denominator << 400
    root = isqrt(scaled)
    return Fraction(2 * root + (root * root != scaled), a.denominator << 201)


def fused(a: Reals, b: Reals, c: Reals) -> Reals:
    """`a * b + c` of f64, rounded once."""
    given = np.broadcast_arrays(a, b, c)
    every = zip(*(each.flat for each in given), strict=True)
    return np.array([_fused(*map(float, one)) for one in every]).reshape(given[0].shape)


def _fused(a: float, b: float, c: float) -> float:
    if not all(map(isfinite, (a, b, c))):
        return float(np.float64(a) * np.float64(b) + np.float64(c))
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if not exact:
        return a * b + c
    try:
        return float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")


NARROW: Mapping[str, Callable[..., Reals]] = {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "div": divide,
    "fma": multiply_add,
    "sqrt": square_root,
}
"""Operations on formats of at most 24 bits, rounded to odd."""

WIDE: Mapping[str, tuple[Callable[..., Fraction], Callable[..., Reals]]] = {
    "add": (_added, np.add),
    "sub": (_subtracted, np.subtract),
    "mul": (_multiplied, np.multiply),
    "div": (_divided, np.divide),
    "fma": (_multiplied_and_added, fused),
    "sqrt": (_root, np.sqrt),
}
"""Operations of f64: exactly, and rounded to nearest."""
