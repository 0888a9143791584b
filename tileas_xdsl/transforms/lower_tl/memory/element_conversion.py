"""Elements of one type as elements of another, scalars and vectors."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import VectorType, f32
from xdsl.ir import Attribute, Block, SSAValue

from tileas_xdsl.dialects.cute.maps import MapFragmentOp, YieldFragmentOp
from tileas_xdsl.dialects.nv_tileas.tma_checks import bits_of
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.registers.vector_values import element_type, length


def converted(e: ThreadBuilder, value: SSAValue, type_: Attribute) -> SSAValue:
    """The same floats rounded to another type; of two with as many bits by way of f32."""
    source = element_type(value)
    if source == type_:
        return value
    if bits_of(source) == bits_of(type_):
        return converted(e, converted(e, value, f32), type_)
    kind: Any = arith.ExtFOp if bits_of(source) < bits_of(type_) else arith.TruncFOp
    vector = VectorType(type_, [length(value)])
    return e.insert(kind(value, vector if isinstance(value.type, VectorType) else type_)).result


def each(e: ThreadBuilder, value: SSAValue, kind: Any, type_: Attribute) -> SSAValue:
    """An operation that xDSL has on scalars only, element by element."""
    if not isinstance(value.type, VectorType):
        return e.insert(kind(value, type_)).result
    body = Block(arg_types=[element_type(value)])
    with e.within(body):
        e.insert(YieldFragmentOp([e.insert(kind(body.args[0], type_)).result]))
    return e.insert(MapFragmentOp([value], [VectorType(type_, [length(value)])], body)).results[0]
