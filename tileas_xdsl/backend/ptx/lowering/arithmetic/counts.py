"""Bit counts, absolute values, and wide sums and products (high halves)."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.backend.ptx.lowering.arithmetic.integers import register_bits, whole_integers
from tileas_xdsl.backend.ptx.lowering.convert import gather, spread
from tileas_xdsl.backend.ptx.lowering.forms import Form
from tileas_xdsl.backend.ptx.lowering.lowering import Handler, Lowering
from tileas_xdsl.dialects import ptx

Count = math.CountLeadingZerosOp | math.CountTrailingZerosOp | math.CtPopOp
Product = arith.MulSIExtendedOp | arith.MulUIExtendedOp


def _absolute(op: math.AbsIOp, low: Lowering) -> None:
    form = low.form(op.result)
    whole_integers(low, form)
    value = spread(low, low.value(op.operand), form, "s")
    result = low.emit(ptx.AbsOp(value, f"s{register_bits(form)}"))
    low.define(op.result, gather(low, result, form))


def _count(op: Count, low: Lowering) -> None:
    """In 32 or 64 bits; the count in 32, and of what is narrower less what is above it."""
    form = low.form(op.result)
    whole_integers(low, form)
    bits = max(form.bits, 32)
    value = spread(low, low.value(op.operand), form)
    if form.bits < bits:
        # Registers of 16 bits hold bytes that were extended with zeros.
        value = low.emit(ptx.CvtOp(value, "u32", "u16"))
    count = _counted(op, low, value, bits, form.bits)
    if form.bits != 32:
        count = low.emit(ptx.CvtOp(count, f"u{register_bits(form)}", "u32"))
    low.define(op.result, gather(low, count, form))


def _counted(op: Count, low: Lowering, value: SSAValue, bits: int, width: int) -> SSAValue:
    if isinstance(op, math.CtPopOp):
        return low.emit(ptx.PopcOp(value, f"b{bits}"))
    if isinstance(op, math.CountLeadingZerosOp):
        count = low.emit(ptx.ClzOp(value, f"b{bits}"))
        above = low.constant(bits - width)
        return count if width == bits else low.emit(ptx.SubOp(count, above, "s32"))
    mirrored = low.emit(ptx.BrevOp(value, f"b{bits}"))
    count = low.emit(ptx.ClzOp(mirrored, f"b{bits}"))
    return count if width == bits else low.emit(ptx.MinOp(count, low.constant(width), "u32"))


def _sum(op: arith.AddUIExtendedOp, low: Lowering) -> None:
    """There is a carry where the sum is below an operand."""
    form = low.form(op.sum)
    lhs, rhs = low.value(op.lhs), low.value(op.rhs)
    if form.kind == "pred":
        low.define(op.sum, low.emit(ptx.XorOp(lhs, rhs, "pred")))
        low.define(op.overflow, low.emit(ptx.AndOp(lhs, rhs, "pred")))
        return
    whole_integers(low, form)
    type_ = f"u{register_bits(form)}"
    lhs, rhs = spread(low, lhs, form), spread(low, rhs, form)
    total = low.emit(ptx.AddOp(lhs, rhs, type_))
    registers = gather(low, total, form)
    # A byte is read again, without what is above it.
    low.define(op.overflow, low.emit(ptx.SetpOp(spread(low, registers, form), lhs, "lt", type_)))
    low.define(op.sum, registers)


def _product(op: Product, low: Lowering) -> None:
    form = low.form(op.low)
    whole_integers(low, form)
    sign = "s" if isinstance(op, arith.MulSIExtendedOp) else "u"
    lhs, rhs = (spread(low, low.value(v), form, sign) for v in (op.lhs, op.rhs))
    type_ = f"{sign}{register_bits(form)}"
    lower = low.emit(ptx.MulOp(lhs, rhs, type_, mode="lo"))
    low.define(op.low, gather(low, lower, form))
    low.define(op.high, gather(low, _high(low, form, lower, lhs, rhs, type_), form))


def _high(
    low: Lowering, form: Form, lower: SSAValue, lhs: SSAValue, rhs: SSAValue, type_: str
) -> SSAValue:
    """The upper half; that of bytes is in the product of 16 bits."""
    if form.bits == 8:
        return low.emit(ptx.ShrOp(lower, low.constant(8), type_))
    return low.emit(ptx.MulOp(lhs, rhs, type_, mode="hi"))


HANDLERS: Mapping[type[Operation], Handler] = {
    arith.AddUIExtendedOp: _sum,
    arith.MulSIExtendedOp: _product,
    arith.MulUIExtendedOp: _product,
    math.AbsIOp: _absolute,
    math.CountLeadingZerosOp: _count,
    math.CountTrailingZerosOp: _count,
    math.CtPopOp: _count,
}
