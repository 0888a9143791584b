"""Division by a divisor that was prepared: a multiplication and two shifts, in LLVM.

Granlund and Montgomery, Division by invariant integers using multiplication, figure 4.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects import llvm
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
from tileas_xdsl.threads.index.expression_codegen import LLVM
from tileas_xdsl.transforms.cute_lowering.lowering_state import Lowering

HALF = 32


def create_divisor(op: CreateDivisorOp, low: Lowering) -> None:
    """`l = ceil(log2 d)`, `m = 2^32 * (2^l - d) / d + 1`, the shifts min(l, 1) and max(l - 1, 0).

    Granlund and Montgomery, Division by invariant integers using multiplication, figure 4.1.
    """
    divisor = low.of(op.divisor)
    wide = low.numbers.resized(divisor, 64)
    log = _ceil_log(wide, low)
    one = low.number(1)
    power = low.insert(llvm.ShlOp(one, log))
    gap = low.insert(llvm.SubOp(power, wide))
    scaled = low.insert(llvm.ShlOp(gap, low.number(HALF)))
    quotient = low.insert(llvm.UDivOp(scaled, wide))
    multiplier = low.insert(llvm.TruncOp(low.insert(llvm.AddOp(quotient, one)), i32))
    zero = low.number(0)
    is_one = low.insert(_compare(log, zero, "eq"))
    first = low.insert(llvm.SelectOp(is_one, zero, one))
    second = low.insert(llvm.SubOp(log, first))
    shifts = [low.insert(llvm.TruncOp(shift, i8)) for shift in (first, second)]
    carrier = low.carrier(op.result)
    assert carrier is not None
    parts = [((0,), divisor), ((1,), multiplier), ((2,), shifts[0]), ((3,), shifts[1])]
    low.values[op.result] = low.pack(carrier.type, parts)


def _ceil_log(wide: SSAValue, low: Lowering) -> SSAValue:
    """How many powers of two below 2^31 are less than the divisor."""
    total = low.number(0)
    for bit in range(31):
        less = low.insert(_compare(low.number(1 << bit), wide, "slt"))
        total = low.insert(llvm.AddOp(total, low.insert(llvm.ZExtOp(less, i64))))
    return total


def _compare(lhs: SSAValue, rhs: SSAValue, predicate: str) -> Operation:
    """A comparison of LLVM."""
    return LLVM.compare(lhs, rhs, predicate)


def get_divisor(op: GetDivisorOp, low: Lowering) -> None:
    """The divisor itself."""
    low.values[op.result] = low.extract(low.of(op.prepared), (0,))


def make_divisor(op: MakeDivisorOp, low: Lowering) -> None:
    """The struct of the four numbers."""
    carrier = low.carrier(op.result)
    assert carrier is not None
    parts = [((n,), low.of(value)) for n, value in enumerate(op.operands)]
    low.values[op.result] = low.pack(carrier.type, parts)


def get_aux(op: GetAuxOp, low: Lowering) -> None:
    """The numbers behind the divisor."""
    for n, result in enumerate(op.results, start=1):
        low.values[result] = low.extract(low.of(op.prepared), (n,))


def divide(op: DivideOp, low: Lowering) -> None:
    """The quotient."""
    low.values[op.quotient] = _quotient(low, low.of(op.prepared), low.of(op.dividend))


def compute(op: ComputeOp, low: Lowering) -> None:
    """The quotient, and `r = n - q * d`."""
    prepared, dividend = low.of(op.prepared), low.of(op.dividend)
    quotient = _quotient(low, prepared, dividend)
    low.values[op.quotient] = quotient
    taken = low.insert(llvm.MulOp(quotient, low.extract(prepared, (0,))))
    low.values[op.remainder] = low.insert(llvm.SubOp(dividend, taken))


def _quotient(low: Lowering, prepared: SSAValue, dividend: SSAValue) -> SSAValue:
    """`t = mulhi(m, n)`, `q = (t + ((n - t) >> s1)) >> s2`."""
    multiplier = low.extract(prepared, (1,))
    shifts = [low.insert(llvm.ZExtOp(low.extract(prepared, (n,)), i32)) for n in (2, 3)]
    factor, number = (low.insert(llvm.ZExtOp(x, i64)) for x in (multiplier, dividend))
    product = low.insert(llvm.MulOp(factor, number))
    high = low.insert(llvm.LShrOp(product, low.number(HALF)))
    upper = low.insert(llvm.TruncOp(high, i32))
    rest = low.insert(llvm.LShrOp(low.insert(llvm.SubOp(dividend, upper)), shifts[0]))
    return low.insert(llvm.LShrOp(low.insert(llvm.AddOp(upper, rest)), shifts[1]))


DIVISIONS: Mapping[type[Operation], Callable[[Any, Lowering], None]] = {
    ComputeOp: compute,
    CreateDivisorOp: create_divisor,
    DivideOp: divide,
    GetAuxOp: get_aux,
    GetDivisorOp: get_divisor,
    MakeDivisorOp: make_divisor,
}
