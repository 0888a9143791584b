"""sin, cos and tan in f32: polynomials of what is left beside multiples of pi / 2."""

from __future__ import annotations

from collections.abc import Callable

from tileas_xdsl.transforms.math_functions import coefficients
from tileas_xdsl.transforms.math_functions.expression_builder import SIGN, Value
from tileas_xdsl.transforms.math_functions.f32.range_reduction import reduced


def _sine(r: Value) -> Value:
    """Minus zero stays: the cube of it is plus zero."""
    square = r * r
    return square.polynomial(coefficients.SIN).fma(square.fma(r, 0.0), r)


def _cosine(r: Value) -> Value:
    square = r * r
    return square.polynomial(coefficients.COS).fma(square, 1.0)


def _tangent(r: Value) -> Value:
    square = r * r
    return square.polynomial(coefficients.TAN).fma(square * r, r)


def _in_quadrant(r: Value, quadrant: Value) -> Value:
    """The sine of `r + quadrant * pi / 2`."""
    odd = (quadrant & 1).compare("ne", 0)
    found = odd.then(_cosine(r), _sine(r))
    return (found.bits() ^ ((quadrant << 30) & SIGN)).as_float()


def sin(x: Value) -> Value:
    """The sine."""
    return _staged(x, _in_quadrant)


def cos(x: Value) -> Value:
    """The cosine: the sine of a quadrant more."""
    return _staged(x, _cosine_of)


def tan(x: Value) -> Value:
    """The tangent, in odd quadrants minus the inverse."""
    return _staged(x, _tangent_of)


def _staged(x: Value, function: Callable[[Value, Value], Value]) -> Value:
    (result,) = x.scope.stage(lambda *v: (function(*v),), *reduced(x))
    return result


def _cosine_of(r: Value, quadrant: Value) -> Value:
    return _in_quadrant(r, quadrant + 1)


def _tangent_of(r: Value, quadrant: Value) -> Value:
    found = _tangent(r)
    return (quadrant & 1).compare("ne", 0).then((-found).reciprocal(), found)


OF_REDUCED = {"sin": _in_quadrant, "cos": _cosine_of, "tan": _tangent_of}
"""The functions of what is left of an argument and its quadrant."""
