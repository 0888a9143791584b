"""exp, exp2, sinh, cosh, tanh, log, log2 and log10 in f64.

As in f32: multiples of log(2) are cut off, and a polynomial does the rest.  That of the logarithm,
and its sums of two parts, are those of FreeBSD's msun (e_log.c, e_log2.c, e_log10.c).
"""

from __future__ import annotations

import math as numbers
from fractions import Fraction

from xdsl.dialects import math
from xdsl.dialects.builtin import f64, i32, i64

from tileas_xdsl.transforms.math_functions.coefficients import Polynomial
from tileas_xdsl.transforms.math_functions.expression_builder import INFINITY, NAN, Value

LOG2_E = 1.4426950408889634
LN2, LN2_REST = 0.6931471805599453, 2.3190468138462996e-17
"""log(2) as the sum of two f64."""
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""The same; products of the first one with exponents are exact."""
SMALLEST, LARGEST = -746.0, 710.0
"""Beyond them exp is zero and infinity."""

EXP = Polynomial(
    low=-0.3475,
    high=0.3475,
    error=1.1e-19,
    coefficients=tuple(1 / numbers.factorial(k) for k in range(2, 15)),
)
"""(exp(r) - 1 - r) / r**2, beside exp(r): a Taylor polynomial."""

LOG = Polynomial(
    low=0,
    high=0.0295,
    error=1.7e-18,
    coefficients=(
        6.666666666666735130e-01,
        3.999999999940941908e-01,
        2.857142874366239149e-01,
        2.222219843214978396e-01,
        1.818357216161805012e-01,
        1.531383769920937332e-01,
        1.479819860511658591e-01,
    ),
)
"""(log((1 + s) / (1 - s)) - 2 s) / s**3 of s**2."""


def _of_tanh(count: int) -> tuple[float, ...]:
    """Coefficients of x**3, x**5 and so on, by tanh' = 1 - tanh**2."""
    series = [Fraction(0), Fraction(1)]
    for n in range(1, 2 * count + 1):
        square = sum(series[i] * series[n - i] for i in range(n + 1))
        series.append(Fraction(-square, n + 1))
    return tuple(float(term) for term in series[3::2])


TANH = Polynomial(low=0, high=0.3025, error=1e-17, coefficients=_of_tanh(19))
"""(tanh(x) - x) / x**3 of x**2: a Taylor polynomial."""

SINH = Polynomial(
    low=0,
    high=1,
    error=1e-19,
    coefficients=tuple(1 / numbers.factorial(k) for k in range(3, 22, 2)),
)
"""(sinh(x) - x) / x**3 of x**2: a Taylor polynomial."""

_FRACTION = 52
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
_EXPONENT = -(1 << _FRACTION)
_UPPER_HALF = -(1 << 32)


def scaled(x: Value, exponent: Value) -> Value:
    """`x` times 2 to the power of an i32, in two steps: each factor is a normal number."""
    half = exponent.halved()
    return x * _power_of_two(half) * _power_of_two(exponent - half)


def _power_of_two(exponent: Value) -> Value:
    return ((exponent + 1023).cast("extui", i64) << _FRACTION).cast("bitcast", f64)


def _cut(x: Value) -> tuple[Value, Value]:
    """`(n, exp(r) - 1)` where `x = n * log(2) + r`."""
    n = (x * LOG2_E).function(math.RoundEvenOp)
    r = n.fma(-LN2_LOW, n.fma(-LN2_HIGH, x))
    return n, r.polynomial(EXP).fma(r * r, r)


def exp(x: Value) -> Value:
    """The exponential."""
    n, rest = _cut(x.at_least(SMALLEST).at_most(LARGEST))
    return scaled(rest + 1.0, n.cast("fptosi", i32))


def exp2(x: Value) -> Value:
    """2 to a power: what is behind the point times log(2), as the sum of two numbers."""
    inside = x.at_least(-1080.0).at_most(1025.0)
    n = inside.function(math.RoundEvenOp)
    f = inside - n
    r = f * LN2
    lost = f.fma(LN2, -r) + f * LN2_REST
    rest = r + r.polynomial(EXP).fma(r * r, lost)
    return scaled(rest + 1.0, n.cast("fptosi", i32))


def tanh(x: Value) -> Value:
    """A polynomial up to 0.55, then `1 - 2 / (exp(2 |x|) + 1)`."""
    large = 1.0 - 2.0 / (exp((abs(x) * 2.0).at_most(45.0)) + 1.0)
    square = x * x
    small = square.polynomial(TANH).fma(square * x, x)
    return signed_like(abs(x).compare("lt", 0.55).then(small, large), x)


def _half_exp(a: Value) -> Value:
    """Half of the exponential of a number that is not negative; it overflows as cosh does."""
    n, rest = _cut(a.at_most(711.0))
    return scaled(rest + 1.0, n.cast("fptosi", i32) - 1)


def cosh(x: Value) -> Value:
    """`e + 1 / (4 e)` of half an exponential."""
    e = _half_exp(abs(x))
    return e + 0.25 / e


def sinh(x: Value) -> Value:
    """A polynomial up to 1, then `e - 1 / (4 e)` of half an exponential."""
    e = _half_exp(abs(x))
    square = x * x
    small = square.polynomial(SINH).fma(square * x, x)
    return signed_like(abs(x).compare("lt", 1.0).then(small, e - 0.25 / e), x)


def signed_like(x: Value, other: Value) -> Value:
    """Return `x` with the sign of `other` (copysign)."""
    sign = -(1 << 63)
    bits = (x.cast("bitcast", i64) & ~sign) | (other.cast("bitcast", i64) & sign)
    return bits.cast("bitcast", f64)


def exponent_of(x: Value) -> tuple[Value, Value]:
    """`(k, f)` with `x = 2**k * (1 + f)`, 1 + f between the square roots of 1/2 and 2."""
    small = x.compare("lt", 2.0**-1022)
    bits = small.then(x * 2.0**54, x).cast("bitcast", i64)
    shift = (bits - _SQRT_HALF_BITS) & _EXPONENT
    k = shift.cast("sitofp", f64).fma(2.0**-_FRACTION, small.then(-54.0, 0.0, f64))
    return k, (bits - shift).cast("bitcast", f64) - 1.0


def _rest(f: Value, half_square: Value) -> Value:
    """`log(1 + f) - f + f**2 / 2`."""
    s = f / (f + 2.0)
    z = s * s
    return s * (half_square + z * z.polynomial(LOG))


def _of_positive(x: Value, result: Value) -> Value:
    """Zero has the logarithm minus infinity, infinity itself, negative numbers and NaN none."""
    positive = x.compare("gt", 0.0)
    plain = positive.then(x.compare("lt", INFINITY).then(result, x), NAN, f64)
    return x.compare("eq", 0.0).then(x.scope.constant(-INFINITY, f64), plain)


def log(x: Value) -> Value:
    """The natural logarithm."""
    k, f = exponent_of(x)
    half = f * f * 0.5
    low = k.fma(LN2_LOW, _rest(f, half))
    return _of_positive(x, k * LN2_HIGH - ((half - low) - f))


def log2(x: Value) -> Value:
    """The logarithm to base 2."""
    k, f = exponent_of(x)
    high, low = _based(f, 1.44269504072144627571e00, 1.67517131648865118353e-10)
    return _of_positive(x, _sum(k, high, low))


def log10(x: Value) -> Value:
    """The logarithm to base 10."""
    k, f = exponent_of(x)
    high, low = _based(f, 4.34294481878168880939e-01, 2.50829467116452752298e-11)
    whole, rest = k * 3.01029995663611771306e-01, k * 3.69423907715893078616e-13
    return _of_positive(x, _sum(whole, high, low + rest))


def _based(f: Value, factor: float, factor_low: float) -> tuple[Value, Value]:
    """log(1 + f) times a factor of two parts, as two parts."""
    half = f * f * 0.5
    high = ((f - half).cast("bitcast", i64) & _UPPER_HALF).cast("bitcast", f64)
    low = (f - high) - half + _rest(f, half)
    return high * factor, (low + high) * factor_low + low * factor


def _sum(a: Value, b: Value, low: Value) -> Value:
    """`a + b + low` with |a| > |b|, or a of zero."""
    total = a + b
    return total + (low + ((a - total) + b))
