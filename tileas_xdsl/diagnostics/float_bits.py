"""Bit patterns of floats that are no numbers: infinities and NaN, whose payload and sign count.

xDSL keeps a float as Python's, of 64 bits, and converts it by `struct`, which has one NaN of 8 and
16 bits.  Here the payload of a NaN is moved as it is, from the top of one mantissa to the other's.

    f16   s eeeee mmmmmmmmmm            0xFE05
    f64   s 11111111111 mmmmmmmmmm0...  0xFFF8140000000000
"""

from __future__ import annotations

import math
import struct
from typing import TypeAlias, TypeGuard

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatTF32Type,
)
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

FloatElements: TypeAlias = "DenseIntOrFPElementsAttr[AnyFloat]"

_MANTISSAS: dict[type[AnyFloat], int] = {
    Float64Type: 52,
    Float32Type: 23,
    Float16Type: 10,
    BFloat16Type: 7,
    FloatTF32Type: 10,
    Float8E5M2Type: 2,
}
"""Bits of the mantissa, by type of those whose exponent of ones means infinity and NaN."""

_DOUBLE = 52


def float_of_bits(bits: int, type_: AnyFloat) -> float:
    """Return the float that a bit pattern of a type is, with the payload of a NaN."""
    value = next(iter(type_.iter_unpack(bits.to_bytes(type_.compile_time_size, "little"))))
    mantissa = _MANTISSAS.get(type(type_))
    if not math.isnan(value):
        return value
    if mantissa is None:
        return math.copysign(value, -1 if _has_signed_nan(type_) and bits & 0x80 else 1)
    sign, payload = bits >> (type_.bitwidth - 1), bits & ((1 << mantissa) - 1)
    double = sign << 63 | 0x7FF << _DOUBLE | payload << (_DOUBLE - mantissa)
    return struct.unpack("<d", struct.pack("<Q", double))[0]


def bits_of_float(value: float, type_: AnyFloat) -> int:
    """Return the bit pattern that a float is in a type; a payload that does not fit is cut."""
    packed = int.from_bytes(type_.pack((value,)), "little")
    mantissa = _MANTISSAS.get(type(type_))
    if not math.isnan(value):
        return packed
    if mantissa is None:
        is_negative = _has_signed_nan(type_) and math.copysign(1, value) < 0
        return packed | 0x80 if is_negative else packed
    (double,) = struct.unpack("<Q", struct.pack("<d", value))
    payload = (double & ((1 << _DOUBLE) - 1)) >> (_DOUBLE - mantissa)
    exponent = (1 << (type_.bitwidth - 1)) - (1 << mantissa)
    return (double >> 63) << (type_.bitwidth - 1) | exponent | payload if payload else packed


def _has_signed_nan(type_: AnyFloat) -> bool:
    """Whether a type has two NaN that differ in their sign alone, 0x7F and 0xFF."""
    return isinstance(type_, Float8E4M3FNType)


def has_nan(attribute: Attribute) -> TypeGuard[FloatElements]:
    """Whether an attribute is a dense one of floats, some of them NaN."""
    if not isa(attribute, DenseIntOrFPElementsAttr):
        return False
    type_ = attribute.get_element_type()
    return isinstance(type_, AnyFloat) and any(
        math.isnan(value) for value in type_.iter_unpack(attribute.data.data)
    )


def element_bits(dense: FloatElements) -> list[int]:
    """Return the bit patterns of the elements of a dense attribute."""
    data, size = dense.data.data, dense.get_element_type().compile_time_size
    starts = range(0, len(data), size)
    return [int.from_bytes(data[at : at + size], "little") for at in starts]
