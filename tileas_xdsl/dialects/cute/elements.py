"""How many bits the elements have that lie in memory and in registers."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    FixedBitwidthType,
    Float8E4M3FNType,
    Float8E5M2Type,
    FloatTF32Type,
    IntegerType,
    VectorType,
)
from xdsl.ir import Attribute

STORED_INTEGERS = (8, 16, 32, 64)
"""Widths of integers that memory holds."""

NARROW_FLOATS = (Float8E4M3FNType, Float8E5M2Type)
"""The floats of eight bits that PTX converts."""


def element_bits(type_: Attribute) -> int | None:
    """The bits of one stored element; None for what is never in memory.  tf32 takes 32 bits."""
    if isinstance(type_, FloatTF32Type):
        return 32
    if isinstance(type_, IntegerType):
        return type_.width.data if type_.width.data in STORED_INTEGERS else None
    if isinstance(type_, FixedBitwidthType):
        bits = type_.bitwidth
        return bits if bits in STORED_INTEGERS else None
    return None


def stored_bytes(type_: Attribute) -> int | None:
    """The bytes of an element or a fragment `vector<NxT>`; None for what is never in memory."""
    if not isinstance(type_, VectorType):
        bits = element_bits(type_)
        return None if bits is None else bits // 8
    bits = element_bits(type_.get_element_type())
    if bits is None or type_.get_num_dims() != 1:
        return None
    return bits * type_.get_shape()[0] // 8


def element_of(type_: Attribute) -> Attribute:
    """The element of a fragment, any other type itself."""
    return type_.get_element_type() if isinstance(type_, VectorType) else type_
