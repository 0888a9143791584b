"""Arithmetic of f32 rounded to nearest even, by numpy's own operations on f32 and f64.

Results are those of `directed_rounding`, which covers every format and direction, at a tenth of its
cost.  A fused multiply-add is a double sum, since products of f32 are exact doubles, and rounded
again to f32.  Two roundings differ from one only where the double lies halfway between two
neighbours of f32, or has lost bits below the subnormal ones: only there the double is made odd.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tileas_xdsl.interpreters.ptx.numerics.directed_rounding import round_to_odd, two_sum
from tileas_xdsl.interpreters.ptx.numerics.float_formats import FORMATS, Array

MIN_NORMAL = np.float32(2.0**-126)
NAN = np.uint32(FORMATS["f32"].nan or 0).view(np.float32)

DROPPED_BITS = np.int64((1 << 29) - 1)
"""Of the mantissa of a double, those that f32 has no room for."""
HALFWAY = np.int64(1 << 28)


def single_operation(native: Callable[..., Any], *, ftz: bool) -> Callable[..., Array]:
    """Return an operation on bit patterns of f32, from a function on arrays of f32."""

    def function(*bits: Array) -> Array:
        values = [b.view(np.float32) for b in bits]
        if ftz:
            values = [flush_single(v) for v in values]
        found = native(*values)
        if ftz:
            found = flush_single(found)
        is_nan = found != found
        return np.where(is_nan, NAN, found) if is_nan.any() else found

    return function


def flush_single(values: Array) -> Array:
    """Replace subnormal numbers by zeros of their sign."""
    small = np.abs(values) < MIN_NORMAL
    return np.where(small, np.copysign(np.float32(0), values), values) if small.any() else values


def fused_single(a: Array, b: Array, c: Array) -> Array:
    """Return `a * b + c` of f32, rounded once."""
    product = a.astype(np.float64) * b
    total = product + c
    halfway = (total.view(np.int64) & DROPPED_BITS) == HALFWAY
    if (halfway | (np.abs(total) < MIN_NORMAL)).any():
        total = round_to_odd(*two_sum(product, c.astype(np.float64)))
    return total.astype(np.float32)
