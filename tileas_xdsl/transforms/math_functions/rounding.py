"""Expand round, for floats of any width, and copysign, for those without an instruction for it."""

from __future__ import annotations

from xdsl.dialects import math
from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import Attribute

from tileas_xdsl.transforms.math_functions.expression_builder import Value

BELOW_HALF = {32: 0.5 - 2.0**-25, 64: 0.5 - 2.0**-54}
"""The largest float below a half: what is added to it does not round up to an integer."""


def _bits_of(element: Attribute) -> int:
    assert isinstance(element, AnyFloat)
    return element.bitwidth


def copysign(x: Value, y: Value) -> Value:
    """`x` with the sign of `y`, by bits."""
    bits = _bits_of(x.element)
    sign, integers = -(1 << (bits - 1)), IntegerType(bits)
    a, b = (value.cast("bitcast", integers) for value in (x, y))
    return ((a & ~sign) | (b & sign)).cast("bitcast", x.element)


def round_half_away(x: Value) -> Value:
    """The nearest integer; a half goes away from zero."""
    below = x.scope.constant(BELOW_HALF[_bits_of(x.element)], x.element)
    return (x + below.signed_like(x)).function(math.TruncOp)
