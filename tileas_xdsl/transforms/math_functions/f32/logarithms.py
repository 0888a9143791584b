"""log, log2, log10, log1p and the inverse hyperbolic functions in f32.

A number is `2**k * (1 + f)`; a polynomial gives the logarithm of 1 + f, which is at most twice its
least value.
"""

from __future__ import annotations

from xdsl.dialects import math
from xdsl.dialects.builtin import f32

from tileas_xdsl.transforms.math_functions import coefficients
from tileas_xdsl.transforms.math_functions.expression_builder import INFINITY, NAN, Value

LN_2 = 0.6931471805599453
SQRT_HALF_BITS = 0x3F3504F3
"""The square root of 1/2, from which 1 + f goes."""
TWO_THIRDS_BITS = 0x3F2AAAAB
"""The same of log."""
INFINITY_BITS = 0x7F800000
EXPONENT = -(1 << 23)
"""The bits of sign and exponent."""
SMALLEST_NORMAL = 2.0**-126
STEP = 2.0**-23
"""Of an exponent, in the bits of a float."""

LOG2_E = 1.4426950216293335
LOG10_E = (0.4342944920063019, -1.0103049952192578e-08)
"""As the sum of two f32."""
LOG10_2 = (0.3010300099849701, -1.432098883924482e-08)
"""The same of log10(2)."""


def cut(x: Value, lowest: int = SQRT_HALF_BITS) -> tuple[Value, Value]:
    """`(k, f)` of a positive number, k a float; `lowest` are the bits of the least 1 + f."""
    small = x.compare("lt", SMALLEST_NORMAL)
    steps, f = _cut(small.then(x * 2.0**23, x), lowest)
    return steps.fma(STEP, small.then(-23.0, 0.0)), f


def _cut(x: Value, lowest: int) -> tuple[Value, Value]:
    """The same of a normal number, with k in steps of 2**-23."""
    shift = (x.bits() - lowest) & EXPONENT
    return shift.cast("sitofp", f32), (x.bits() - shift).as_float() - 1.0


def _of_positive(x: Value, result: Value) -> Value:
    """Zero has the logarithm minus infinity, infinity itself, negative numbers and NaN none."""
    other = x.fma(INFINITY, INFINITY)
    plain = x.bits().compare("ult", INFINITY_BITS).then(result, other)
    return x.compare("eq", 0.0).then(-INFINITY, plain)


def _of_normal(x: Value, result: Value) -> Value:
    """Infinity and NaN are their logarithms, where nothing else is special."""
    return x.bits().compare("ult", INFINITY_BITS).then(result, x)


def log(x: Value) -> Value:
    """The natural logarithm."""
    return _of_positive(x, _log(*cut(x, TWO_THIRDS_BITS)))


def log_of_normal(x: Value) -> Value:
    """The natural logarithm of what is no less than the smallest normal number, or NaN."""
    return _of_normal(x, _log(*_cut(x, TWO_THIRDS_BITS), STEP))


def _log(k: Value, f: Value, unit: float = 1.0) -> Value:
    near = f.fma(f * f.polynomial(coefficients.LOG), f)
    return k.fma(LN_2 * unit, near)


def log2(x: Value) -> Value:
    """The logarithm to base 2."""
    return _of_positive(x, _log2(*cut(x)))


def log2_of_normal(x: Value) -> Value:
    """The logarithm to base 2 of what is no less than the smallest normal number, or NaN."""
    return _of_normal(x, _log2(*_cut(x, SQRT_HALF_BITS), STEP))


def _log2(k: Value, f: Value, unit: float = 1.0) -> Value:
    square = f * (f * f.polynomial(coefficients.LOG2))
    return k.fma(unit, f.fma(LOG2_E, square))


def log10(x: Value) -> Value:
    """The logarithm to base 10."""
    k, f = cut(x)
    high, low = LOG10_2
    return _of_positive(x, k.fma(high, k.fma(low, _log10_near(f))))


def _log10_near(f: Value) -> Value:
    """log(1 + f) times log10(e), of two parts."""
    high, low = LOG10_E
    rest = f.polynomial(coefficients.LOG1P) * (f * f)
    return f.fma(high, f.fma(low, rest * high))


def _log1p(x: Value) -> Value:
    """log(1 + x) for x > -1: with the k of 1 + x, f is `x / 2**k + (1 / 2**k - 1)`."""
    shift = ((x + 1.0).bits() - SQRT_HALF_BITS) & EXPONENT
    four = (0x40800000 - shift).as_float()
    f = (x.bits() - shift).as_float() + four.fma(0.25, -1.0)
    near = f.polynomial(coefficients.LOG1P).fma(f * f, f)
    k = shift.cast("sitofp", f32) * 2.0**-23
    return abs(x).compare("lt", 2.0**-26).then(x, k.fma(LN_2, near))


def log1p(x: Value) -> Value:
    """The logarithm of 1 + x."""
    plain = x.compare("lt", INFINITY).then(_log1p(x), x)
    found = x.compare("gt", -1.0).then(plain, NAN)
    return x.compare("eq", -1.0).then(-INFINITY, found)


BIG = 2.0**25
"""From here on asinh and acosh are log(2 x) in f32."""


def asinh(x: Value) -> Value:
    """`log1p(a + a**2 / (1 + sqrt(1 + a**2)))` of a = |x|."""
    a = abs(x)
    big = a.compare("gt", BIG)
    square = a * a
    root = a.fma(a, 1.0).function(math.SqrtOp)
    near = a + square / (root + 1.0)
    found = log1p(big.then(a, near)) + big.then(LN_2, 0.0)
    return a.compare("lt", 2.0**-12).then(x, found.signed_like(x))


def acosh(x: Value) -> Value:
    """`log1p(t + sqrt(t**2 + 2 t))` of t = x - 1."""
    t = x - 1.0
    big = x.compare("gt", BIG)
    near = t + t.fma(t, t + t).function(math.SqrtOp)
    found = log1p(big.then(x, near)) + big.then(LN_2, 0.0)
    return x.compare("ge", 1.0).then(found, NAN)


def atanh(x: Value) -> Value:
    """`log1p(2 a / (1 - a)) / 2` of a = |x|."""
    a = abs(x)
    found = log1p((a + a) / (1.0 - a)) * 0.5
    return a.compare("lt", 2.0**-12).then(x, found.signed_like(x))
