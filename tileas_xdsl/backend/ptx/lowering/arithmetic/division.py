"""Division of integers; by constants without dividing.

Source of the multipliers: H. Warren, Hacker's Delight, chapter 10.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.backend.ptx.lowering.arithmetic.integers import (
    constant_integer,
    register_bits,
    whole_integers,
)
from tileas_xdsl.backend.ptx.lowering.convert import gather, spread
from tileas_xdsl.backend.ptx.lowering.forms import Form
from tileas_xdsl.backend.ptx.lowering.lowering import Handler, Lowering
from tileas_xdsl.dialects import ptx
from tileas_xdsl.layout.integers import is_power_of_two

Division = arith.DivUIOp | arith.DivSIOp | arith.RemUIOp | arith.RemSIOp


def unsigned_multiplier(divisor: int, bits: int) -> tuple[int, int, bool]:
    """`(m, shift, add)` so that every x // divisor is `mul.hi(x, m)`, corrected and shifted.

    Where `add` holds the multiplier is `m + 2**bits`, and the sum is `((x - q) >> 1) + q`.
    """
    log = (divisor - 1).bit_length()
    multiplier = (2 ** (bits + log) + divisor - 1) // divisor
    shift = log
    while multiplier % 2 == 0 and shift:
        multiplier //= 2
        shift -= 1
    if multiplier >> bits:
        return multiplier - 2**bits, shift - 1, True
    return multiplier, shift, False


def signed_multiplier(divisor: int, bits: int) -> tuple[int, int]:
    """`(m, shift)` so that x / divisor rounded down is `mul.hi(x, m)` shifted, for x >= 0.

    `m` may exceed the positive numbers of `bits` bits: then x is added to the product.
    """
    shift = max(0, (divisor - 1).bit_length() - 1)
    multiplier = 2 ** (bits + shift) // divisor + 1
    return multiplier, shift


class _Divider:
    """Emits a division by one divisor."""

    def __init__(self, low: Lowering, bits: int) -> None:
        self.low, self.bits = low, bits

    def _constant(self, number: int) -> SSAValue:
        return self.low.constant(number, f"b{self.bits}")

    def _shift(self, value: SSAValue, amount: int, sign: str) -> SSAValue:
        if amount == 0:
            return value
        return self.low.emit(ptx.ShrOp(value, self.low.constant(amount), f"{sign}{self.bits}"))

    def unsigned(self, value: SSAValue, divisor: int) -> SSAValue:
        """`value / divisor`."""
        if is_power_of_two(divisor):
            return self._shift(value, divisor.bit_length() - 1, "u")
        low, type_ = self.low, f"u{self.bits}"
        multiplier, shift, add = unsigned_multiplier(divisor, self.bits)
        high = low.emit(ptx.MulOp(value, self._constant(multiplier), type_, mode="hi"))
        if not add:
            return self._shift(high, shift, "u")
        half = self._shift(low.emit(ptx.SubOp(value, high, type_)), 1, "u")
        return self._shift(low.emit(ptx.AddOp(half, high, type_)), shift, "u")

    def signed(self, value: SSAValue, divisor: int) -> SSAValue:
        """`value / divisor`, towards zero."""
        low, type_ = self.low, f"s{self.bits}"
        size = abs(divisor)
        if is_power_of_two(size):
            quotient = self._signed_shift(value, size.bit_length() - 1)
        else:
            quotient = self._signed_multiply(value, size)
        return quotient if divisor > 0 else low.emit(ptx.NegOp(quotient, type_))

    def _signed_shift(self, value: SSAValue, amount: int) -> SSAValue:
        if amount == 0:
            return value
        sign = self._shift(value, self.bits - 1, "s")
        bias = self._shift(sign, self.bits - amount, "u")
        biased = self.low.emit(ptx.AddOp(value, bias, f"s{self.bits}"))
        return self._shift(biased, amount, "s")

    def _signed_multiply(self, value: SSAValue, divisor: int) -> SSAValue:
        low, type_ = self.low, f"s{self.bits}"
        multiplier, shift = signed_multiplier(divisor, self.bits)
        wrapped = multiplier - 2**self.bits if multiplier >> (self.bits - 1) else multiplier
        high = low.emit(ptx.MulOp(value, self._constant(wrapped), type_, mode="hi"))
        if wrapped < 0:
            high = low.emit(ptx.AddOp(high, value, type_))
        rounded = self._shift(high, shift, "s")
        negative = self._shift(value, self.bits - 1, "u")
        return low.emit(ptx.AddOp(rounded, negative, type_))

    def by_constant(self, value: SSAValue, divisor: int, sign: str) -> SSAValue:
        """`value / divisor`; unsigned divisors are read as such."""
        if sign == "u":
            return self.unsigned(value, divisor % 2**self.bits)
        return self.signed(value, divisor)

    def remainder(self, value: SSAValue, divisor: int, sign: str) -> SSAValue:
        """`value` modulo `divisor`, with the sign of the value."""
        if sign == "u" and is_power_of_two(divisor):
            mask = self._constant(divisor - 1)
            return self.low.emit(ptx.AndOp(value, mask, f"b{self.bits}"))
        quotient = self.by_constant(value, divisor, sign)
        product = self.low.emit(
            ptx.MulOp(quotient, self._constant(divisor), f"s{self.bits}", mode="lo")
        )
        return self.low.emit(ptx.SubOp(value, product, f"s{self.bits}"))


_SIGNS: Mapping[type[Operation], str] = {
    arith.DivUIOp: "u",
    arith.DivSIOp: "s",
    arith.RemUIOp: "u",
    arith.RemSIOp: "s",
}
_REMAINDERS = (arith.RemUIOp, arith.RemSIOp)


def _divide(op: Division, low: Lowering) -> None:
    form, sign = low.form(op.result), _SIGNS[type(op)]
    whole_integers(low, form)
    is_remainder = isinstance(op, _REMAINDERS)
    divisor = constant_integer(op.rhs)
    if divisor == 0:
        raise low.error("divides by zero")
    value, bits = spread(low, low.value(op.lhs), form, sign), register_bits(form)
    if divisor is None or bits == 16:
        instruction = ptx.RemOp if is_remainder else ptx.DivOp
        by = spread(low, low.value(op.rhs), form, sign)
        result = low.emit(instruction(value, by, f"{sign}{bits}"))
    else:
        divider = _Divider(low, bits)
        divide = divider.remainder if is_remainder else divider.by_constant
        result = divide(value, divisor, sign)
    low.define(op.result, gather(low, result, form))


def _ceiling_unsigned(op: arith.CeilDivUIOp, low: Lowering) -> None:
    """`min(a, 1) + (a - min(a, 1)) / b`: nothing overflows."""
    form = low.form(op.result)
    whole_integers(low, form)
    bits = register_bits(form)
    type_ = f"u{bits}"
    value = spread(low, low.value(op.lhs), form)
    one = low.emit(ptx.MinOp(value, low.constant(1, f"b{bits}"), type_))
    rest = low.emit(ptx.SubOp(value, one, type_))
    quotient = _quotient(low, rest, op.rhs, form, "u")
    low.define(op.result, gather(low, low.emit(ptx.AddOp(quotient, one, type_)), form))


def _quotient(low: Lowering, value: SSAValue, by: SSAValue, form: Form, sign: str) -> SSAValue:
    divisor, bits = constant_integer(by), register_bits(form)
    if divisor == 0:
        raise low.error("divides by zero")
    if divisor is not None and bits != 16:
        return _Divider(low, bits).by_constant(value, divisor, sign)
    return low.emit(ptx.DivOp(value, spread(low, low.value(by), form, sign), f"{sign}{bits}"))


def _rounded(op: arith.FloorDivSIOp | arith.CeilDivSIOp, low: Lowering) -> None:
    """The quotient towards zero, one less or more where it was rounded the other way."""
    form = low.form(op.result)
    whole_integers(low, form)
    bits, down = register_bits(form), isinstance(op, arith.FloorDivSIOp)
    type_, zero = f"s{bits}", low.constant(0, f"b{bits}")
    value, divisor = (spread(low, low.value(v), form, "s") for v in (op.lhs, op.rhs))
    quotient = _quotient(low, value, op.rhs, form, "s")
    product = low.emit(ptx.MulOp(quotient, divisor, type_, mode="lo"))
    rest = low.emit(ptx.SubOp(value, product, type_))
    signs = low.emit(ptx.XorOp(value, divisor, f"b{bits}"))
    other_way = low.emit(ptx.SetpOp(signs, zero, "lt" if down else "ge", type_))
    inexact = low.emit(ptx.SetpOp(rest, zero, "ne", type_))
    correct = low.emit(ptx.AndOp(other_way, inexact, "pred"))
    step = low.constant(-1 if down else 1, f"b{bits}")
    moved = low.emit(ptx.AddOp(quotient, step, type_))
    result = low.emit(ptx.SelpOp(moved, quotient, correct, f"b{bits}"))
    low.define(op.result, gather(low, result, form))


HANDLERS: Mapping[type[Operation], Handler] = {
    **dict.fromkeys(_SIGNS, _divide),
    arith.CeilDivUIOp: _ceiling_unsigned,
    arith.CeilDivSIOp: _rounded,
    arith.FloorDivSIOp: _rounded,
}
