"""Apply operations of `arith` and `math` to scalars and to vectors of registers.

There is no PTX arithmetic on 8-bit floats, so these are extended, computed and rounded once:

    %c = arith.addf %a, %b : vector<4xf8E4M3FN>

    %x = arith.extf %a : vector<4xf8E4M3FN> to vector<4xf32>
    %y = arith.extf %b : vector<4xf8E4M3FN> to vector<4xf32>
    %z = arith.addf %x, %y : vector<4xf32>
    %c = arith.truncf %z : vector<4xf32> to vector<4xf8E4M3FN>

This is as exact as one rounding: f32 has more than twice the mantissa bits of an 8-bit float plus
two, so that rounding to f32 first is innocuous for +, -, *, / and sqrt (Figueroa, "When is double
rounding innocuous?", SIGNUM 1995). A fused multiply-add has three operands and needs f64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    AnyFloat,
    Float32Type,
    Float64Type,
    IndexType,
    TensorType,
    VectorType,
    f32,
    f64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.xdsl_ops import on_types
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, index_constant, subtract
from tileas_xdsl.threads.codegen.lowered_values import (
    held_as,
)
from tileas_xdsl.threads.registers.vector_values import length

KEEP_BYTES = (
    arith.BitcastOp,
    arith.NegfOp,
    arith.SelectOp,
    math.AbsFOp,
    math.CopySignOp,
)
"""Operations that 8-bit floats support without being extended."""


def on_vectors(
    e: ThreadBuilder, op: Operation, operands: Sequence[SSAValue], result: VectorType[Attribute]
) -> SSAValue:
    """Apply an operation to vectors of registers; 8-bit floats are computed in f32, fma in f64."""
    if isinstance(op, KEEP_BYTES) or not all(_is_byte(v.type) for v in (*operands, *op.results)):
        return recreate(e, op, operands, [result])[0]
    real = _computed_in(op)
    wide = [e.insert(arith.ExtFOp(v, VectorType(real, [length(v)]))).result for v in operands]
    made = recreate(e, op, wide, [VectorType(real, result.get_shape())])[0]
    return e.insert(arith.TruncFOp(made, result)).result


def _computed_in(op: Operation) -> Float32Type | Float64Type:
    """Return the float type in which an operation on 8-bit floats is computed."""
    return f64 if isinstance(op, math.FmaOp) else f32


def _held(op: Operation) -> Sequence[Attribute]:
    """Return the types of the results in registers."""
    return [held_as(value.type) for value in op.results]


def on_scalars(e: ThreadBuilder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Apply an operation of `arith` or `math` to scalars; 8-bit floats are extended to f32.

    An index stays far from the end of its range: it is rounded up without an overflow check.
    """
    if isinstance(op, arith.CeilDivUIOp) and isinstance(op.result.type, IndexType):
        a, b = operands
        above = subtract(e, b, index_constant(e, 1))
        return [e.insert(arith.DivUIOp(add(e, a, above), b)).result]
    # Neither LLVM nor PTX computes with 8-bit floats: computed wide, the result is rounded once.
    narrow = bool(operands) and all(_is_byte(v.type) for v in operands)
    if not narrow or isinstance(op, (*KEEP_BYTES, arith.ExtFOp)):
        return recreate(e, op, operands, _held(op))
    real = _computed_in(op)
    wide = [e.insert(arith.ExtFOp(v, real)).result for v in operands]
    if not all(_is_byte(v.type) for v in op.results):
        return recreate(e, op, wide, _held(op))
    made = recreate(e, op, wide, [real])
    return [
        e.insert(arith.TruncFOp(value, result.type)).result
        for value, result in zip(made, op.results, strict=True)
    ]


def _is_byte(type_: Attribute) -> bool:
    """Whether a type has 8-bit floats as elements."""
    tile: Any = type_
    element = tile.element_type if isinstance(type_, TensorType | VectorType) else tile
    return isinstance(element, AnyFloat) and bits_of(element) == 8


def recreate(
    e: ThreadBuilder, op: Operation, operands: Sequence[SSAValue], types: Sequence[Attribute]
) -> Sequence[SSAValue]:
    """Insert the same operation on other operands, with results of other types."""
    return e.insert(on_types(op, operands, types)).results
