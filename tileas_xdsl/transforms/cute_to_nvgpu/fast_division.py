"""Lower division by a precomputed divisor: a multiplication and two shifts.

A prepared divisor is four integers of 32 bits: it, the multiplier and the shifts.  Formulas: see
`cute_lowering.fast_division`.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith
from xdsl.dialects.builtin import i8, i32, i64
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.cute.layout_algebra.divisibility import (
    ComputeOp,
    CreateDivisorOp,
    DivideOp,
    GetAuxOp,
    GetDivisorOp,
    MakeDivisorOp,
)
from tileas_xdsl.transforms.cute_to_nvgpu.converter import Converter, Handler

HALF = 32
"""Bits of the upper half of a product."""

POWERS = 31
"""Powers of two that a positive divisor may be more than."""


def _create(op: CreateDivisorOp, conv: Converter) -> None:
    divisor = op.divisor
    wide = conv.insert(arith.ExtUIOp(divisor, i64))
    log = conv.number(0, 32)
    for power in range(POWERS):
        more = conv.insert(arith.CmpiOp(conv.number(1 << power, 32), divisor, "slt"))
        log = conv.insert(arith.AddiOp(log, conv.insert(arith.ExtUIOp(more, i32))))
    one = conv.number(1, 64)
    power_of_two = conv.insert(arith.ShLIOp(one, conv.insert(arith.ExtUIOp(log, i64))))
    gap = conv.insert(arith.SubiOp(power_of_two, wide))
    scaled = conv.insert(arith.ShLIOp(gap, conv.number(HALF, 64)))
    quotient = conv.insert(arith.DivUIOp(scaled, wide))
    multiplier = conv.insert(arith.TruncIOp(conv.insert(arith.AddiOp(quotient, one)), i32))
    is_one = conv.insert(arith.CmpiOp(log, conv.number(0, 32), "eq"))
    first = conv.insert(arith.SelectOp(is_one, conv.number(0, 32), conv.number(1, 32)))
    second = conv.insert(arith.SubiOp(log, first))
    conv.leaves[op.result] = [divisor, multiplier, first, second]
    conv.kill(op)


def _make(op: MakeDivisorOp, conv: Converter) -> None:
    shifts = (conv.insert(arith.ExtUIOp(shift, i32)) for shift in (op.shift1, op.shift2))
    conv.leaves[op.result] = [op.divisor, op.multiplier, *shifts]
    conv.kill(op)


def _get_divisor(op: GetDivisorOp, conv: Converter) -> None:
    conv.replace(op.result, conv.leaves[op.prepared][0])
    conv.kill(op)


def _get_aux(op: GetAuxOp, conv: Converter) -> None:
    _, multiplier, *shifts = conv.leaves[op.prepared]
    conv.replace(op.multiplier, multiplier)
    for result, shift in zip((op.shift1, op.shift2), shifts, strict=True):
        conv.replace(result, conv.insert(arith.TruncIOp(shift, i8)))
    conv.kill(op)


def _quotient(conv: Converter, prepared: SSAValue, dividend: SSAValue) -> SSAValue:
    _, multiplier, first, second = conv.leaves[prepared]
    factor, number = (conv.insert(arith.ExtUIOp(x, i64)) for x in (multiplier, dividend))
    product = conv.insert(arith.MuliOp(factor, number))
    high = conv.insert(arith.ShRUIOp(product, conv.number(HALF, 64)))
    upper = conv.insert(arith.TruncIOp(high, i32))
    rest = conv.insert(arith.ShRUIOp(conv.insert(arith.SubiOp(dividend, upper)), first))
    return conv.insert(arith.ShRUIOp(conv.insert(arith.AddiOp(upper, rest)), second))


def _divide(op: DivideOp, conv: Converter) -> None:
    conv.replace(op.quotient, _quotient(conv, op.prepared, op.dividend))
    conv.kill(op)


def _compute(op: ComputeOp, conv: Converter) -> None:
    quotient = _quotient(conv, op.prepared, op.dividend)
    taken = conv.insert(arith.MuliOp(quotient, conv.leaves[op.prepared][0]))
    conv.replace(op.quotient, quotient)
    conv.replace(op.remainder, conv.insert(arith.SubiOp(op.dividend, taken)))
    conv.kill(op)


DIVISIONS: Mapping[type[Operation], Handler] = {
    ComputeOp: _compute,
    CreateDivisorOp: _create,
    DivideOp: _divide,
    GetAuxOp: _get_aux,
    GetDivisorOp: _get_divisor,
    MakeDivisorOp: _make,
}
