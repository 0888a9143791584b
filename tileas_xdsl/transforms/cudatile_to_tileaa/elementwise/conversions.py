"""Convert Tile IR casts between element types.

    %e = ftoi %d signed : tile<4xf32> -> tile<4xi32>     %e = arith.fptosi %d
    %f = ftof %d : tile<4xf32> -> tile<4xf16>            %f = nv_tileaa.fp_to_fp %d

Special cases are where Tile IR states a result and `cvt` of PTX gives another one:

* float to i64 of NaN is 0 in Tile IR; `cvt` gives 0 only in up to 32 bits;
* an integer beyond the range of an 8-bit float becomes NaN or infinity; `cvt.satfinite` gives the
  largest finite value;
* 4-bit types are stored in bytes (`nibbles.py`); tf32 is stored as f32.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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

from tileas_xdsl.data_classes import dataclass
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


def _map_elements(
    c: Converter, op: Operation, make: Make, element: Any = None
) -> Sequence[SSAValue]:
    element = element or element_of(c.type(op.results[0]))
    operand = c.get(op.operands[0])

    def body(value: SSAValue) -> SSAValue:
        return c.insert(make(value, element)).result

    return [c.by_element(element, [operand], body)]


def by_sign(c: Converter, op: Any) -> Sequence[SSAValue]:
    """Convert by the signed or unsigned operation; floats saturate to integers in any case."""
    target = numbers_of(op.to.type)
    if isinstance(op, ct.ExtIOp) and numbers_of(op.from_.type) == nibbles.i4:
        wide, unsigned = element_of(c.type(op.to)), is_unsigned(op)
        return [nibbles.extended(c, c.get(op.from_), wide, unsigned=unsigned)]
    if isinstance(op, ct.IToFOp) and target == nibbles.f4:
        return [
            nibbles.rounded(c, _map_elements(c, op, _BY_SIGN[type(op)][is_unsigned(op)], f32)[0])
        ]
    if isinstance(op, ct.FToIOp) and element_of(c.type(op.to)) == i1:
        return [is_nonzero(c, c.get(op.from_))]
    if isinstance(op, ct.FToIOp) and op.saturating and element_of(c.type(op.to)) == i64:
        return _saturated(c, op)
    if isinstance(op, ct.IToFOp) and (limit := _overflow(c, op)) is not None:
        return _bounded(c, op, limit)
    return _map_elements(c, op, _BY_SIGN[type(op)][is_unsigned(op)])


def _saturated(c: Converter, op: ct.FToIOp) -> Sequence[SSAValue]:
    """Convert to i64, with 0 for NaN."""
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
    """The magnitude from which an integer exceeds the range of an 8-bit float."""

    limit: float
    relation: str
    """The predicate `magnitude ? limit` of an overflow; ties go to even."""
    result: float


_OVERFLOWS: Mapping[str, Overflow] = {
    # The midpoint between the largest finite value and the next step. 448 has an even mantissa,
    # so the tie at 464 stays finite; 57344 an odd one, so the tie at 61440 overflows.
    "f8E4M3FN": Overflow(464.0, "ogt", nan),
    "f8E5M2": Overflow(61440.0, "oge", inf),
}


def _overflow(c: Converter, op: ct.IToFOp) -> Overflow | None:
    """Return the overflow rule of an integer-to-float cast; None if it cannot overflow."""
    source, target = (element_of(c.type(value)) for value in (op.from_, op.to))
    found = _OVERFLOWS.get(name_of_scalar(target))
    largest = 1 << (bit_width(source) - (not is_unsigned(op)))
    return found if found is not None and largest > found.limit else None


def _bounded(c: Converter, op: ct.IToFOp, overflow: Overflow) -> Sequence[SSAValue]:
    """Convert to an 8-bit float, with NaN or infinity beyond its range as `itof` states."""
    make = _BY_SIGN[ct.IToFOp][is_unsigned(op)]
    target: Any = element_of(c.type(op.to))

    def body(value: SSAValue) -> SSAValue:
        magnitude = c.insert(make(value, f32)).result
        above = c.insert(arith.ConstantOp(FloatAttr(overflow.limit, f32))).result
        found, results = c.insert(make(value, target)).result, [(above, overflow.result)]
        if not is_unsigned(op):
            below = c.insert(arith.ConstantOp(FloatAttr(-overflow.limit, f32))).result
            results.append((below, -overflow.result))
        for limit, result in results:
            relation = overflow.relation if limit is above else overflow.relation.replace("g", "l")
            is_past = c.insert(arith.CmpfOp(magnitude, limit, relation)).result
            other = c.insert(arith.ConstantOp(FloatAttr(result, target))).result
            found = c.insert(arith.SelectOp(is_past, other, found)).result
        return found

    return [c.by_element(target, [c.get(op.from_)], body)]


def is_nonzero(c: Converter, operand: SSAValue) -> SSAValue:
    """Convert a float to a boolean: NaN is true (as in cuTile, numpy and torch)."""
    if bit_width(element_of(operand.type)) < 32:
        # Scales have no zero to compare with.
        operand = c.insert(aa.FpToFpOp(operand, tile_of(f32, shape_of(operand.type)))).result
    type_ = f64 if element_of(operand.type) == f64 else f32

    def body(value: SSAValue) -> SSAValue:
        zero = c.insert(arith.ConstantOp(FloatAttr(0.0, type_))).result
        return c.insert(arith.CmpfOp(value, zero, "une")).result

    return c.by_element(i1, [operand], body)


def truncated(c: Converter, op: ct.TruncIOp) -> Sequence[SSAValue]:
    """Keep the low bits of an integer."""
    if numbers_of(op.to.type) == nibbles.i4:
        return [nibbles.truncated(c, c.get(op.from_))]
    return _map_elements(c, op, arith.TruncIOp)


def float_to_float(c: Converter, op: ct.FToFOp) -> Sequence[SSAValue]:
    """Convert between float types; a rounding mode is kept only where values can be lost."""
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
    """Convert a bitcast."""
    source, type_ = c.get(op.source), c.type(op.result)
    if source.type == type_:
        return [source]
    return [c.insert(arith.BitcastOp(source, type_)).result]


def address(c: Converter, op: Any) -> Sequence[SSAValue]:
    """Convert between integers and pointers."""
    source, type_ = c.get(op.source), c.type(op.result)
    if source.type == type_:
        return [source]
    return [c.insert(_ADDRESSES[type(op)](source, type_)).result]


def packed(c: Converter, op: ct.PackOp | ct.UnpackOp) -> Sequence[SSAValue]:
    """Reinterpret the bytes of a whole tile as other elements.

    tf32 is stored as f32 whose low 13 bits are ignored: truncation restores the type.
    """
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
