"""Integer constants and arithmetic of threads, with the cheap cases folded.

`add(e, x, 0)` is `x`, `divide(e, x, 8)` a shift, `modulo(e, x, 8)` a mask.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import FixedBitwidthType, IndexType, i1, i16, i32, i64
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.dialects.interned import integer_type
from tileas_xdsl.dialects.xdsl_ops import binary_op, cast_op, comparison
from tileas_xdsl.threads.codegen.builder import ThreadBuilder

_INDEX = IndexType()


def index_constant(e: ThreadBuilder, value: int) -> SSAValue:
    """Return an `index` constant."""
    return e.constant(value, _INDEX)


def i32_constant(e: ThreadBuilder, value: int) -> SSAValue:
    """Return an `i32` constant."""
    return e.constant(value, i32)


def i64_constant(e: ThreadBuilder, value: int) -> SSAValue:
    """Return an `i64` constant."""
    return e.constant(value, i64)


def cta_mask(e: ThreadBuilder, bits: int) -> SSAValue:
    """Return the `i16` constant that selects blocks of a cluster for a multicast."""
    return e.constant(bits, i16)


def i1_constant(e: ThreadBuilder, value: bool) -> SSAValue:
    """Return an `i1` constant."""
    return e.constant(int(value), i1)


def constant_like(e: ThreadBuilder, value: SSAValue, constant: int) -> SSAValue:
    """Return a constant of the integer type of a value."""
    if isinstance(value.type, IndexType):
        return index_constant(e, constant)
    return e.constant(constant, integer_type(bit_width(value.type)))


def add(e: ThreadBuilder, a: SSAValue, b: SSAValue | int) -> SSAValue:
    """Return `a + b`."""
    if isinstance(b, int):
        return a if b == 0 else e.insert(binary_op(arith.AddiOp, a, constant_like(e, a, b))).result
    return e.insert(binary_op(arith.AddiOp, a, b)).result


def subtract(e: ThreadBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """Return `a - b`."""
    return e.insert(binary_op(arith.SubiOp, a, b)).result


def multiply(e: ThreadBuilder, a: SSAValue, b: SSAValue | int) -> SSAValue:
    """Return `a * b`."""
    if isinstance(b, int):
        return a if b == 1 else e.insert(binary_op(arith.MuliOp, a, constant_like(e, a, b))).result
    return e.insert(binary_op(arith.MuliOp, a, b)).result


def divide(e: ThreadBuilder, a: SSAValue, divisor: int) -> SSAValue:
    """Return the quotient of an unsigned value by a constant: a shift for a power of two."""
    if divisor == 1:
        return a
    if divisor & (divisor - 1):
        return e.insert(binary_op(arith.DivUIOp, a, constant_like(e, a, divisor))).result
    return e.insert(
        binary_op(arith.ShRUIOp, a, constant_like(e, a, divisor.bit_length() - 1))
    ).result


def modulo(e: ThreadBuilder, a: SSAValue, divisor: int) -> SSAValue:
    """Return the remainder of an unsigned value by a constant: a mask for a power of two."""
    if divisor & (divisor - 1):
        return e.insert(binary_op(arith.RemUIOp, a, constant_like(e, a, divisor))).result
    return e.insert(binary_op(arith.AndIOp, a, constant_like(e, a, divisor - 1))).result


def xor(e: ThreadBuilder, a: SSAValue, b: SSAValue | None) -> SSAValue:
    """Return `a ^ b`; None stands for 0."""
    return a if b is None else e.insert(binary_op(arith.XOrIOp, a, b)).result


def is_less(e: ThreadBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """Return whether `a < b`, signed."""
    return e.insert(comparison(a, b, "slt")).result


def is_equal(e: ThreadBuilder, a: SSAValue, constant: int) -> SSAValue:
    """Return whether a value equals a constant."""
    return e.insert(comparison(a, constant_like(e, a, constant), "eq")).result


def logical_and(e: ThreadBuilder, a: SSAValue | None, b: SSAValue | None) -> SSAValue | None:
    """Return whether both conditions hold; None is a condition that always holds."""
    if a is None or b is None:
        return b if a is None else a
    return e.insert(binary_op(arith.AndIOp, a, b)).result


def extend_to_i64(e: ThreadBuilder, value: SSAValue) -> SSAValue:
    """Return an `i32`, sign-extended, for addresses in global memory."""
    return e.insert(cast_op(arith.ExtSIOp, value, i64)).result


def as_int64(e: ThreadBuilder, value: SSAValue) -> SSAValue:
    """Return an `index` or integer, sign-extended, for addresses in global memory."""
    if value.type == i64:
        return value
    return extend_to_i64(e, cast_index(e, value, i32))


def cast_index(e: ThreadBuilder, value: SSAValue, type_: Attribute) -> SSAValue:
    """Return an `index` or integer as the other type, sign-extended or truncated."""
    if value.type == type_:
        return value
    if isinstance(value.type, IndexType) or isinstance(type_, IndexType):
        return e.insert(cast_op(arith.IndexCastOp, value, type_)).result
    bits = bit_width(type_)
    kind = arith.ExtSIOp if bits > bit_width(value.type) else arith.TruncIOp
    return e.insert(cast_op(kind, value, integer_type(bits))).result


def bit_width(type_: Attribute) -> int:
    """Return the number of bits of an integer or float type."""
    assert isinstance(type_, FixedBitwidthType)
    return type_.bitwidth
