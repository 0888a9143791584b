"""Warp shuffles of scalars of any width, in 32-bit parts."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, Float32Type, IndexType, IntegerType, i32, i64
from xdsl.ir import SSAValue

from tileas_xdsl.dialects.cute_nvgpu import ShuffleOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.units import WORD_BITS
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import cast_index, i64_constant


def across(e: ThreadBuilder, value: SSAValue, distance: int) -> SSAValue:
    """The value of the lane whose number differs in the bits of `distance`."""
    return _as_words(e, value, lambda word: e.insert(ShuffleOp(word, distance)).result)


def of_lane(e: ThreadBuilder, value: SSAValue, lane: SSAValue) -> SSAValue:
    """The value of the lane with a number, `i32`."""
    return _as_words(e, value, lambda word: e.insert(ShuffleOp(word, lane, "idx")).result)


def _as_words(e: ThreadBuilder, value: SSAValue, move: Callable[[SSAValue], SSAValue]) -> SSAValue:
    type_ = value.type
    if type_ == i32 or isinstance(type_, Float32Type):
        return move(value)
    if isinstance(type_, IndexType):
        return cast_index(e, move(cast_index(e, value, i32)), type_)
    if isinstance(type_, AnyFloat):
        bits = IntegerType(bits_of(type_))
        moved = _as_words(e, e.insert(arith.BitcastOp(value, bits)).result, move)
        return e.insert(arith.BitcastOp(moved, type_)).result
    if type_ == i64:
        return _halves(e, value, move)
    wide = e.insert(arith.ExtUIOp(value, i32)).result
    return e.insert(arith.TruncIOp(move(wide), IntegerType(bits_of(type_)))).result


def _halves(e: ThreadBuilder, value: SSAValue, move: Callable[[SSAValue], SSAValue]) -> SSAValue:
    shift = i64_constant(e, WORD_BITS)
    upper = e.insert(arith.ShRUIOp(value, shift)).result
    words = [move(e.insert(arith.TruncIOp(half, i32)).result) for half in (value, upper)]
    low, high = (e.insert(arith.ExtUIOp(word, i64)).result for word in words)
    return e.insert(arith.OrIOp(low, e.insert(arith.ShLIOp(high, shift)).result)).result
