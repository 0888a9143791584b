"""powf, fpowi and atan2 in f64.

The logarithm to base 2 is the sum of two f64, so that its product with an exponent of 1024 still
has the bits of a power: a Taylor series of atanh((m - 1) / (m + 1)), whose first terms are sums of
two f64.  The arc tangent is that of FreeBSD's msun (s_atan.c).
"""

from __future__ import annotations

from xdsl.dialects import arith, math
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import i32, i64

from tileas_xdsl.transforms.math_functions.coefficients import Polynomial
from tileas_xdsl.transforms.math_functions.expression_builder import (
    INFINITY,
    Value,
    complement,
    renormalized,
)
from tileas_xdsl.transforms.math_functions.f32.powers import magnitude, power_of
from tileas_xdsl.transforms.math_functions.f64.exponentials import (
    EXP,
    LN2,
    LN2_REST,
    LOG2_E,
    exponent_of,
    scaled,
    signed_like,
)

LOG2_E_REST = 2.0355273740931033e-17
THIRD, THIRD_REST = 1 / 3, 1.850371707708594e-17
"""1/3 as the sum of two f64."""
LARGEST_POWER = 1100.0
"""2 to the power of more is infinity, to that of less zero."""

SERIES = Polynomial(
    low=0,
    high=0.0295,
    error=1e-20,
    coefficients=tuple(1 / k for k in range(5, 31, 2)),
)
"""(atanh(s) / s - 1 - z / 3) / z**2 of z = s**2."""

EVEN = Polynomial(
    low=0,
    high=0.04,
    error=1e-17,
    coefficients=(
        3.33333333333329318027e-01,
        1.42857142725034663711e-01,
        9.09088713343650656196e-02,
        6.66107313738753120669e-02,
        4.97687799461593236017e-02,
        1.62858201153657823623e-02,
    ),
)
ODD = Polynomial(
    low=0,
    high=0.04,
    error=1e-17,
    coefficients=(
        -1.99999999998764832476e-01,
        -1.11111104054623557880e-01,
        -7.69187620504482999495e-02,
        -5.83357013379057348645e-02,
        -3.65315727442169155270e-02,
    ),
)
"""(x - atan(x)) / x of x**2, the even and the odd powers of it."""
HALVES = ((4.63647609000806093515e-01, 2.26987774529616870924e-17),
          (7.85398163397448278999e-01, 3.06161699786838301793e-17))  # fmt: skip
"""atan(1/2) and atan(1) as sums of two f64."""
HALF_PI = (1.5707963267948966, 6.123233995736766e-17)
PI = (3.141592653589793, 1.2246467991473532e-16)

Pair = tuple[Value, Value]
"""The sum of two f64, the second one small."""


def _product(a: Pair, b: Pair) -> Pair:
    high = a[0] * b[0]
    low = a[0].fma(b[0], -high) + (a[0] * b[1] + a[1] * b[0])
    return renormalized(high, low)


def _plus(number: Value, pair: Pair) -> Pair:
    """A number plus a pair that is not larger."""
    high, lost = renormalized(number, pair[0])
    return renormalized(high, lost + pair[1])


def _log2(a: Value) -> Pair:
    """log2 of a positive number."""
    scope = a.scope
    k, f = exponent_of(a)
    whole, lost = renormalized(scope.constant(2.0, a.element), f)
    ratio = f / whole
    s = ratio, (ratio.fma(-whole, f) - ratio * lost) / whole
    z = _product(s, s)
    inner = z[0].polynomial(SERIES)
    product = z[0] * inner
    rest = z[0].fma(inner, -product) + z[1] * inner + THIRD_REST
    third = _plus(scope.constant(THIRD, a.element), (product, rest))
    series = _plus(scope.constant(1.0, a.element), _product(z, third))
    factor = scope.constant(2 * LOG2_E, a.element), scope.constant(2 * LOG2_E_REST, a.element)
    part = _product(_product(s, series), factor)
    total = _plus(k, part)
    is_part = k.compare("eq", 0.0)
    return is_part.then(part[0], total[0]), is_part.then(part[1], total[1])


def powf(x: Value, y: Value) -> Value:
    """`x**y`."""
    a = abs(x)
    high, low = _log2(a)
    product = y * high
    rest = y.fma(high, -product) + y * low
    inside = product.at_least(-LARGEST_POWER).at_most(LARGEST_POWER)
    rest = inside.compare("eq", product).then(rest, 0.0, x.element)
    n = inside.function(math.RoundEvenOp)
    f = inside - n
    r = f * LN2
    r, lost = renormalized(r, f.fma(LN2, -r) + f * LN2_REST + rest * LN2)
    found = scaled((r + r.polynomial(EXP).fma(r * r, lost)) + 1.0, n.cast("fptosi", i32))
    return power_of(x, y, magnitude(a, y, found))


def fpowi(x: Value, n: Value) -> Value:
    """`x**n` with an i32, which f64 has exactly."""
    return powf(x, n.cast("sitofp", x.element))


def _atan_of_ratio(small: Value, large: Value) -> Value:
    """atan(small / large), neither negative, small <= large."""
    huge = large.compare("gt", 2.0**1000)
    factor = huge.then(2.0**-4, 1.0, large.element)
    a, b = small * factor, large * factor
    near, half = (a / b).compare("lt", 0.4375), (a / b).compare("lt", 0.6875)
    top = near.then(a, half.then(a + a - b, a - b))
    bottom = near.then(b, half.then(b + b + a, a + b))
    x = top / bottom
    square = x * x
    fourth = square * square
    curve = square * fourth.polynomial(EVEN) + fourth * fourth.polynomial(ODD)
    (middle, middle_rest), (one, one_rest) = HALVES
    whole = half.then(middle, one, x.element)
    rest = half.then(middle_rest, one_rest, x.element)
    found = near.then(x - x * curve, whole - ((x * curve - rest) - x))
    found = large.compare("eq", 0.0).then(0.0, found, x.element)
    return small.compare("eq", INFINITY).then(one, found, x.element)


def atan2(y: Value, x: Value) -> Value:
    """The angle of the point (x, y); signs of zeros count."""
    ay, ax = abs(y), abs(x)
    exact = {"fastmath": FastMathFlagsAttr("none")}
    large = y.scope.make(arith.MaximumfOp, [ay, ax], y.element, **exact)
    small = y.scope.make(arith.MinimumfOp, [ay, ax], y.element, **exact)
    found = complement(ay.compare("gt", ax), _atan_of_ratio(small, large), HALF_PI)
    negative = x.cast("bitcast", i64).compare("lt", 0)
    return signed_like(complement(negative, found, PI), y)
