"""exp, expm1, sinh, cosh and tanh in f32.

The argument is cut into a multiple of log(2) and a rest (Cody and Waite, with fused multiply-adds);
a polynomial gives the exponential of the rest, and the multiple goes into the exponent.
"""

from __future__ import annotations

from xdsl.dialects import math
from xdsl.dialects.builtin import i32

from tileas_xdsl.transforms.math_functions import coefficients
from tileas_xdsl.transforms.math_functions.expression_builder import Value

LOG2_E = 1.4426950408889634
LN2_HIGH = 0.693145751953125
"""log(2) in 17 bits: its products with exponents are exact."""
LN2_LOW = 1.4286068203094173e-06

SMALLEST, LARGEST = -104.0, 89.5
"""Beyond them exp is zero and infinity."""


def _cut(x: Value) -> tuple[Value, Value]:
    """`(n, exp(r) - 1)` where `x = n * log(2) + r`."""
    n = (x * LOG2_E).function(math.RoundEvenOp)
    r = n.fma(-LN2_LOW, n.fma(-LN2_HIGH, x))
    return n, r.polynomial(coefficients.EXP).fma(r * r, r)


def power_of_two(exponent: Value) -> Value:
    """2 to the power of an i32 between -126 and 127."""
    return ((exponent + 127) << 23).as_float()


def scaled(x: Value, exponent: Value) -> Value:
    """`x` times 2 to the power of an i32, in two steps: each factor is a normal number."""
    half = exponent.halved()
    return x * power_of_two(half) * power_of_two(exponent - half)


def _exp(x: Value, shift: int = 0) -> Value:
    """exp(x) * 2**shift, for numbers that are not far beyond the limits."""
    n, rest = _cut(x)
    exponent = n.cast("fptosi", i32)
    return scaled(rest + 1.0, exponent + shift if shift else exponent)


def exp(x: Value) -> Value:
    """The exponential."""
    return _exp(x.at_least(SMALLEST).at_most(LARGEST))


def expm1(x: Value) -> Value:
    """`exp(x) - 1`: `2**n * p + (2**n - 1)`, in halves so that 2**128 is never needed."""
    n, p = _cut(x.at_least(-25.0).at_most(89.0))
    half = power_of_two(n.cast("fptosi", i32) - 1)
    result = p.fma(half, half - 0.5)
    near = n.compare("eq", 0.0)
    found = near.then(p, result + result)
    return abs(x).compare("lt", 2.0**-25).then(x, found)


def _half_exp(x: Value) -> Value:
    """`exp(|x|) / 2`."""
    return _exp(abs(x).at_most(90.0), -1)


def sinh(x: Value) -> Value:
    """A polynomial up to 1, then half the difference of exponentials."""
    half = _half_exp(x)
    large = half - 0.25 / half
    square = x * x
    small = square.polynomial(coefficients.SINH).fma(square * x, x)
    return abs(x).compare("lt", 1.0).then(small, large.signed_like(x))


def cosh(x: Value) -> Value:
    """Half the sum of exponentials."""
    half = _half_exp(x)
    return half + 0.25 / half


def tanh(x: Value) -> Value:
    """A polynomial up to 0.55, then `1 - 2 / (exp(2 |x|) + 1)`."""
    double = (abs(x) * 2.0).at_most(40.0)
    large = 1.0 - 2.0 / (_exp(double) + 1.0)
    square = x * x
    small = square.polynomial(coefficients.TANH).fma(square * x, x)
    return abs(x).compare("lt", 0.55).then(small, large).signed_like(x)
