"""Builders of arithmetic on scalars, indices and tiles.

All integers are signed, all functions insert at the builder and return the value.  No overflow and
no fast-math flag is ever set: they would be promises that a builder cannot make.
"""

from __future__ import annotations

from math import isfinite, isnan
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    Float80Type,
    Float128Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from tileas_xdsl.dialects.nv_tileas.spaces import element_of

Value: TypeAlias = SSAValue | Operation
_Number: TypeAlias = IntegerAttr | FloatAttr | DenseIntOrFPElementsAttr

_WITHOUT_CONSTANTS = (Float80Type, Float128Type)
"""Floats that attributes cannot hold yet."""


def constant(builder: Builder, value: float, type_: Attribute | None = None) -> SSAValue:
    """Return a constant of a scalar type (`index` by default), or a splat tile."""
    attribute = _number(value, IndexType() if type_ is None else type_)
    return builder.insert(arith.ConstantOp(attribute)).result


def _number(value: float, type_: Attribute) -> _Number:
    if isa(type_, TensorType[AnyFloat]):
        _check_float(value, type_.element_type)
        return DenseIntOrFPElementsAttr.from_list(type_, [float(value)])
    if isa(type_, AnyFloat):
        _check_float(value, type_)
        return FloatAttr(float(value), type_)
    if isinstance(value, float) and not value.is_integer():
        raise ValueError(f"{value} is no constant of type {type_}")
    if isa(type_, TensorType[IntegerType]) or isa(type_, TensorType[IndexType]):
        return DenseIntOrFPElementsAttr.from_list(type_, [int(value)])
    if isa(type_, IntegerType) or isa(type_, IndexType):
        return IntegerAttr(int(value), type_)
    raise ValueError(f"there are no constants of type {type_}")


def _check_float(value: float, type_: AnyFloat) -> None:
    """A float may be rounded, but zero stays zero, and what is finite stays finite."""
    if isinstance(type_, _WITHOUT_CONSTANTS):
        raise ValueError(f"there are no constants of type {type_}")
    try:
        stored = FloatAttr(float(value), type_).value.data
    except (OverflowError, ValueError) as error:
        raise ValueError(f"{value} is no constant of type {type_}") from error
    if _kind(stored) != _kind(value) or (value == 0 and stored != 0):
        raise ValueError(f"{value} is no constant of type {type_}")


def _kind(value: float) -> tuple[bool, bool]:
    return isfinite(value), isnan(value)


def add(builder: Builder, a: Value, b: Value) -> SSAValue:
    """a + b."""
    return _binary(builder, arith.AddiOp, arith.AddfOp, a, b)


def sub(builder: Builder, a: Value, b: Value) -> SSAValue:
    """a - b."""
    return _binary(builder, arith.SubiOp, arith.SubfOp, a, b)


def mul(builder: Builder, a: Value, b: Value) -> SSAValue:
    """a * b."""
    return _binary(builder, arith.MuliOp, arith.MulfOp, a, b)


def div(builder: Builder, a: Value, b: Value) -> SSAValue:
    """a / b; integers are signed and rounded towards zero."""
    return _binary(builder, arith.DivSIOp, arith.DivfOp, a, b)


def maximum(builder: Builder, a: Value, b: Value) -> SSAValue:
    """The larger of a and b; integers are signed, a NaN wins."""
    return _binary(builder, arith.MaxSIOp, arith.MaximumfOp, a, b)


def ceil_div(builder: Builder, a: Value, b: Value) -> SSAValue:
    """a / b of signed integers, rounded up."""
    return builder.insert(arith.CeilDivSIOp(a, b)).result


def rem(builder: Builder, a: Value, b: Value) -> SSAValue:
    """The remainder of a / b of signed integers; it has the sign of a."""
    return builder.insert(arith.RemSIOp(a, b)).result


def select(builder: Builder, condition: Value, a: Value, b: Value) -> SSAValue:
    """a where the condition holds, else b."""
    return builder.insert(arith.SelectOp(condition, a, b)).result


def index_expression(builder: Builder, base: Value, lane: Value, stride: Value) -> SSAValue:
    """base + lane * stride."""
    return add(builder, base, mul(builder, lane, stride))


_IntegerOp: TypeAlias = (
    type[arith.AddiOp]
    | type[arith.SubiOp]
    | type[arith.MuliOp]
    | type[arith.DivSIOp]
    | type[arith.MaxSIOp]
)
_FloatOp: TypeAlias = (
    type[arith.AddfOp]
    | type[arith.SubfOp]
    | type[arith.MulfOp]
    | type[arith.DivfOp]
    | type[arith.MaximumfOp]
)


def _binary(
    builder: Builder, on_integers: _IntegerOp, on_floats: _FloatOp, a: Value, b: Value
) -> SSAValue:
    type_ = SSAValue.get(a).type
    if isa(element_of(type_) or type_, AnyFloat):
        return builder.insert(on_floats(a, b)).result
    return builder.insert(on_integers(a, b)).result
