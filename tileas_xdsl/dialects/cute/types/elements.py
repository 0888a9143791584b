"""How many bits the elements have that lie in memory and in registers."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    FixedBitwidthType,
    FloatTF32Type,
    IntegerType,
    VectorType,
)
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.dialects.kinds import Kinds

STORED_INTEGERS = (8, 16, 32, 64)
"""Widths of integers that memory holds."""


_VECTORS, _INTEGERS, _OF_BITS = Kinds(VectorType), Kinds(IntegerType), Kinds(FixedBitwidthType)


def element_bits(type_: Attribute) -> int | None:
    """The bits of one stored element; None for what is never in memory.  tf32 takes 32 bits."""
    if type(type_) is FloatTF32Type:
        return 32
    if width := integer_bits(type_):
        return width if width in STORED_INTEGERS else None
    if _OF_BITS[type(type_)]:
        bits = cast("FixedBitwidthType", type_).bitwidth
        return bits if bits in STORED_INTEGERS else None
    return None


def integer_bits(type_: Attribute) -> int:
    """The width of an integer type, 0 for any other."""
    return cast("IntegerType[int]", type_).width.data if _INTEGERS[type(type_)] else 0


def as_vector(type_: Attribute) -> VectorType | None:
    """The type if it is a vector, else None."""
    return cast(VectorType, type_) if _VECTORS[type(type_)] else None


def length_of(value: SSAValue) -> int:
    """The number of elements of a fragment."""
    vector = as_vector(value.type)
    assert vector is not None
    return vector.get_shape()[0]


def stored_bytes(type_: Attribute) -> int | None:
    """The bytes of an element or a fragment `vector<NxT>`; None for what is never in memory."""
    vector = as_vector(type_)
    bits = element_bits(element_of(type_))
    if bits is None or (vector is not None and vector.get_num_dims() != 1):
        return None
    return bits // 8 if vector is None else bits * vector.get_shape()[0] // 8


def element_of(type_: Attribute) -> Attribute:
    """The element of a fragment, any other type itself."""
    vector = as_vector(type_)
    return type_ if vector is None else vector.get_element_type()
