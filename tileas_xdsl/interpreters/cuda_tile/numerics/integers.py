"""Integers of tiles: read as signed or unsigned, wrapped to their width."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from tileas_xdsl.dialects.cuda_tile.enums import IntegerOverflow, Signedness
from tileas_xdsl.interpreters.cuda_tile.faults import Undefined
from tileas_xdsl.interpreters.cuda_tile.numerics.elements import Array

Combine: TypeAlias = Callable[[Any, Any], Any]


def read(values: Array, width: int, signedness: Signedness) -> Array:
    """Integers of 64 bits with the values of narrower ones; unsigned ones of 64 are `uint64`."""
    if width == 64:
        return values if signedness is Signedness.SIGNED else values.view(np.uint64)
    wide = values.astype(np.int64)
    if signedness is Signedness.SIGNED:
        return -wide if width == 1 else wide
    return wide & ((1 << width) - 1)


def wrap(values: Array, width: int) -> Array:
    """The low bits of integers of 64 bits, or of Python's, as elements of this width."""
    if values.dtype == object:
        values = np.asarray(values & ((1 << 64) - 1)).astype(np.uint64)
    values = np.asarray(values).astype(np.int64, copy=False)
    if width == 1:
        return values & 1 != 0
    if width == 4:
        return (((values & 0xF) ^ 8) - 8).astype(np.int8)
    with np.errstate(over="ignore"):
        return values.astype(f"i{width // 8}")


def combined(
    function: Combine, lhs: Array, rhs: Array, width: int, overflow: IntegerOverflow
) -> Array:
    """Wrapped sums, differences, products and shifts; raises where one may not wrap and does."""
    _check_overflow(function, lhs, rhs, width, overflow)
    a, b = (read(values, width, Signedness.SIGNED) for values in (lhs, rhs))
    with np.errstate(over="ignore"):
        return wrap(function(a, b), width)


_SIGNS = {
    IntegerOverflow.NSW: (Signedness.SIGNED,),
    IntegerOverflow.NUW: (Signedness.UNSIGNED,),
    IntegerOverflow.NW: (Signedness.SIGNED, Signedness.UNSIGNED),
    IntegerOverflow.NONE: (),
}


def _check_overflow(
    function: Combine, lhs: Array, rhs: Array, width: int, overflow: IntegerOverflow
) -> None:
    for signedness in _SIGNS[overflow]:
        a, b = (read(values, width, signedness).astype(object) for values in (lhs, rhs))
        check_range(np.asarray(function(a, b)), width, signedness, overflow.value)


def check_range(values: Array, width: int, signedness: Signedness, promise: str) -> None:
    """Raise if an integer is not one of this width."""
    low = -(1 << (width - 1)) if signedness is Signedness.SIGNED else 0
    high = low + (1 << width) - 1
    wrong = (values < low) | (values > high)
    if np.any(wrong):
        first = np.asarray(values)[wrong].flat[0]
        text = f"'{promise}' is promised, but {first} is no {signedness.value} integer"
        raise Undefined(f"{text} of {width} bits")


def check_divisor(a: Array, b: Array, width: int, signedness: Signedness) -> None:
    """Raise for a division by zero, and of the least signed number by -1."""
    if np.any(b == 0):
        raise Undefined("divides by zero, which is undefined")
    least = -(1 << (width - 1))
    if signedness is Signedness.SIGNED and np.any((a == least) & (b == -1)):
        raise Undefined(f"divides {least} by -1, which is undefined: it overflows")


def truncated_quotient(a: Array, b: Array) -> Array:
    """The quotient rounded towards zero; floored ones of unequal signs are one too small."""
    quotient = a // b
    return quotient + ((a % b != 0) & ((a < 0) != (b < 0))).astype(quotient.dtype)


def ceiled_quotient(a: Array, b: Array) -> Array:
    """The quotient rounded up."""
    quotient = a // b
    return quotient + (a % b != 0).astype(quotient.dtype)


def high_product(a: Array, b: Array, width: int) -> Array:
    """The high half of the product of unsigned integers."""
    x, y = (read(values, width, Signedness.UNSIGNED).astype(object) for values in (a, b))
    return wrap(np.asarray((x * y) >> width, dtype=object), width)
