"""Arithmetic of integers, element by element; it wraps around."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from tileas_xdsl.dialects.cuda_tile.enums import IntegerOverflow, RoundingMode, Signedness
from tileas_xdsl.dialects.cuda_tile.tiles import integers
from tileas_xdsl.interpreters.cuda_tile.numerics.elements import Array, width_of
from tileas_xdsl.interpreters.cuda_tile.numerics.integers import (
    Combine,
    ceiled_quotient,
    check_divisor,
    check_range,
    combined,
    high_product,
    read,
    truncated_quotient,
    wrap,
)
from tileas_xdsl.interpreters.cuda_tile.semantics.floats import RELATIONS
from tileas_xdsl.interpreters.cuda_tile.semantics.registry import Elementwise


def _overflow(op: Any) -> IntegerOverflow:
    return op.overflow.data


def _read(op: Any, *operands: Array) -> list[Array]:
    """Operands as the operation reads them."""
    width = width_of(op.operands[0].type)
    return [read(values, width, op.signedness.data) for values in operands]


def _wrapping(function: Combine) -> Elementwise:
    def compute(op: Any, lhs: Array, rhs: Array) -> Array:
        return combined(function, lhs, rhs, width_of(op.result.type), _overflow(op))

    return compute


def _of_bits(function: Combine) -> Elementwise:
    def compute(_op: Any, lhs: Array, rhs: Array) -> Array:
        return np.asarray(function(lhs, rhs))

    return compute


def _chosen(function: Combine) -> Elementwise:
    """The smaller or the larger one."""

    def compute(op: Any, lhs: Array, rhs: Array) -> Array:
        a, b = _read(op, lhs, rhs)
        return np.where(function(a, b), lhs, rhs)

    return compute


def _shift(values: Any, count: Any) -> Any:
    return values << count


def _shifted_left(op: integers.WrappingOp, lhs: Array, rhs: Array) -> Array:
    """All bits are gone where there are no more of them."""
    width = width_of(op.result.type)
    count = read(rhs, width, Signedness.UNSIGNED)
    some = np.where(count < width, count, 0).astype(rhs.dtype)
    found = combined(_shift, lhs, some, width, _overflow(op))
    return np.where(count < width, found, np.zeros_like(found))


def _shifted_right(op: integers.SignedOp, lhs: Array, rhs: Array) -> Array:
    """Signs come in, or zeros: only those where there are no more bits."""
    width = width_of(op.result.type)
    (values,) = _read(op, lhs)
    count = read(rhs, width, Signedness.UNSIGNED)
    shifted_out = np.minimum(count, width - 1).astype(values.dtype)
    found = wrap((values >> shifted_out).view(np.int64), width)
    if op.signedness.data is Signedness.SIGNED:
        return found
    return np.where(count < width, found, np.zeros_like(found))


def _quotient(op: integers.DivIOp, lhs: Array, rhs: Array) -> Array:
    width = width_of(op.result.type)
    a, b = _read(op, lhs, rhs)
    check_divisor(a, b, width, op.signedness.data)
    mode = op.rounding.data
    if mode is RoundingMode.POSITIVE_INF:
        found = ceiled_quotient(a, b)
    else:
        found = a // b if mode is RoundingMode.NEGATIVE_INF else truncated_quotient(a, b)
    return wrap(found.view(np.int64), width)


def _remainder(op: integers.RemIOp, lhs: Array, rhs: Array) -> Array:
    """It has the sign of the dividend, as that of C; of the least number by -1 it is 0."""
    width = width_of(op.result.type)
    a, b = _read(op, lhs, rhs)
    check_divisor(a, b, width, Signedness.UNSIGNED)
    return wrap(np.fmod(a, b).view(np.int64), width)


def _high(op: integers.MulhiIOp, x: Array, y: Array) -> Array:
    return high_product(x, y, width_of(op.result.type))


def _magnitude(op: integers.AbsIOp, values: Array) -> Array:
    width = width_of(op.result.type)
    with np.errstate(over="ignore"):
        return wrap(np.abs(read(values, width, Signedness.SIGNED)), width)


def _negated(op: integers.NegIOp, values: Array) -> Array:
    width = width_of(op.result.type)
    signed = read(values, width, Signedness.SIGNED)
    if _overflow(op) is not IntegerOverflow.NONE:
        check_range(-signed.astype(object), width, Signedness.SIGNED, _overflow(op).value)
    with np.errstate(over="ignore"):
        return wrap(-signed, width)


def _compared(op: integers.CmpIOp, lhs: Array, rhs: Array) -> Array:
    a, b = _read(op, lhs, rhs)
    return np.asarray(RELATIONS[op.comparison_predicate.data](a, b))


INTEGERS: Mapping[type[Any], Elementwise] = {
    integers.AddIOp: _wrapping(operator.add),
    integers.SubIOp: _wrapping(operator.sub),
    integers.MulIOp: _wrapping(operator.mul),
    integers.ShLIOp: _shifted_left,
    integers.ShRIOp: _shifted_right,
    integers.AndIOp: _of_bits(np.bitwise_and),
    integers.OrIOp: _of_bits(np.bitwise_or),
    integers.XOrIOp: _of_bits(np.bitwise_xor),
    integers.MaxIOp: _chosen(operator.ge),
    integers.MinIOp: _chosen(operator.le),
    integers.DivIOp: _quotient,
    integers.RemIOp: _remainder,
    integers.MulhiIOp: _high,
    integers.AbsIOp: _magnitude,
    integers.NegIOp: _negated,
    integers.CmpIOp: _compared,
}
