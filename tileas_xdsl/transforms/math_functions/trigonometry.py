"""sin, cos and tan in f32: polynomials of what is left beside multiples of pi / 2."""

from __future__ import annotations

from collections.abc import Callable

from tileas_xdsl.transforms.math_functions import coefficients
from tileas_xdsl.transforms.math_functions.expression_builder import INFINITY, NAN, SIGN, Value
from tileas_xdsl.transforms.math_functions.range_reduction import reduced

TINY = 2.0**-12
"""Below it a sine and a tangent are the argument itself, in f32."""


def _sine(r: Value) -> Value:
    square = r * r
    return square.polynomial(coefficients.SIN).fma(square * r, r)


def _cosine(r: Value) -> Value:
    square = r * r
    return square.polynomial(coefficients.COS).fma(square, -0.5).fma(square, 1.0)


def _in_quadrant(r: Value, quadrant: Value) -> Value:
    """The sine of `r + quadrant * pi / 2`."""
    odd = (quadrant & 1).compare("ne", 0)
    found = odd.then(_cosine(r), _sine(r))
    return (found.bits() ^ ((quadrant << 30) & SIGN)).as_float()


def _of_finite(x: Value, result: Value) -> Value:
    return abs(x).compare("lt", INFINITY).then(result, NAN)


def sin(x: Value) -> Value:
    """The sine."""
    return _staged(x, _sin_of)


def cos(x: Value) -> Value:
    """The cosine: the sine of a quadrant more."""
    return _staged(x, _cos_of)


def tan(x: Value) -> Value:
    """The tangent: sine by cosine, or minus the inverse."""
    return _staged(x, _tan_of)


def _staged(x: Value, function: Callable[[Value, Value, Value], Value]) -> Value:
    (result,) = x.scope.stage(lambda *v: (function(*v),), x, *reduced(x))
    return result


def _sin_of(x: Value, r: Value, quadrant: Value) -> Value:
    found = _of_finite(x, _in_quadrant(r, quadrant))
    return abs(x).compare("lt", TINY).then(x, found)


def _cos_of(x: Value, r: Value, quadrant: Value) -> Value:
    return _of_finite(x, _in_quadrant(r, quadrant + 1))


def _tan_of(x: Value, r: Value, quadrant: Value) -> Value:
    sine, cosine = _sine(r), _cosine(r)
    odd = (quadrant & 1).compare("ne", 0)
    found = _of_finite(x, odd.then(cosine, sine) / odd.then(-sine, cosine))
    return abs(x).compare("lt", TINY).then(x, found)


OF_REDUCED = {"sin": _sin_of, "cos": _cos_of, "tan": _tan_of}
"""The functions of an argument and what is left of it."""
