"""Integers known at compile time: constants, divisors and intervals."""

from __future__ import annotations

from math import gcd

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.memoized_walks import memoized_walk
from tileas_xdsl.threads.codegen.builder import ThreadBuilder

MAX_DIVISOR = 1 << 64
"""What divides products is no larger: squares of squares would fill the memory."""


@memoized_walk
def constant_value(value: SSAValue) -> int | None:
    """Return the number that a value always is; None where it is not constant."""
    owner = value.owner
    if isinstance(owner, arith.IndexCastOp):
        return constant_value(owner.input)
    if isinstance(owner, arith.MuliOp | arith.AddiOp):
        a, b = (constant_value(v) for v in owner.operands)
        if a is not None and b is not None:
            return a * b if isinstance(owner, arith.MuliOp) else a + b
    return constant_integer(value)


def divisor_of(e: ThreadBuilder, value: SSAValue) -> int:
    """Return a number that divides a value, whatever it is at run time."""

    @memoized_walk
    def divisor(value: SSAValue) -> int:
        if (number := constant_value(value)) is not None:
            return number
        if (promised := e.promised.get(value)) is not None:
            return promised
        owner = value.owner
        if isinstance(owner, arith.IndexCastOp):
            return divisor(owner.input)
        if isinstance(owner, arith.MuliOp):
            product = divisor(owner.lhs) * divisor(owner.rhs)
            return product if abs(product) <= MAX_DIVISOR else gcd(product, MAX_DIVISOR)
        if isinstance(owner, arith.AddiOp | arith.MaxSIOp | arith.MinSIOp):
            return gcd(divisor(owner.lhs), divisor(owner.rhs))
        return 1

    return divisor(value)


def most_of(value: SSAValue) -> int | None:
    """Return a number that a value never exceeds; None where none is known."""
    if (number := constant_value(value)) is not None:
        return number
    owner = value.owner
    if isinstance(owner, arith.IndexCastOp):
        return most_of(owner.input)
    if isinstance(owner, arith.MinSIOp):
        known = [most for operand in owner.operands if (most := most_of(operand)) is not None]
        return min(known, default=None)
    return None


@memoized_walk
def least_of(value: SSAValue) -> int | None:
    """Return a number that a value is never less than; None where none is known."""
    if (number := constant_value(value)) is not None:
        return number
    owner = value.owner
    if isinstance(owner, arith.IndexCastOp):
        return least_of(owner.input)
    if isinstance(owner, arith.MaxSIOp | arith.MinSIOp):
        found = [least_of(operand) for operand in owner.operands]
        known = [least for least in found if least is not None]
        if isinstance(owner, arith.MaxSIOp):
            return max(known, default=None)
        return min(known) if len(known) == len(found) else None
    return None


@memoized_walk
def interval_of(value: SSAValue) -> tuple[int, int] | None:
    """Return the least and the largest number that a value may be; None where that is unknown.

    Of constants, their conjunctions with anything, and sums and differences of these.
    """
    if (number := constant_value(value)) is not None:
        return number, number
    owner = value.owner
    if isinstance(owner, arith.IndexCastOp):
        return interval_of(owner.input)
    if isinstance(owner, arith.AndIOp):
        masks = [constant_value(v) for v in owner.operands]
        return next(((0, mask) for mask in masks if mask is not None and mask >= 0), None)
    if not isinstance(owner, arith.AddiOp | arith.SubiOp):
        return None
    a, b = interval_of(owner.lhs), interval_of(owner.rhs)
    if a is None or b is None:
        return None
    if isinstance(owner, arith.AddiOp):
        return a[0] + b[0], a[1] + b[1]
    return a[0] - b[1], a[1] - b[0]
