"""Directed rounding, flushing and saturation of floats, exact.

Operands are floats, so that sums, products and quotients are fractions; a square root is compared
with a number by squares.  A conversion goes to the nearest number and from there to a neighbour.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from xdsl.dialects import arith, math
from xdsl.ir import Operation

from tileas_xdsl.dialects.nv_tileas.compute.float_modes import AWAY, DIRECTED, FloatMode
from tileas_xdsl.interpreters.tile.numerics.element_types import (
    TF32_DROPPED_BITS,
    Array,
    FloatFormat,
    to_float,
)

Exact: TypeAlias = Callable[..., Fraction]


def exact_fma(a: Fraction, b: Fraction, c: Fraction) -> Fraction:
    """Return `a * b + c` as a fraction."""
    return a * b + c


EXACT: Mapping[type[Operation], Exact] = {
    arith.AddfOp: Fraction.__add__,
    arith.SubfOp: Fraction.__sub__,
    arith.MulfOp: Fraction.__mul__,
    arith.DivfOp: Fraction.__truediv__,
    math.FmaOp: exact_fma,
}

SMALLEST_NORMAL = 2.0**-126
"""The smallest normal f32; smaller magnitudes are flushed to zero."""


def each_exactly(exact: Exact, plain: Array, where: Array, *operands: Array) -> Array:
    """Return `plain` with the correctly rounded exact result where the mask holds."""
    result = np.array(plain)
    spread = np.broadcast_arrays(plain, where, *operands)
    for index in zip(*np.nonzero(np.atleast_1d(spread[1])), strict=True):
        at = index if result.ndim else ()
        result[at] = _nearest(exact(*(Fraction(float(v[at])) for v in spread[2:])), result[at])
    return result


def _nearest(exact: Fraction, zero: Any) -> float:
    """Return the nearest f64; an exact zero has the sign of `zero`."""
    if exact == 0:
        return float(zero)
    try:
        return float(exact)
    except OverflowError:
        return np.inf if exact > 0 else -np.inf


def rounded_to(values: Array, target: FloatFormat, rounding: str) -> Array:
    """Convert floats to another format by any rounding of `nv_tileas.rounding`."""
    exact = values.astype(np.float64)
    if target.is_scale:
        return _to_scale(exact, rounding)
    nearest = to_float(values, target)
    with np.errstate(invalid="ignore", over="ignore"):
        size, found = np.abs(exact), np.abs(nearest.astype(np.float64))
        above = np.abs(_neighbour(nearest, target, 1).astype(np.float64))
        is_tie = (found < size) & (size - found == above - size)
    if rounding == AWAY:
        return _neighbour(nearest, target, np.where(is_tie, 1, 0))
    if rounding not in DIRECTED:
        return nearest
    up = np.signbit(exact) == (rounding == "rm") if rounding != "rz" else np.bool_(False)
    steps = np.where(up & (found < size), 1, np.where(~up & (found > size), -1, 0))
    return _neighbour(nearest, target, steps)


def _neighbour(values: Array, format_: FloatFormat, steps: Array | int) -> Array:
    """Return the numbers of a format some steps away from zero: sign and magnitude count up."""
    bits = np.dtype(f"int{8 * values.dtype.itemsize}")
    last = 1 << TF32_DROPPED_BITS if format_.is_tf32 else 1
    return (values.view(bits) + np.asarray(steps * last).astype(bits)).view(values.dtype)


def _to_scale(exact: Array, rounding: str) -> Array:
    """Round magnitudes to powers of two, up (`rp`) or down; the largest one is 2**127, NaN 255."""
    fraction, exponent = np.frexp(np.abs(exact))
    power = exponent - 1 + ((fraction > 0.5) & (rounding == "rp"))
    code = np.where(exact == 0, 0, np.clip(power + 127, 0, 254))
    code = np.where(np.isinf(exact), 254, np.where(np.isnan(exact), 255, code))
    return code.astype(np.uint8).view(ml_dtypes.float8_e8m0fnu)


def in_mode(
    kind: type[Operation], nearest: Callable[..., Any], mode: FloatMode, operands: list[Array]
) -> Array:
    """Return the result of an operation on f32 or f64 under its rounding and flush mode."""
    if mode.ftz:
        operands = [_flushed(operand) for operand in operands]
    with np.errstate(all="ignore"):
        found = np.asarray(nearest(*operands)).astype(operands[0].dtype)
        if mode.rounding in DIRECTED:
            found = _directed(kind, mode.rounding, found, operands)
        if mode.sat:
            found = np.where(found > 0, np.minimum(found, 1), 0).astype(found.dtype)
    return _flushed(found) if mode.ftz else found


def _flushed(values: Array) -> Array:
    """Flush subnormal numbers to sign-preserving zero."""
    small = np.abs(values) < SMALLEST_NORMAL
    return np.where(small, np.copysign(0, values), values).astype(values.dtype)


def _directed(kind: type[Operation], rounding: str, nearest: Array, operands: list[Array]) -> Array:
    """Return the neighbour of the nearest number on the required side of the exact result."""
    result = np.array(nearest, order="C")
    arrays = np.broadcast_arrays(result, *operands)
    flat = [array.reshape(-1) for array in arrays[1:]]
    out = result.reshape(-1)
    for index in range(out.size):
        values = [float(array[index]) for array in flat]
        if all(map(np.isfinite, values)):
            out[index] = _moved(kind, rounding, out[index], values)
    return result


def _moved(kind: type[Operation], rounding: str, nearest: Any, values: list[float]) -> Any:
    if np.isnan(nearest) or (kind is arith.DivfOp and values[1] == 0):
        return nearest
    above = _is_above(kind, float(nearest), [Fraction(value) for value in values])
    if above is None:
        return _zero(kind, rounding, nearest, values)
    down = rounding == "rm" or (rounding == "rz" and not np.signbit(nearest))
    if above is down:
        return np.nextafter(nearest, type(nearest)(-np.inf if down else np.inf))
    return nearest


def _is_above(kind: type[Operation], nearest: float, values: list[Fraction]) -> bool | None:
    """Return whether a number is above the exact result; None if it is equal."""
    if np.isinf(nearest):
        return nearest > 0
    if kind is math.SqrtOp:
        difference = Fraction(nearest) ** 2 - values[0]
    else:
        difference = Fraction(nearest) - EXACT[kind](*values)
    return None if difference == 0 else difference > 0


def _zero(kind: type[Operation], rounding: str, nearest: Any, values: list[float]) -> Any:
    """Fix zero sums under rounding down: -0 unless both addends are +0."""
    if rounding != "rm" or nearest != 0 or kind not in (arith.AddfOp, arith.SubfOp, math.FmaOp):
        return nearest
    negative = type(nearest)(-0.0)
    parts = _parts(kind, values)
    both_positive = not any(np.signbit(part) for part in parts)
    return nearest if both_positive and parts[0] == 0 else negative


def _parts(kind: type[Operation], values: list[float]) -> tuple[float, float]:
    """Return the addends of a sum."""
    if kind is math.FmaOp:
        return values[0] * values[1], values[2]
    return values[0], -values[1] if kind is arith.SubfOp else values[1]
