"""Floats of `arith` and `math` on scalars and tiles: computed wide, then rounded to the type.

f64 is computed in f64, everything else in f32: for sums, products, quotients and square roots of
types of at most 11 significant bits, rounding the f32 result again gives the nearest value.  A
fused multiply-add is computed in f64.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import arith, math
from xdsl.ir import Attribute, Operation

from tileas_xdsl.dialects.nv_tileas.compute.float_modes import DIRECTED, FLUSH, float_mode
from tileas_xdsl.interpreters.tile.numerics.directed_rounding import (
    each_exactly,
    exact_fma,
    in_mode,
)
from tileas_xdsl.interpreters.tile.numerics.element_types import Array, cast, float_format, widened
from tileas_xdsl.interpreters.tile.numerics.integers import (
    Value,
    element_of_type,
    signed_of,
    width_of,
)

Compute: TypeAlias = Callable[..., Any]


def wide_of(value: Value, type_: Attribute) -> Array:
    """Return a float value in the type it is computed in."""
    known = float_format(element_of_type(type_))
    is_double = known is not None and known.dtype == np.float64
    array = np.asarray(value)
    return array.astype(np.float64, copy=False) if is_double else np.asarray(widened(array))


def _minnum(a: Array, b: Array) -> Array:
    """Return the minimum, a number rather than NaN; -0 is smaller than +0."""
    return _ordered_zeros(np.fmin(a, b), a, b, np.signbit(a) | np.signbit(b))


def _maxnum(a: Array, b: Array) -> Array:
    return _ordered_zeros(np.fmax(a, b), a, b, np.signbit(a) & np.signbit(b))


def _minimum(a: Array, b: Array) -> Array:
    """Return the minimum, NaN if either is NaN; -0 is smaller than +0."""
    return _ordered_zeros(np.minimum(a, b), a, b, np.signbit(a) | np.signbit(b))


def _maximum(a: Array, b: Array) -> Array:
    return _ordered_zeros(np.maximum(a, b), a, b, np.signbit(a) & np.signbit(b))


def _ordered_zeros(result: Array, a: Array, b: Array, negative: Array) -> Array:
    zeros = (a == 0) & (b == 0)
    return np.where(zeros, np.where(negative, -0.0, 0.0).astype(result.dtype), result)


def _round_half_away(a: Array) -> Array:
    """Round to the nearest integer, ties away from zero; `trunc(a + 0.5)` would round the sum."""
    whole = np.trunc(a)
    return np.where(np.abs(a - whole) >= 0.5, whole + np.copysign(1, a), whole).astype(a.dtype)


def _erf(a: Array) -> Array:
    import math as scalar

    return np.vectorize(scalar.erf, otypes=[np.float64])(a)


def _exp2(a: Array) -> Array:
    """Round once, as the emulator does: numpy's function of f32 is a unit off."""
    return np.exp2(a.astype(np.float64)).astype(a.dtype)


def _rsqrt(a: Array) -> Array:
    """Round once, as the emulator does."""
    return (1 / np.sqrt(a.astype(np.float64))).astype(a.dtype)


def _fma(a: Array, b: Array, c: Array) -> Array:
    """Return `a * b + c` as an f64 that is exact or rounded to odd.

    Source: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums".
    """
    if a.dtype != np.float64:
        return _sum_to_odd(a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64))
    product, rest = _exact_product(a, b)
    high, low = _exact_sum(c, rest)
    total, lost = _exact_sum(product, high)
    result = total + _sum_to_odd(low, lost)
    # An exact zero has the sign that the sum of both parts has.
    plain = np.where(np.isfinite(result) & (result != 0), result, a * b + c)
    # A product of finite numbers is finite, however large.
    finite = np.isfinite(a) & np.isfinite(b)
    plain = np.where(finite & np.isinf(c), c, plain)
    largest = np.maximum(np.abs(product), np.maximum(np.abs(a), np.abs(b)))
    edge = (np.abs(product) < _SMALLEST_PRODUCT) | (largest > 1 / _SMALLEST_PRODUCT)
    edge &= (a != 0) & (b != 0) & finite & np.isfinite(c)
    return each_exactly(exact_fma, plain, edge, a, b, c) if edge.any() else plain


_SMALLEST_PRODUCT = 2.0**-900
"""The magnitude above which, up to its inverse, the rounding error of a product is a double."""


def _exact_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the rounded sum and its rounding error (Knuth)."""
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


def _exact_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the rounded product and its rounding error (Dekker, Veltkamp)."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    lost = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, lost


def _halves(a: Array) -> tuple[Array, Array]:
    """Split an f64 into a sum of two 26-bit numbers."""
    scaled = a * 134217729.0
    high = scaled - (scaled - a)
    return high, a - high


def _sum_to_odd(a: Array, b: Array) -> Array:
    """Return the sum rounded to odd: a second rounding gives the correctly rounded sum."""
    total, lost = _exact_sum(a, b)
    is_even = (np.asarray(total).view(np.int64) & 1) == 0
    inexact = np.isfinite(total) & np.isfinite(lost) & (lost != 0) & is_even
    return np.where(inexact, np.nextafter(total, np.copysign(np.inf, lost)), total)


FLOAT_RULES: Mapping[type[Operation], Compute] = {
    arith.AddfOp: np.add,
    arith.SubfOp: np.subtract,
    arith.MulfOp: np.multiply,
    arith.DivfOp: np.divide,
    arith.NegfOp: np.negative,
    arith.MinimumfOp: _minimum,
    arith.MaximumfOp: _maximum,
    arith.MinnumfOp: _minnum,
    arith.MaxnumfOp: _maxnum,
    math.AbsFOp: np.abs,
    math.AcosOp: np.arccos,
    math.AcoshOp: np.arccosh,
    math.AsinOp: np.arcsin,
    math.AsinhOp: np.arcsinh,
    math.Atan2Op: np.arctan2,
    math.AtanOp: np.arctan,
    math.AtanhOp: np.arctanh,
    math.CbrtOp: np.cbrt,
    math.CeilOp: np.ceil,
    math.CopySignOp: np.copysign,
    math.CosOp: np.cos,
    math.CoshOp: np.cosh,
    math.ErfOp: _erf,
    math.Exp2Op: _exp2,
    math.ExpM1Op: np.expm1,
    math.ExpOp: np.exp,
    math.FloorOp: np.floor,
    math.FmaOp: _fma,
    math.Log10Op: np.log10,
    math.Log1pOp: np.log1p,
    math.Log2Op: np.log2,
    math.LogOp: np.log,
    math.PowFOp: np.power,
    math.RoundEvenOp: np.rint,
    math.RoundOp: _round_half_away,
    math.RsqrtOp: _rsqrt,
    math.SinOp: np.sin,
    math.SinhOp: np.sinh,
    math.SqrtOp: np.sqrt,
    math.TanOp: np.tan,
    math.TanhOp: np.tanh,
    math.TruncOp: np.trunc,
}
"""Operations whose operands and result have one float type."""


SIGNS = (arith.NegfOp, math.AbsFOp, math.CopySignOp)
"""Operations on sign bits: nothing is rounded, and infinity stays where a type has it."""


def has_mode(op: Operation) -> bool:
    """Return whether an operation has a mode that changes its result: a direction, ftz or sat."""
    mode = float_mode(op)
    return mode.sat or mode.rounding in DIRECTED or FLUSH in op.attributes


def float_op(op: Operation, operands: Sequence[Value]) -> Array:
    """Return the rounded result of an operation of `FLOAT_RULES`; specials follow IEEE 754."""
    type_ = op.results[0].type
    mode = float_mode(op)
    if type(op) in SIGNS:
        return np.asarray(FLOAT_RULES[type(op)](*operands), np.asarray(operands[0]).dtype)
    wide = [wide_of(operand, type_) for operand in operands]
    if not has_mode(op):
        with np.errstate(all="ignore"):
            result = FLOAT_RULES[type(op)](*wide)
        return np.asarray(cast(np.asarray(result), element_of_type(type_)))
    return in_mode(type(op), FLOAT_RULES[type(op)], mode, wide)


def float_power(op: Operation, operands: Sequence[Value]) -> Array:
    """`math.fpowi`: a float to the power of a signed integer."""
    type_ = op.results[0].type
    base = wide_of(operands[0], type_).astype(np.float64)
    with np.errstate(all="ignore"):
        power = signed_of(operands[1], width_of(op.operands[1].type) or 64)
        result = np.power(base, np.asarray(power).astype(np.float64))
    return np.asarray(cast(np.asarray(result), element_of_type(type_)))


_ORDERED: tuple[Compute, ...] = (
    operator.eq,
    operator.gt,
    operator.ge,
    operator.lt,
    operator.le,
    operator.ne,
)


def compare_floats(op: arith.CmpfOp, operands: Sequence[Value]) -> Array:
    """`arith.cmpf`: predicates 1 to 7 need both operands ordered, 8 to 14 hold for NaN too."""
    predicate = op.predicate.value.data
    a, b = (wide_of(operand, op.lhs.type) for operand in operands)
    unordered = np.isnan(a) | np.isnan(b)
    match predicate:
        case 0:
            return np.zeros_like(unordered)
        case 15:
            return np.ones_like(unordered)
        case 7:
            return ~unordered
        case 14:
            return unordered
        case _ if predicate < 7:
            return _ORDERED[predicate - 1](a, b) & ~unordered
        case _:
            return _ORDERED[predicate - 8](a, b) | unordered
