"""Elements of 4 bits: below Tile IR each has a byte of its own.

`i4` becomes `i8` with the same number, `f4E2M1FN` becomes `f8E4M3FN`, which has all of its numbers;
`pack` and `unpack` convert two elements at once, in the bytes of 16 bits:

    unpack %b : tile<16xi8>   ->   %n = (b | b << 4) & 0x0f0f : tensor<16xi16>
        -> tile<32xi4>             %r = reinterpret %n : tensor<16xi16> -> tensor<32xi8>

In memory two elements share a byte, which no pointer reaches: bytes are loaded, and unpacked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    Float4E2M1FNType,
    Float8E4M3FNType,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    f32,
    f64,
    i8,
    i16,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of, tile_of
from tileas_xdsl.dialects.nv_tileaa.compute.conversions import FpToFpOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ReinterpretOp
from tileas_xdsl.transforms.cudatile_to_tileaa.converter import Converter
from tileas_xdsl.transforms.cudatile_to_tileaa.types import WIDENED

i4, f4 = IntegerType(4), Float4E2M1FNType()
MASK = 0xF
LARGEST = 6.0
"""The largest number of f4E2M1FN."""


def check_whole_bytes(op: Operation, element: Attribute) -> None:
    """Raise where an operation reaches elements of 4 bits in memory."""
    if element in WIDENED:
        text = f"reaches elements {element} in memory, where two share a byte"
        raise op_error(op, f"{text}; access bytes, and pack or unpack them")


@dataclass(frozen=True)
class _Lanes:
    """Computes with both bytes of integers of 16 bits."""

    c: Converter

    def constant(self, number: int) -> SSAValue:
        signed = number - (1 << 16) if number >> 15 else number
        return self.c.insert(arith.ConstantOp(IntegerAttr(signed, i16))).result

    def of(self, make: Callable[..., Any], a: SSAValue, b: SSAValue | int) -> SSAValue:
        other = self.constant(b) if isinstance(b, int) else b
        return self.c.insert(make(a, other)).result

    def both(self, a: SSAValue, b: SSAValue | int) -> SSAValue:
        return self.of(arith.AndIOp, a, b)

    def either(self, a: SSAValue, b: SSAValue | int) -> SSAValue:
        return self.of(arith.OrIOp, a, b)

    def right(self, a: SSAValue, by: int) -> SSAValue:
        return self.of(arith.ShRUIOp, a, by)

    def times(self, a: SSAValue, factor: int) -> SSAValue:
        return self.of(arith.MuliOp, a, factor)

    def any_bit(self, a: SSAValue, shifts: Sequence[int]) -> SSAValue:
        """One in each byte that has one of these bits."""
        found = self.right(a, shifts[0])
        for shift in shifts[1:]:
            found = self.either(found, self.right(a, shift))
        return self.both(found, 0x0101)


def _integers_of(lanes: _Lanes, nibbles: SSAValue) -> SSAValue:
    """Bytes with the sign of 4 bits: bit 3 in the four bits above it, 8 * 0x1e."""
    return lanes.either(nibbles, lanes.times(lanes.both(nibbles, 0x0808), 0x1E))


def _floats_of(lanes: _Lanes, nibbles: SSAValue) -> SSAValue:
    """f8E4M3FN: s.ee.m is s.0eeem00 with a larger bias, 0x30 + 4 * eem; 0.5 is 0x30, 0 is 0."""
    size = lanes.both(nibbles, 0x0707)
    sign = lanes.times(lanes.both(nibbles, 0x0808), 16)
    normal, any_ = lanes.any_bit(size, (1, 2)), lanes.any_bit(size, (0, 1, 2))
    half = lanes.of(arith.SubiOp, any_, normal)
    scaled = lanes.times(lanes.of(arith.SubiOp, size, half), 4)
    return lanes.either(sign, lanes.of(arith.AddiOp, scaled, lanes.times(any_, 0x30)))


def _of_integers(lanes: _Lanes, values: SSAValue) -> SSAValue:
    return lanes.both(values, 0x0F0F)


def _of_floats(lanes: _Lanes, values: SSAValue) -> SSAValue:
    """The other way: eem is (size - 0x30) / 4, but 1 for 0.5."""
    size = lanes.both(lanes.right(lanes.both(values, 0x7F7F), 2), 0x1F1F)
    sign = lanes.both(lanes.right(values, 4), 0x0808)
    any_ = lanes.any_bit(size, (2, 3, 4))
    code = lanes.of(arith.SubiOp, size, lanes.times(any_, 0x0C))
    half = lanes.of(arith.SubiOp, any_, lanes.any_bit(code, (0, 1, 2)))
    return lanes.either(sign, lanes.of(arith.AddiOp, code, half))


Convert = Callable[[_Lanes, SSAValue], SSAValue]
_FROM_NIBBLES: Mapping[Attribute, Convert] = {i4: _integers_of, f4: _floats_of}
_TO_NIBBLES: Mapping[Attribute, Convert] = {i4: _of_integers, f4: _of_floats}


def unpacked(c: Converter, source: SSAValue, element: Attribute, type_: Attribute) -> SSAValue:
    """The elements of bytes, the one in the low bits first."""
    lanes = _Lanes(c)

    def body(byte: SSAValue) -> SSAValue:
        wide = c.insert(arith.ExtUIOp(byte, i16)).result
        nibbles = lanes.both(lanes.either(wide, lanes.times(wide, 16)), 0x0F0F)
        return _FROM_NIBBLES[element](lanes, nibbles)

    return c.insert(ReinterpretOp(c.by_element(i16, [source], body), type_)).result


def packed(c: Converter, source: SSAValue, element: Attribute) -> SSAValue:
    """The bytes of pairs of elements."""
    (count,) = shape_of(source.type)
    pairs = c.insert(ReinterpretOp(source, tile_of(i16, [count // 2]))).result
    lanes = _Lanes(c)

    def body(pair: SSAValue) -> SSAValue:
        nibbles = _TO_NIBBLES[element](lanes, pair)
        byte = lanes.either(nibbles, lanes.right(nibbles, 4))
        return c.insert(arith.TruncIOp(byte, i8)).result

    return c.by_element(i8, [pairs], body)


def extended(c: Converter, source: SSAValue, element: Any, *, unsigned: bool) -> SSAValue:
    """`i4`, in a byte, as a wider integer."""

    def body(value: SSAValue) -> SSAValue:
        if unsigned:
            mask = c.insert(arith.ConstantOp(IntegerAttr(MASK, i8))).result
            value = c.insert(arith.AndIOp(value, mask)).result
        return value if element == i8 else c.insert(arith.ExtSIOp(value, element)).result

    return c.by_element(element, [source], body)


def truncated(c: Converter, source: SSAValue) -> SSAValue:
    """The low 4 bits of an integer, with their sign, in a byte."""

    def body(value: SSAValue) -> SSAValue:
        if value.type != i8:
            value = c.insert(arith.TruncIOp(value, i8)).result
        four = c.insert(arith.ConstantOp(IntegerAttr(4, i8))).result
        high = c.insert(arith.ShLIOp(value, four)).result
        return c.insert(arith.ShRSIOp(high, four)).result

    return c.by_element(i8, [source], body)


def rounded(c: Converter, source: SSAValue) -> SSAValue:
    """Floats as numbers of f4E2M1FN, to nearest even, saturated; NaN is the largest number.

    Adding and subtracting a power of two rounds to the distance of neighbours at that power: half
    of one up to 2, one up to 4, two from there on.
    """
    type_: Any = f64 if element_of(source.type) == f64 else f32
    if element_of(source.type) != type_:
        source = c.insert(FpToFpOp(source, tile_of(type_, shape_of(source.type)))).result
    digits = 52 if type_ == f64 else 23

    def constant(number: float) -> SSAValue:
        return c.insert(arith.ConstantOp(FloatAttr(number, type_))).result

    def body(value: SSAValue) -> SSAValue:
        size = c.insert(arith.MinnumfOp(c.insert(math.AbsFOp(value)).result, constant(LARGEST)))
        found = _to_multiples(c, size.result, constant(2.0 ** (digits + 1)))
        for limit, power in ((4.0, digits), (2.0, digits - 1)):
            finer = _to_multiples(c, size.result, constant(2.0**power))
            below = c.insert(arith.CmpfOp(size.result, constant(limit), "olt")).result
            found = c.insert(arith.SelectOp(below, finer, found)).result
        signed = c.insert(math.CopySignOp(found, value)).result
        is_nan = c.insert(arith.CmpfOp(value, value, "uno")).result
        chosen = c.insert(arith.SelectOp(is_nan, constant(LARGEST), signed)).result
        return c.insert(arith.TruncFOp(chosen, Float8E4M3FNType())).result

    return c.by_element(Float8E4M3FNType(), [source], body)


def _to_multiples(c: Converter, value: SSAValue, power: SSAValue) -> SSAValue:
    above = c.insert(arith.AddfOp(value, power)).result
    return c.insert(arith.SubfOp(above, power)).result
