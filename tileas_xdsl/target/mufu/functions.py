"""`ex2`, `rcp`, `rsqrt`, `sqrt` and `lg2` with `.approx` on f32, as an H200 computes them.

The multi-function unit evaluates a significand by tables and interpolation, and scales; here the
significand's result is looked up (`tables.py`).  It reads subnormal arguments as zeros and gives
zeros for subnormal results, which is `.ftz`; without it ptxas scales around the instruction:

    ex2:    x < -126           ex2(x/2)^2
    rcp:    |x| < 2^-126       rcp(x 2^24) 2^24
            |x| > 2^126        rcp(x/4) / 4
    rsqrt:  |x| < 2^-126       rsqrt(x 2^24) 2^12
    sqrt:   |x| < 2^-126       sqrt(x 2^24) 2^-12
    lg2:    |x| < 2^-126       lg2(x 2^24) - 24

(SASS of ptxas 13.0 for sm_90a.)  Arguments and results are arrays of f32; a NaN is any NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.target.mufu.tables import recorded

F32 = NDArray[np.float32]

MIN_NORMAL = np.float32(2.0**-126)
FRACTION_BITS = 23
FRACTIONS = 1 << FRACTION_BITS
SCALE = np.float32(2.0**24)
"""Makes a subnormal number normal."""


def approximate(name: str, x: F32, ftz: bool) -> F32:
    """Return `name.approx.f32` (`name.approx.ftz.f32` with `ftz`) of a function of `FUNCTIONS`."""
    with np.errstate(all="ignore"):
        return FUNCTIONS[name](x) if ftz else SCALED[name](x)


def approximate_quotient(a: F32, b: F32, ftz: bool, full: bool = False) -> F32:
    """Return `div.approx.f32` or `div.full.f32`: a times the approximate reciprocal of b.

    Without `ftz` both are scaled by a power of two where b is subnormal; `div.full` does so where
    the reciprocal would be subnormal, too.
    """
    with np.errstate(all="ignore"):
        if ftz:
            a, b = _flushed(a), _flushed(b)
        size = np.abs(b)
        scale = np.where((size > 2.0**126) & full, np.float32(0.25), np.float32(1))
        scale = np.where((size < MIN_NORMAL) & (not ftz), SCALE, scale)
        a, b = a * scale, b * scale
        found = a * (_rcp(b) if ftz or full else _rcp_scaled(b))
        return _flushed(found) if ftz else found


def _flushed(x: F32) -> F32:
    """Zeros with the signs of subnormal numbers, and all others."""
    return np.where(np.abs(x) < MIN_NORMAL, np.copysign(np.float32(0), x), x)


def _looked_up(name: str, index: NDArray[np.int64]) -> NDArray[np.float64]:
    return recorded(name)[index].view(np.float32).astype(np.float64)


def _special(found: NDArray[np.float64], *cases: tuple[NDArray[np.bool_], float]) -> F32:
    """Results rounded to f32, with those of special arguments put in; subnormal ones flushed."""
    for where, value in cases:
        found = np.where(where, value, found)
    return _flushed(found.astype(np.float32))


def _ex2(x: F32) -> F32:
    """The magnitude in steps of 2^-23, rounded to zero; the integer part is the exponent."""
    size = np.abs(x)
    ordinary = bool((size < 126).all())
    size = size if ordinary else np.where(size < 256, size, np.float32(0))
    steps = (size.astype(np.float64) * FRACTIONS).astype(np.int64)
    whole, fraction = (steps >> FRACTION_BITS).astype(np.int32), steps & (FRACTIONS - 1)
    negative = np.signbit(x)
    down = _looked_up("ex2_negative", fraction) if negative.any() else np.float64(1)
    if negative.all():
        found = np.ldexp(down, -whole)
    else:
        up = _looked_up("ex2", fraction)
        found = np.where(negative, np.ldexp(down, -whole), np.ldexp(up, whole))
    if ordinary:
        return found.astype(np.float32)
    return _special(found, (x >= 128, np.inf), (x <= -256, 0.0), (np.isnan(x), np.nan))


def _split(x: F32) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The significand after the leading bit, and the exponent, of normal numbers."""
    bits = x.view(np.uint32).astype(np.int64)
    return bits & (FRACTIONS - 1), (bits >> FRACTION_BITS & 255) - 127


def _rcp(x: F32) -> F32:
    x = _flushed(x)
    fraction, exponent = _split(x)
    size = _looked_up("rcp", fraction) * np.exp2(-exponent.astype(np.float64))
    found = np.copysign(_special(size, (x == 0, np.inf), (np.isinf(x), 0.0)), x)
    return np.where(np.isnan(x), np.float32(np.nan), found)


def _by_fours(name: str, x: F32, power: float) -> NDArray[np.float64]:
    """A table of [1, 4), scaled by 2^power for each factor of 4 of the argument."""
    fraction, exponent = _split(x)
    pairs, odd = exponent >> 1, exponent & 1
    return _looked_up(name, odd * FRACTIONS + fraction) * np.exp2(power * pairs)


def _rsqrt(x: F32) -> F32:
    x = _flushed(x)
    found = _special(_by_fours("rsqrt", x, -1.0), (np.isposinf(x), 0.0), (x < 0, np.nan))
    infinite = np.copysign(np.float32(np.inf), x)
    return np.where(np.isnan(x), np.float32(np.nan), np.where(x == 0, infinite, found))


def _sqrt(x: F32) -> F32:
    x = _flushed(x)
    found = _special(_by_fours("sqrt", x, 1.0), (np.isposinf(x), np.inf), (x < 0, np.nan))
    return np.where(x == 0, x, np.where(np.isnan(x), np.float32(np.nan), found))


def _lg2(x: F32) -> F32:
    """Fixed point: the exponent and the logarithm of the significand, cut to 24 bits.

    Below 0.5 the sum is negative, and its bits are inverted: one unit in the last place nearer to
    zero than its rounding up.
    """
    x = _flushed(x)
    fraction, exponent = _split(x)
    whole = np.abs(exponent)
    above = exponent > 0
    magnitude = np.maximum(np.where(above, whole, whole - 1), 1)
    unit = np.exp2(np.floor(np.log2(magnitude)) - FRACTION_BITS)
    near = _looked_up("lg2", fraction)
    steps = np.floor(near / unit)
    far = np.where(above, whole + steps * unit, -(whole - (steps + 1) * unit))
    found = np.where(exponent == 0, near, far)
    below = exponent == -1
    if below.any():
        found = np.where(below, _looked_up("lg2_below_one", fraction), found)
    found = np.where(x == 0, -np.inf, np.where(np.isposinf(x), np.inf, found))
    return np.where((x < 0) | np.isnan(x), np.nan, found).astype(np.float32)


def _ex2_scaled(x: F32) -> F32:
    small = x < -126
    found = _ex2(np.where(small, x * np.float32(0.5), x))
    return np.where(small, found * found, found)


def _rcp_scaled(x: F32) -> F32:
    size = np.abs(x)
    scale = np.where(size < MIN_NORMAL, SCALE, np.float32(1))
    scale = np.where(size > 2.0**126, np.float32(0.25), scale)
    return _rcp(x * scale) * scale


def _scaled(function: Callable[[F32], F32], back: float) -> Callable[[F32], F32]:
    """A function without flushing: of subnormal arguments that of 2^24 as many, times `back`."""

    def scaled(x: F32) -> F32:
        small = np.abs(x) < MIN_NORMAL
        found = function(np.where(small, x * SCALE, x))
        return np.where(small, found * np.float32(back), found)

    return scaled


def _lg2_scaled(x: F32) -> F32:
    small = np.abs(x) < MIN_NORMAL
    found = _lg2(np.where(small, x * SCALE, x))
    return np.where(small, found - np.float32(24), found)


FUNCTIONS: Mapping[str, Callable[[F32], F32]] = {
    "ex2": _ex2,
    "rcp": _rcp,
    "rsqrt": _rsqrt,
    "sqrt": _sqrt,
    "lg2": _lg2,
}
"""With `.ftz`: as the unit computes."""

SCALED: Mapping[str, Callable[[F32], F32]] = {
    "ex2": _ex2_scaled,
    "rcp": _rcp_scaled,
    "rsqrt": _scaled(_rsqrt, 2.0**12),
    "sqrt": _scaled(_sqrt, 2.0**-12),
    "lg2": _lg2_scaled,
}
"""Without `.ftz`: as ptxas expands it."""
