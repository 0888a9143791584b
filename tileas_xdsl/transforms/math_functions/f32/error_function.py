"""erf in f32."""

from __future__ import annotations

from tileas_xdsl.transforms.math_functions import coefficients
from tileas_xdsl.transforms.math_functions.expression_builder import Value
from tileas_xdsl.transforms.math_functions.f32.exponentials import exp

SPLIT = 0.92
"""From here on erf is 1 - exp(-p), p a polynomial."""

SATURATED = 4.0
"""From here on erf is 1 in f32."""


def erf(x: Value) -> Value:
    """A polynomial around zero, an exponential of one beside it."""
    a = abs(x).at_most(SATURATED)
    square = x * x
    small = square.polynomial(coefficients.ERF).fma(x, x)
    large = 1.0 - exp(-a.polynomial(coefficients.ERFC))
    return a.compare("lt", SPLIT).then(small, large.signed_like(x))
