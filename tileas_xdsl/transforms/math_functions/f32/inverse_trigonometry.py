"""Expand asin, acos, atan and atan2 in f32."""

from __future__ import annotations

from xdsl.dialects import arith, math
from xdsl.dialects.arith import FastMathFlagsAttr

from tileas_xdsl.transforms.math_functions import coefficients
from tileas_xdsl.transforms.math_functions.coefficients import Polynomial
from tileas_xdsl.transforms.math_functions.expression_builder import INFINITY, Value, complement

HALF_PI = (1.5707963705062866, -4.371138828673793e-08)
PI = (3.1415927410125732, -8.742277657347586e-08)
"""As the sum of two f32."""


def _odd(x: Value, square: Value, polynomial: Polynomial) -> Value:
    """`x + x**3 * polynomial(x**2)`."""
    return square.polynomial(polynomial).fma(square * x, x)


def _cut(x: Value) -> tuple[Value, Value]:
    """Whether |x| <= 1/2, and asin of |x| or of sqrt((1 - |x|) / 2), which is half of acos(|x|)."""
    a = abs(x)
    near = a.compare("le", 0.5)
    square = near.then(a * a, (1.0 - a) * 0.5)
    y = near.then(a, square.function(math.SqrtOp))
    return near, _odd(y, square, coefficients.ASIN)


def asin(x: Value) -> Value:
    """`pi / 2 - 2 asin(sqrt((1 - a) / 2))` beyond 1/2."""
    near, y = _cut(x)
    high, low = HALF_PI
    far = y.fma(-2.0, high) + low
    return near.then(y, far).signed_like(x)


def acos(x: Value) -> Value:
    """`pi / 2 - asin(x)` up to 1/2, else twice the half, or pi minus that."""
    near, y = _cut(x)
    high, low = HALF_PI
    inside = high - (y.signed_like(x) - low)
    high, low = PI
    twice = y + y
    outside = x.compare("lt", 0.0).then(high - (twice - low), twice)
    return near.then(inside, outside)


def _atan_of_ratio(small: Value, large: Value) -> Value:
    """atan(small / large), neither negative, small <= large."""
    ratio = small / large
    zero = large.compare("eq", 0.0).then(0.0, ratio)
    t = small.compare("eq", INFINITY).then(1.0, zero)
    return _odd(t, t * t, coefficients.ATAN)


def atan(x: Value) -> Value:
    """`pi / 2 - atan(1 / a)` beyond 1."""
    a = abs(x)
    far = a.compare("gt", 1.0)
    y = far.then(1.0 / a, a)
    found = _odd(y, y * y, coefficients.ATAN)
    return complement(far, found, HALF_PI).signed_like(x)


def atan2(y: Value, x: Value) -> Value:
    """The angle of the point (x, y); signs of zeros count."""
    ay, ax = abs(y), abs(x)
    none = {"fastmath": FastMathFlagsAttr("none")}
    large = y.scope.make(arith.MaximumfOp, [ay, ax], y.element, **none)
    small = y.scope.make(arith.MinimumfOp, [ay, ax], y.element, **none)
    found = complement(ay.compare("gt", ax), _atan_of_ratio(small, large), HALF_PI)
    negative = x.bits().compare("lt", 0)
    return complement(negative, found, PI).signed_like(y)
