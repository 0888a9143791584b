"""Integers of `arith` and `math` on scalars and tiles: two's complement of the type's width.

A scalar is a Python int (`i1` a bool), a tile an array of the storage type of `numerics`.  An
operation is computed on wide integers, read as signed or unsigned, and wrapped to its result type.
Shifts by the width or more shift all bits out, as in PTX: zero, or the sign.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IndexType, IntegerType, TensorType
from xdsl.ir import Attribute, Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.numerics.element_types import (
    Array,
    is_array,
    unsigned,
    wrap_integer,
)

Value: TypeAlias = Any
"""A Python int or bool for a scalar, an array for a tile or a float."""

Compute: TypeAlias = Callable[..., Any]
Binary: TypeAlias = Callable[[Any, Any], Any]

INDEX_BITS = 64


def element_of_type(type_: Attribute) -> Attribute:
    """Return the element type of a tile, or a scalar type itself."""
    if isinstance(type_, TensorType):
        return type_.get_element_type()  # pyright: ignore[reportUnknownVariableType]
    return type_


def width_of(type_: Attribute) -> int | None:
    """Return the bits of an integer or index element, None for other types."""
    match element_of_type(type_):
        case IndexType():
            return INDEX_BITS
        case IntegerType() as integer:
            return integer.width.data
        case _:
            return None


def wrap(value: Value, width: int) -> Value:
    """Wrap a wide integer, or an array of them, to `width` bits."""
    if is_array(value):
        wide = value.view(np.int64) if value.dtype == np.uint64 else value
        return wrap_integer(wide, width)
    if width == 1:
        return bool(value & 1)
    sign = 1 << (width - 1)
    return ((int(value) & ((1 << width) - 1)) ^ sign) - sign


def signed_of(value: Value, width: int) -> Value:
    """Return a value as a wide signed integer; a set `i1` is -1."""
    if is_array(value):
        wide = value.astype(np.int64)
        return -wide if width == 1 else wide
    return -int(value) if width == 1 else int(value)


def unsigned_of(value: Value, width: int) -> Value:
    """Return a value as a wide unsigned integer."""
    if is_array(value):
        return unsigned(value, width)
    return int(value) & ((1 << width) - 1)


@dataclass(frozen=True)
class IntegerRule:
    """The computation of an operation on signed or unsigned operands, given the width or not."""

    compute: Compute
    is_unsigned: bool = False
    divides: bool = False
    needs_width: bool = False


def _truncated_quotient(a: Value, b: Value) -> Value:
    if is_array(a) or is_array(b):
        magnitudes = (np.abs(np.asarray(side, np.int64)).view(np.uint64) for side in (a, b))
        quotient = np.floor_divide(*magnitudes).view(np.int64)
        return np.where((a < 0) != (b < 0), -quotient, quotient)
    quotient = abs(a) // abs(b)
    return -quotient if (a < 0) != (b < 0) else quotient


def _remainder(a: Value, b: Value) -> Value:
    return a - _truncated_quotient(a, b) * b


def _ceiling_quotient(a: Value, b: Value) -> Value:
    quotient: Value = a // b
    return quotient + (a - quotient * b != 0)


def _least(a: Value, b: Value) -> Value:
    return np.minimum(a, b) if is_array(a) else min(a, b)


def _greatest(a: Value, b: Value) -> Value:
    return np.maximum(a, b) if is_array(a) else max(a, b)


def _shift_left(a: Value, b: Value, width: int) -> Value:
    if is_array(a):
        return np.where(b < width, a << np.minimum(b, width - 1), np.zeros_like(a))
    return a << b if b < width else 0


def _shift_right(a: Value, b: Value, width: int) -> Value:
    if is_array(a):
        return np.where(b < width, a >> np.minimum(b, width - 1), np.zeros_like(a))
    return a >> b if b < width else 0


def _shift_right_signed(a: Value, b: Value, width: int) -> Value:
    """Shift right arithmetically; an amount of the width or more, or negative, is too large."""
    if is_array(a):
        return a >> np.where((b < 0) | (b >= width), width - 1, b)
    return a >> (b if 0 <= b < width else width - 1)


def _signed(compute: Binary, *, divides: bool = False) -> IntegerRule:
    return IntegerRule(compute, divides=divides)


def _unsigned(compute: Binary, *, divides: bool = False) -> IntegerRule:
    return IntegerRule(compute, is_unsigned=True, divides=divides)


INTEGER_RULES: Mapping[type[Operation], IntegerRule] = {
    arith.AddiOp: _signed(lambda a, b: a + b),
    arith.SubiOp: _signed(lambda a, b: a - b),
    arith.MuliOp: _signed(lambda a, b: a * b),
    arith.AndIOp: _signed(lambda a, b: a & b),
    arith.OrIOp: _signed(lambda a, b: a | b),
    arith.XOrIOp: _signed(lambda a, b: a ^ b),
    arith.DivSIOp: _signed(_truncated_quotient, divides=True),
    arith.DivUIOp: _unsigned(lambda a, b: a // b, divides=True),
    arith.FloorDivSIOp: _signed(lambda a, b: a // b, divides=True),
    arith.CeilDivSIOp: _signed(_ceiling_quotient, divides=True),
    arith.CeilDivUIOp: _unsigned(_ceiling_quotient, divides=True),
    arith.RemSIOp: _signed(_remainder, divides=True),
    arith.RemUIOp: _unsigned(lambda a, b: a % b, divides=True),
    arith.MinSIOp: _signed(_least),
    arith.MaxSIOp: _signed(_greatest),
    arith.MinUIOp: _unsigned(_least),
    arith.MaxUIOp: _unsigned(_greatest),
    arith.ShLIOp: IntegerRule(_shift_left, is_unsigned=True, needs_width=True),
    arith.ShRUIOp: IntegerRule(_shift_right, is_unsigned=True, needs_width=True),
    arith.ShRSIOp: IntegerRule(_shift_right_signed, needs_width=True),
    math.AbsIOp: IntegerRule(abs),
}
"""Operations whose operands and result have one integer type."""


def integer_op(op: Operation, operands: Sequence[Value]) -> Value:
    """Return the result of an operation of `INTEGER_RULES`; division by zero is a fault."""
    rule = INTEGER_RULES[type(op)]
    width = width_of(op.results[0].type)
    assert width is not None
    read = unsigned_of if rule.is_unsigned else signed_of
    wide = [read(operand, width) for operand in operands]
    if rule.divides and not np.all(wide[1]):
        raise fault(op, "division by zero")
    with np.errstate(over="ignore"):
        result = rule.compute(*wide, width) if rule.needs_width else rule.compute(*wide)
    return wrap(result, width)


COMPARISONS: tuple[tuple[Compute, bool], ...] = (
    (operator.eq, False),
    (operator.ne, False),
    (operator.lt, False),
    (operator.le, False),
    (operator.gt, False),
    (operator.ge, False),
    (operator.lt, True),
    (operator.le, True),
    (operator.gt, True),
    (operator.ge, True),
)
"""By predicate of `arith.cmpi`: the comparison, and whether it is unsigned."""


def compare_integers(op: arith.CmpiOp, operands: Sequence[Value]) -> Value:
    """Return the results of an `arith.cmpi`, element by element."""
    compare, is_unsigned = COMPARISONS[op.predicate.value.data]
    width = width_of(op.lhs.type)
    assert width is not None
    read = unsigned_of if is_unsigned else signed_of
    return compare(*(read(operand, width) for operand in operands))


def extended_product(op: Operation, operands: Sequence[Value]) -> tuple[Value, Value]:
    """Return both halves of a product, for `arith.mulsi_extended` and `mului_extended`."""
    width = width_of(op.results[0].type)
    assert width is not None
    read = unsigned_of if isinstance(op, arith.MulUIExtendedOp) else signed_of
    a, b = (_as_objects(read(operand, width)) for operand in operands)
    product = a * b
    return _halves(product, width)


def extended_sum(op: Operation, operands: Sequence[Value]) -> tuple[Value, Value]:
    """Return the sum and its carry, for `arith.addui_extended`."""
    width = width_of(op.results[0].type)
    assert width is not None
    a, b = (_as_objects(unsigned_of(operand, width)) for operand in operands)
    low, carry = _halves(a + b, width)
    return low, wrap(carry, 1)


def _as_objects(value: Value) -> Value:
    """Return an array of Python ints, which have arbitrary precision."""
    return value.astype(object) if is_array(value) else value


def _halves(value: Value, width: int) -> tuple[Value, Value]:
    return _narrow(value, width), _narrow(value >> width, width)


def _narrow(value: Value, width: int) -> Value:
    """Wrap Python ints, alone or in an array, to the storage type of `width`."""
    if not is_array(value):
        return wrap(value, width)
    sign = 1 << (width - 1)
    small: Array = (((value & ((1 << width) - 1)) ^ sign) - sign).astype(np.int64)
    return wrap_integer(small, width)


def count_bits(op: Operation, operands: Sequence[Value]) -> Value:
    """`math.ctlz`, `math.cttz` and `math.ctpop`; all bits of zero are leading and trailing."""
    width = width_of(op.results[0].type)
    assert width is not None
    counter = BIT_COUNTERS[type(op)]
    value = unsigned_of(operands[0], width)
    if not is_array(value):
        return wrap(counter(value, width), width)
    counts = np.fromiter((counter(int(item), width) for item in value.flat), np.int64, value.size)
    return wrap(counts.reshape(value.shape), width)


BIT_COUNTERS: Mapping[type[Operation], Callable[[int, int], int]] = {
    math.CountLeadingZerosOp: lambda value, width: width - value.bit_length(),
    math.CountTrailingZerosOp: lambda value, width: (
        (value & -value).bit_length() - 1 if value else width
    ),
    math.CtPopOp: lambda value, _: value.bit_count(),
}


def integer_power(op: Operation, operands: Sequence[Value]) -> Value:
    """`math.ipowi`: wraps; a negative power of 1 and -1 is one of them, of others it is 0."""
    width = width_of(op.results[0].type)
    assert width is not None
    base, power = (signed_of(operand, width) for operand in operands)
    if not is_array(base):
        return wrap(_power(op, base, power, width), width)
    pairs = zip(base.flat, np.broadcast_to(power, base.shape).flat, strict=True)
    items = [wrap(_power(op, int(b), int(p), width), width) for b, p in pairs]
    return wrap(np.asarray(items, np.int64).reshape(base.shape), width)


def _power(op: Operation, base: int, power: int, width: int) -> int:
    if power >= 0:
        return pow(base, power, 1 << width)
    if base == 0:
        raise fault(op, "division by zero: a negative power of zero")
    if base in (1, -1):
        return base if power % 2 else 1
    return 0
