"""From one element type to another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, StringAttr, f32, f64, i1
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.cuda_tile import conversions as ct
from tileas_xdsl.dialects.cuda_tile.enums import RoundingMode
from tileas_xdsl.dialects.cuda_tile.scalars import bit_width, widens
from tileas_xdsl.dialects.nv_tileaa import conversions as aa
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of, tile_of
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import ROUNDING
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ReinterpretOp
from tileas_xdsl.transforms.cudatile_to_tileaa.converter import Converter, Rule
from tileas_xdsl.transforms.cudatile_to_tileaa.floats import KEYWORDS, rounding_of
from tileas_xdsl.transforms.cudatile_to_tileaa.integers import is_unsigned

Make = Callable[..., Any]

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


def _element_by_element(c: Converter, op: Operation, make: Make) -> Sequence[SSAValue]:
    element = element_of(c.type(op.results[0]))
    operand = c.get(op.operands[0])

    def body(value: SSAValue) -> SSAValue:
        return c.insert(make(value, element)).result

    return [c.by_element(element, [operand], body)]


def by_sign(c: Converter, op: Any) -> Sequence[SSAValue]:
    """One of two operations; floats become integers that saturate, whether asked for or not."""
    if isinstance(op, ct.FToIOp) and element_of(c.type(op.to)) == i1:
        return [is_nonzero(c, c.get(op.from_))]
    return _element_by_element(c, op, _BY_SIGN[type(op)][is_unsigned(op)])


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
    return _element_by_element(c, op, arith.TruncIOp)


def float_to_float(c: Converter, op: ct.FToFOp) -> Sequence[SSAValue]:
    """Another float type; where all numbers are there anyway, how it is rounded is no matter."""
    source, target = (element_of(c.type(value)) for value in (op.from_, op.to))
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
    """The bits of a whole tile as other elements."""
    return [c.insert(ReinterpretOp(c.get(op.source), c.type(op.result))).result]


CONVERSIONS: Mapping[type[Operation], Rule] = {
    **dict.fromkeys(_ADDRESSES, address),
    **dict.fromkeys(_BY_SIGN, by_sign),
    ct.BitcastOp: bits,
    ct.FToFOp: float_to_float,
    ct.PackOp: packed,
    ct.TruncIOp: truncated,
    ct.UnpackOp: packed,
}
