"""Operations of xDSL's dialects, made several times as fast as by their constructors.

A constructor matches what it is given with the definition; here whoever calls knows that it does,
and the verifier checks it.  Properties with a default get it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    FloatAttr,
    IntegerAttr,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation

from tileas_xdsl.dialects.field_init import default_properties, initialise
from tileas_xdsl.dialects.interned import index_array, integer_attr

OpT = TypeVar("OpT", bound=IRDLOperation)


def constant_op(
    value: IntegerAttr | FloatAttr | DenseIntOrFPElementsAttr | DenseResourceAttr,
) -> arith.ConstantOp:
    """Return a constant."""
    return made(arith.ConstantOp, (), value.get_type(), {"value": value})


def binary_op(kind: type[OpT], a: SSAValue, b: SSAValue) -> OpT:
    """Return an operation on two values of one type, of which it gives another."""
    return made(kind, (a, b), a.type)


def cast_op(kind: type[OpT], value: SSAValue, type_: Attribute) -> OpT:
    """Return an operation that gives a value another type."""
    return made(kind, (value,), type_)


def extraction(whole: SSAValue, position: int, element: Attribute) -> vector.ExtractOp:
    """Return the extraction of one element, of this type, of a vector of one dimension."""
    return made(vector.ExtractOp, (whole,), element, {"static_position": index_array((position,))})


def comparison(a: SSAValue, b: SSAValue, predicate: str) -> arith.CmpiOp:
    """Return a comparison of integers; the predicate is `eq`, `slt`, `ult`, ..."""
    return made(arith.CmpiOp, (a, b), i1, {"predicate": integer_attr(_PREDICATES[predicate], i64)})


def selection(condition: SSAValue, a: SSAValue, b: SSAValue) -> arith.SelectOp:
    """Return one of two values."""
    return made(arith.SelectOp, (condition, a, b), a.type)


def on_types(
    op: Operation,
    operands: Sequence[SSAValue],
    types: Sequence[Attribute],
    **properties: Attribute,
) -> Operation:
    """Return an operation without regions again, on other operands and with other result types.

    It keeps its location, its attributes and its properties but for those that are given.
    """
    return type(op).create(
        operands=operands,
        result_types=types,
        properties={**op.properties, **properties},
        attributes=op.attributes,
        location=op.location,
    )


_PREDICATES = {name: number for number, name in enumerate(arith.CMPI_COMPARISON_OPERATIONS)}


def made(
    kind: type[OpT],
    operands: Sequence[SSAValue],
    result: Attribute,
    properties: Mapping[str, Attribute] = MappingProxyType({}),
) -> OpT:
    """Return an operation of one result."""
    op, kept = kind.__new__(kind), dict(properties)
    initialise(op, operands, (result,), kept)
    for name, value in default_properties(kind):
        kept.setdefault(name, value)
    return op
