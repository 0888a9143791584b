"""From one element type to another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    FloatAttr,
    FloatTF32Type,
    IntegerAttr,
    StringAttr,
    f32,
    f64,
    i1,
    i64,
)
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.cuda_tile.enums import RoundingMode
from tileas_xdsl.dialects.cuda_tile.tiles import conversions as ct
from tileas_xdsl.dialects.cuda_tile.types.scalars import bit_width, name_of_scalar, widens
from tileas_xdsl.dialects.cuda_tile.types.tile_types import element_of as numbers_of
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of, tile_of
from tileas_xdsl.dialects.nv_tileaa.compute import conversions as aa
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import ROUNDING
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ReinterpretOp
from tileas_xdsl.transforms.cudatile_to_tileaa.converter import Converter, Rule
from tileas_xdsl.transforms.cudatile_to_tileaa.elementwise import nibbles
from tileas_xdsl.transforms.cudatile_to_tileaa.elementwise.floats import KEYWORDS, rounding_of
from tileas_xdsl.transforms.cudatile_to_tileaa.elementwise.integers import is_unsigned
from tileas_xdsl.transforms.cudatile_to_tileaa.types import WIDENED

Make = Callable[..., Any]

tf32 = FloatTF32Type()

_BY_SIGN: Mapping[type[Operation], tuple[Make, Make]] = {
    ct.ExtIOp: (arith.ExtSIOp, arith.ExtUIOp),
    ct.FToIOp: (arith.FPToSIOp, arith.FPToUIOp),
    ct.IToFOp: (arith.SIToFPOp, arith.UIToFPOp),
}
"""The operation on signed integers, and that on unsigned ones."""

_ADDRESSES: Mapping[type[Operation], Make] = {
    ct.IntToPtrOp: aa.IntToPtrOp,
    ct.PtrToIntOp: aa.PtrToIntOp,
    ct.PtrToPtrOp: aa.BitcastOp,
}


def _element_by_element(
    c: Converter, op: Operation, make: Make, element: Any = None
) -> Sequence[SSAValue]:
    element = element or element_of(c.type(op.results[0]))
    operand = c.get(op.operands[0])

    def body(value: SSAValue) -> SSAValue:
        return c.insert(make(value, element)).result

    return [c.by_element(element, [operand], body)]


def by_sign(c: Converter, op: Any) -> Sequence[SSAValue]:
    """One of two operations; floats become integers that saturate, whether asked for or not."""
    target = numbers_of(op.to.type)
    if isinstance(op, ct.ExtIOp) and numbers_of(op.from_.type) == nibbles.i4:
        wide, unsigned = element_of(c.type(op.to)), is_unsigned(op)
        return [nibbles.extended(c, c.get(op.from_), wide, unsigned=unsigned)]
    if isinstance(op, ct.IToFOp) and target == nibbles.f4:
        return [
            nibbles.rounded(
                c, _element_by_element(c, op, _BY_SIGN[type(op)][is_unsigned(op)], f32)[0]
            )
        ]
    if isinstance(op, ct.FToIOp) and element_of(c.type(op.to)) == i1:
        return [is_nonzero(c, c.get(op.from_))]
    if isinstance(op, ct.FToIOp) and op.saturating and element_of(c.type(op.to)) == i64:
        return _saturated(c, op)
    if isinstance(op, ct.IToFOp) and (limit := _overflow(c, op)) is not None:
        return _bounded(c, op, limit)
    return _element_by_element(c, op, _BY_SIGN[type(op)][is_unsigned(op)])


def _saturated(c: Converter, op: ct.FToIOp) -> Sequence[SSAValue]:
    """Integers of 64 bits, zero where there is no number: `cvt` gives zero in fewer bits only."""
    make = _BY_SIGN[ct.FToIOp][is_unsigned(op)]
    source = c.get(op.from_)
    if bit_width(element_of(source.type)) < 32:
        source = c.insert(aa.FpToFpOp(source, tile_of(f32, shape_of(source.type)))).result

    def body(value: SSAValue) -> SSAValue:
        zero = c.insert(arith.ConstantOp(IntegerAttr(0, i64))).result
        is_nan = c.insert(arith.CmpfOp(value, value, "uno")).result
        return c.insert(arith.SelectOp(is_nan, zero, c.insert(make(value, i64)).result)).result

    return [c.by_element(i64, [source], body)]


@dataclass(frozen=True)
class Overflow:
    """From where on integers are too large for a float of 8 bits."""

    limit: float
    relation: str
    """How a magnitude compares with the limit where it is too large: ties go to even."""
    result: float


_OVERFLOWS: Mapping[str, Overflow] = {
    "f8E4M3FN": Overflow(464.0, "ogt", nan),
    "f8E5M2": Overflow(61440.0, "oge", inf),
}


def _overflow(c: Converter, op: ct.IToFOp) -> Overflow | None:
    """When an integer becomes infinite or NaN, as conversions of PTX saturate; None if never."""
    source, target = (element_of(c.type(value)) for value in (op.from_, op.to))
    found = _OVERFLOWS.get(name_of_scalar(target))
    largest = 1 << (bit_width(source) - (not is_unsigned(op)))
    return found if found is not None and largest > found.limit else None


def _bounded(c: Converter, op: ct.IToFOp, overflow: Overflow) -> Sequence[SSAValue]:
    """Integers as floats of 8 bits; those that are too large by the text of `itof`."""
    make = _BY_SIGN[ct.IToFOp][is_unsigned(op)]
    target: Any = element_of(c.type(op.to))

    def body(value: SSAValue) -> SSAValue:
        size = c.insert(make(value, f32)).result
        above = c.insert(arith.ConstantOp(FloatAttr(overflow.limit, f32))).result
        found, results = c.insert(make(value, target)).result, [(above, overflow.result)]
        if not is_unsigned(op):
            below = c.insert(arith.ConstantOp(FloatAttr(-overflow.limit, f32))).result
            results.append((below, -overflow.result))
        for limit, result in results:
            relation = overflow.relation if limit is above else overflow.relation.replace("g", "l")
            is_past = c.insert(arith.CmpfOp(size, limit, relation)).result
            other = c.insert(arith.ConstantOp(FloatAttr(result, target))).result
            found = c.insert(arith.SelectOp(is_past, other, found)).result
        return found

    return [c.by_element(target, [c.get(op.from_)], body)]


def is_nonzero(c: Converter, operand: SSAValue) -> SSAValue:
    """Floats as booleans: whatever is not zero is true, NaN too (cuTile, as numpy and torch)."""
    if bit_width(element_of(operand.type)) < 32:
        # Scales have no zero to compare with.
        operand = c.insert(aa.FpToFpOp(operand, tile_of(f32, shape_of(operand.type)))).result
    type_ = f64 if element_of(operand.type) == f64 else f32

    def body(value: SSAValue) -> SSAValue:
        zero = c.insert(arith.ConstantOp(FloatAttr(0.0, type_))).result
        return c.insert(arith.CmpfOp(value, zero, "une")).result

    return c.by_element(i1, [operand], body)


def truncated(c: Converter, op: ct.TruncIOp) -> Sequence[SSAValue]:
    """The low bits."""
    if numbers_of(op.to.type) == nibbles.i4:
        return [nibbles.truncated(c, c.get(op.from_))]
    return _element_by_element(c, op, arith.TruncIOp)


def float_to_float(c: Converter, op: ct.FToFOp) -> Sequence[SSAValue]:
    """Another float type; where all numbers are there anyway, how it is rounded is no matter."""
    if numbers_of(op.to.type) == nibbles.f4:
        return [nibbles.rounded(c, c.get(op.from_))]
    source, target = (element_of(c.type(value)) for value in (op.from_, op.to))
    if source == target:
        return [c.get(op.from_)]
    made = aa.FpToFpOp(c.get(op.from_), c.type(op.to))
    mode = rounding_of(op)
    if mode is not RoundingMode.NEAREST_EVEN and not widens(source, target):
        made.attributes[ROUNDING] = StringAttr(KEYWORDS[mode])
    return [c.insert(made).result]


def bits(c: Converter, op: ct.BitcastOp) -> Sequence[SSAValue]:
    """The same bits."""
    source, type_ = c.get(op.source), c.type(op.result)
    if source.type == type_:
        return [source]
    return [c.insert(arith.BitcastOp(source, type_)).result]


def address(c: Converter, op: Any) -> Sequence[SSAValue]:
    """From or to addresses."""
    source, type_ = c.get(op.source), c.type(op.result)
    if source.type == type_:
        return [source]
    return [c.insert(_ADDRESSES[type(op)](source, type_)).result]


def packed(c: Converter, op: ct.PackOp | ct.UnpackOp) -> Sequence[SSAValue]:
    """The bits of a whole tile as other elements; tf32 has the bits of f32, but for the last."""
    source, type_ = c.get(op.source), c.type(op.result)
    before, after = numbers_of(op.source.type), numbers_of(op.result.type)
    if before in WIDENED:
        return [nibbles.packed(c, source, before)]
    if after in WIDENED:
        return [nibbles.unpacked(c, source, after, type_)]
    if element_of(source.type) == tf32:
        source = c.insert(aa.FpToFpOp(source, tile_of(f32, shape_of(source.type)))).result
    if element_of(type_) != tf32:
        return [c.insert(ReinterpretOp(source, type_)).result]
    words = c.insert(ReinterpretOp(source, tile_of(f32, shape_of(type_)))).result
    made = aa.FpToFpOp(words, type_)
    made.attributes[ROUNDING] = StringAttr(KEYWORDS[RoundingMode.ZERO])
    return [c.insert(made).result]


CONVERSIONS: Mapping[type[Operation], Rule] = {
    **dict.fromkeys(_ADDRESSES, address),
    **dict.fromkeys(_BY_SIGN, by_sign),
    ct.BitcastOp: bits,
    ct.FToFOp: float_to_float,
    ct.PackOp: packed,
    ct.TruncIOp: truncated,
    ct.UnpackOp: packed,
}
