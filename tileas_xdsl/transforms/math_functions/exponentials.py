"""exp, expm1, sinh, cosh and tanh in f32.

The argument is cut into a multiple of log(2) and a rest (Cody and Waite, with fused multiply-adds);
a polynomial gives the exponential of the rest, and the multiple goes into the exponent.  sinh, cosh
and tanh take exponentials and inverses from the instructions, with the cuts and coefficients of
CUDA's library: their results are its, bit for bit.
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
LN2, LN2_REST = 0.6931471824645996, -1.904654212125934e-09
"""log(2) as the sum of two f32."""
LAST_BITS_OF_QUARTER = 1.5 * 2.0**23 + 125
"""Its sum with n has the exponent of `2**n / 4` in its last bits."""
ONE_FROM = 9.010913848876953
"""Where the hyperbolic tangent rounds to 1."""

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


def exp(x: Value) -> Value:
    """The exponential."""
    n, rest = _cut(x.at_least(SMALLEST).at_most(LARGEST))
    return scaled(rest + 1.0, n.cast("fptosi", i32))


def expm1(x: Value) -> Value:
    """`exp(x) - 1`: `2**n * p + (2**n - 1)`, in halves so that 2**128 is never needed."""
    n, p = _cut(x.at_least(-25.0).at_most(89.0))
    half = power_of_two(n.cast("fptosi", i32) - 1)
    result = p.fma(half, half - 0.5)
    near = n.compare("eq", 0.0)
    found = near.then(p, result + result)
    return abs(x).compare("lt", 2.0**-25).then(x, found)


def _quarter_exp(x: Value) -> Value:
    """`exp(|x|) / 4`, infinity where `exp(|x|) / 2` is.

    The multiple of log(2) is rounded towards zero, and its power ends at 2**126, so that the
    power of the rest is the one that becomes infinite.
    """
    a = abs(x)
    n = (a * LOG2_E).function(math.TruncOp).at_most(126.0)
    rest = n.fma(-LN2_REST, n.fma(-LN2, a))
    return (rest * LOG2_E).exp2() * ((n + LAST_BITS_OF_QUARTER).bits() << 23).as_float()


def sinh(x: Value) -> Value:
    """A polynomial up to 1, then half the difference of exponentials."""
    quarter = _quarter_exp(x)
    large = quarter.fma(2.0, quarter.reciprocal() * -0.125)
    square = x * x
    small = x.fma(square * square.polynomial(coefficients.SINH), x)
    return abs(x).compare("ge", 1.0).then(large.signed_like(x), small)


def cosh(x: Value) -> Value:
    """Half the sum of exponentials."""
    quarter = _quarter_exp(x)
    return quarter.fma(2.0, quarter.reciprocal() * 0.125)


def tanh(x: Value) -> Value:
    """A polynomial up to 0.6, then `1 - 2 / (exp(2 |x|) + 1)`, which is 1 from 9.01 on."""
    a = abs(x)
    inverse = ((a * (2 * LOG2_E)).exp2() + 1.0).reciprocal()
    large = a.compare("ge", ONE_FROM).then(1.0, inverse.fma(-2.0, 1.0))
    square = x * x
    small = x.fma(square.polynomial(coefficients.TANH).fma(square, 0.0), x)
    return a.compare("ge", 0.6).then(large.signed_like(x), small)
