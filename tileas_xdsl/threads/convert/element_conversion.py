"""Conversions of elements, scalars and vectors, and the types that memory holds them in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, VectorType, f32, i1, i8, i32
from xdsl.ir import Attribute, Block, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute.registers.elementwise import MapFragmentOp, YieldFragmentOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.registers.vector_values import element, element_type, joined, length


def convert_float(e: ThreadBuilder, value: SSAValue, type_: Attribute) -> SSAValue:
    """Convert floats to another type, rounding; between two types of one width through f32."""
    source = element_type(value)
    if source == type_:
        return value
    if bits_of(source) == bits_of(type_):
        return convert_float(e, convert_float(e, value, f32), type_)
    kind: Any = arith.ExtFOp if bits_of(source) < bits_of(type_) else arith.TruncFOp
    vector = VectorType(type_, [length(value)])
    return e.insert(kind(value, vector if isinstance(value.type, VectorType) else type_)).result


def map_elements(e: ThreadBuilder, value: SSAValue, kind: Any, type_: Attribute) -> SSAValue:
    """Convert by an operation that xDSL has on scalars only, element by element of a vector."""
    if not isinstance(value.type, VectorType):
        return e.insert(kind(value, type_)).result
    body = Block(arg_types=[element_type(value)])
    with e.within(body):
        e.insert(YieldFragmentOp([e.insert(kind(body.args[0], type_)).result]))
    return e.insert(MapFragmentOp([value], [VectorType(type_, [length(value)])], body)).results[0]


@dataclass(frozen=True)
class Carrier:
    """The type that elements are stored and shuffled as, and the conversions to and from it."""

    type: Attribute
    there: Any
    back: Any


CARRIERS: Mapping[Attribute, Carrier] = {
    i1: Carrier(i8, arith.ExtUIOp, arith.TruncIOp),
    IndexType(): Carrier(i32, arith.IndexCastOp, arith.IndexCastOp),
}
"""Element types that memory does not hold, with what stands for them there."""


def unrolled_elements(e: ThreadBuilder, value: SSAValue, kind: Any, type_: Attribute) -> SSAValue:
    """Convert a vector element by element, each extracted on its own.

    For bytes that become `i1` this takes fewer instructions than `map_elements`, which unpacks
    32-bit registers.
    """
    parts = [e.insert(kind(element(e, value, k), type_)).result for k in range(length(value))]
    return joined(e, parts)


def storage_type(type_: Attribute) -> Attribute:
    """Return the type that elements have in memory: a byte for `i1`, `i32` for `index`."""
    return CARRIERS[type_].type if type_ in CARRIERS else type_
