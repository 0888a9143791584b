"""Operations of `arith` and `math` on scalars and on vectors of registers."""

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
    """The operation on vectors of registers; floats of 8 bits are computed with as f32.

    f32 holds what two such floats give without an error that a second rounding would show, f64 what
    three do.
    """
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
    """Whether elements are floats of 8 bits."""
    tile: Any = type_
    element = tile.element_type if isinstance(type_, TensorType | VectorType) else tile
    return isinstance(element, AnyFloat) and bits_of(element) == 8


def recreate(
    e: ThreadBuilder, op: Operation, operands: Sequence[SSAValue], types: Sequence[Attribute]
) -> Sequence[SSAValue]:
    made = type(op).create(
        operands=operands,
        result_types=types,
        properties=dict(op.properties),
        attributes=dict(op.attributes),
    )
    return e.insert(made).results
