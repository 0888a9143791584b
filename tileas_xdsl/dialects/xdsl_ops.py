"""Operations of xDSL's dialects, made several times as fast as by their constructors.

A constructor matches what it is given with the definition; here whoever calls knows that it does,
and the verifier checks it.  Properties with a default get it.
"""

from __future__ import annotations

from typing import TypeVar

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.dialects.interned import index_array

OpT = TypeVar("OpT", bound=Operation)


def constant_op(value: IntegerAttr | FloatAttr | DenseIntOrFPElementsAttr) -> arith.ConstantOp:
    """Return a constant."""
    return arith.ConstantOp.create(result_types=(value.get_type(),), properties={"value": value})


def binary_op(kind: type[OpT], a: SSAValue, b: SSAValue) -> OpT:
    """Return an operation on two values of one type, of which it gives another."""
    return kind.create(operands=(a, b), result_types=(a.type,))


def cast_op(kind: type[OpT], value: SSAValue, type_: Attribute) -> OpT:
    """Return an operation that gives a value another type."""
    return kind.create(operands=(value,), result_types=(type_,))


def extraction(whole: SSAValue, position: int, element: Attribute) -> vector.ExtractOp:
    """Return the extraction of one element, of this type, of a vector of one dimension."""
    return vector.ExtractOp.create(
        operands=(whole,),
        result_types=(element,),
        properties={"static_position": index_array((position,))},
    )
