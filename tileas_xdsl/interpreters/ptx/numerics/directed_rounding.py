"""Correctly rounded add, mul, div, sqrt and fma in every rounding mode, from error-free transforms.

A result is computed as a double and the sign of what the double lost.  From both a narrower format
is rounded correctly: a double made odd in its last bit never looks exact or halfway (Boldo and
Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd").
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from tileas_xdsl.interpreters.ptx.numerics.float_formats import Array, encode

Operation = Callable[..., tuple[Array, Array]]
"""Doubles to the nearest double and the sign of the exact result minus it."""


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return `a + b` and its rounding error (Knuth's TwoSum)."""
    total = a + b
    other = total - a
    lost = np.sign((a - (total - other)) + (b - other))
    return total, _overflowed(total, lost, a, b)


def _exact_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return `a * b` and its rounding error (Dekker), without overflow and underflow."""
    product = a * b
    (ah, al), (bh, bl) = _halves(a), _halves(b)
    return product, ((ah * bh - product) + ah * bl + al * bh) + al * bl


def _halves(a: Array) -> tuple[Array, Array]:
    scaled = a * 134217729.0
    high = scaled - (scaled - a)
    return high, a - high


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return `a * b` and the sign of its rounding error."""
    product, lost = _exact_product(a, b)
    if _moderate(a, b).all():
        return product, np.sign(lost)
    return product, _overflowed(product, _exactly(_times, product, a, b), a, b)


def quotient(a: Array, b: Array) -> tuple[Array, Array]:
    """Return `a / b` and the sign of its rounding error."""
    value = a / b
    lost = _exactly(_fraction, value, a, b)
    return value, np.where(b == 0, lost, _overflowed(value, lost, a, b))


def square_root(a: Array) -> tuple[Array, Array]:
    """Return the square root and the sign of its rounding error."""
    value = np.sqrt(a)
    left = _exactly(_beyond_square, np.zeros_like(value), a, value)
    return value, left


def fused(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """Return `a * b + c` rounded once, and the sign of its rounding error."""
    overflows = np.isfinite(a) & np.isfinite(b) & np.isinf(c)
    plain = np.where(overflows, c, a * b + c)
    product, rest = _exact_product(a, b)
    narrow = bool((rest == 0).all()) and bool(_moderate(a, b).all())
    if narrow:
        return two_sum(product, c)
    value = _each(_fused, plain, a, b, c)
    left = _exactly(_times_plus, value, a, b, c)
    return value, _overflowed(value, left, a, b, c)


def _fused(a: float, b: float, c: float) -> float:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _times(a: float, b: float) -> Fraction:
    return Fraction(a) * Fraction(b)


def _times_plus(a: float, b: float, c: float) -> Fraction:
    return Fraction(a) * Fraction(b) + Fraction(c)


def _beyond_square(a: float, root: float) -> Fraction:
    return Fraction(a) - Fraction(root) ** 2


def _fraction(a: float, b: float) -> Fraction:
    return Fraction(a) / Fraction(b) if b else Fraction(0)


def _overflowed(value: Array, lost: Array, *operands: Array) -> Array:
    """Finite operands never give infinity: the exact result is on this side of it."""
    infinite = np.isinf(value)
    if not infinite.any():
        return lost
    finite = np.logical_and.reduce([np.isfinite(x) for x in np.broadcast_arrays(*operands)])
    return np.where(infinite & finite, -np.sign(value), lost)


def _moderate(*values: Array) -> Array:
    """Return where a product is exactly a sum of two doubles."""
    good: Array = np.ones((), np.bool_)
    for value in values:
        size = np.abs(value)
        good = good & ((size == 0) | ((size > 2.0**-480) & (size < 2.0**480)))
    return good


def _each(function: Callable[..., float], plain: Array, *values: Array) -> Array:
    """Return `function` of each finite element, `plain` elsewhere."""
    spread = np.broadcast_arrays(plain, *values)
    finite = np.logical_and.reduce([np.isfinite(v) for v in spread[1:]])
    result = np.array(spread[0], np.float64)
    for location in zip(*np.nonzero(finite), strict=True) if finite.ndim else [()] * bool(finite):
        result[location] = function(*(float(v[location]) for v in spread[1:]))
    return result


def _exactly(function: Callable[..., Fraction], value: Array, *operands: Array) -> Array:
    """Return the sign of an exact function minus `value`, where all is finite."""

    def sign(found: float, *arguments: float) -> float:
        exact = function(*arguments)
        return float((exact > Fraction(found)) - (exact < Fraction(found)))

    return _each(sign, np.zeros(np.shape(value)), value, *operands)


def rounded(result: tuple[Array, Array], name: str, rounding: str) -> Array:
    """Return the bits of an operation's result, rounded to a format."""
    value, lost = result
    if name == "f64":
        return _directed(value, lost, rounding).view(np.uint64)
    odd = round_to_odd(value, lost)
    return encode(odd, name, rounding)


def round_to_odd(value: Array, lost: Array) -> Array:
    """Return a double that is odd wherever bits were lost: rounding it again rounds only once."""
    value = np.asarray(value, np.float64)
    even = (np.ascontiguousarray(value).view(np.int64) & 1).reshape(value.shape) == 0
    inexact = np.isfinite(value) & (lost != 0) & even
    return np.where(inexact, np.nextafter(value, np.copysign(np.inf, lost)), value)


def _directed(value: Array, lost: Array, rounding: str) -> Array:
    """Return the double next to the exact result in the rounding direction."""
    if rounding == "rn":
        return np.asarray(value, np.float64)
    down = {"rm": np.ones(np.shape(value), np.bool_), "rp": np.zeros(np.shape(value), np.bool_)}
    toward_low = down.get(rounding, ~np.signbit(value))
    low = np.where((lost < 0) & toward_low, np.nextafter(value, -np.inf), value)
    return np.where((lost > 0) & ~toward_low, np.nextafter(low, np.inf), low)
