"""Conversions of scalars: between integers and indices, floats, booleans and their bytes."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, f32, i1, i32, i64
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.dialects.element_bits import bits_of
from tileas_xdsl.frontend.tilelang.emitter import Emitter
from tileas_xdsl.frontend.tilelang.scalars.element_types import is_unsigned


def converted(
    emitter: Emitter, value: SSAValue, source: str, target: Attribute, dtype: str
) -> SSAValue:
    """A value of dtype `source` as the type `target`, which stands for `dtype`."""
    if value.type == target:
        return value
    if target == i1:
        return _nonzero(emitter, value)
    is_float = isinstance(value.type, AnyFloat)
    if isinstance(target, AnyFloat):
        if is_float:
            return _between_floats(emitter, value, target)
        return _to_float(emitter, value, source, target)
    if is_float:
        return _to_integer(emitter, value, target, dtype)
    return resized(emitter, value, target, is_unsigned=is_unsigned(source))


def resized(emitter: Emitter, value: SSAValue, target: Attribute, *, is_unsigned: bool) -> SSAValue:
    """An integer or index as another one; wider ones repeat the sign unless unsigned."""
    if value.type == target:
        return value
    if isinstance(target, IndexType):
        wide = (
            resized(emitter, value, i32, is_unsigned=is_unsigned)
            if bits_of(value.type) < 32
            else value
        )
        return emitter.insert(arith.IndexCastOp(wide, target)).result
    if isinstance(value.type, IndexType):
        if bits_of(target) >= 32:
            return emitter.insert(arith.IndexCastOp(value, target)).result
        integer = emitter.insert(arith.IndexCastOp(value, i32)).result
        return resized(emitter, integer, target, is_unsigned=is_unsigned)
    if bits_of(target) < bits_of(value.type):
        return emitter.insert(arith.TruncIOp(value, IntegerType(bits_of(target)))).result
    wider = arith.ExtUIOp if is_unsigned else arith.ExtSIOp
    return emitter.insert(wider(value, IntegerType(bits_of(target)))).result


def _nonzero(emitter: Emitter, value: SSAValue) -> SSAValue:
    zero = emitter.constant(0, value.type)
    if isinstance(value.type, AnyFloat):
        return emitter.insert(arith.CmpfOp(value, zero, "une")).result
    return emitter.insert(arith.CmpiOp(value, zero, "ne")).result


def _between_floats(emitter: Emitter, value: SSAValue, target: AnyFloat) -> SSAValue:
    """Floats of equal width, as bf16 and f16, go through f32."""
    assert isinstance(value.type, AnyFloat)
    if value.type.bitwidth == target.bitwidth:
        wide = emitter.insert(arith.ExtFOp(value, f32)).result
        return emitter.insert(arith.TruncFOp(wide, target)).result
    made = arith.ExtFOp if value.type.bitwidth < target.bitwidth else arith.TruncFOp
    return emitter.insert(made(value, target)).result


def _to_float(emitter: Emitter, value: SSAValue, source: str, target: AnyFloat) -> SSAValue:
    """An index is an i32 first: `arith` has no conversion of it."""
    if isinstance(value.type, IndexType):
        value = emitter.insert(arith.IndexCastOp(value, i64 if source == "int64" else i32)).result
    made = arith.UIToFPOp if is_unsigned(source) else arith.SIToFPOp
    return emitter.insert(made(value, target)).result


def _to_integer(emitter: Emitter, value: SSAValue, target: Attribute, dtype: str) -> SSAValue:
    if isinstance(target, IndexType):
        integer = emitter.insert(arith.FPToSIOp(value, i32)).result
        return emitter.insert(arith.IndexCastOp(integer, target)).result
    made = arith.FPToUIOp if is_unsigned(dtype) else arith.FPToSIOp
    return emitter.insert(made(value, IntegerType(bits_of(target)))).result
