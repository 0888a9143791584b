"""Lower integer arithmetic, comparisons and selections of `arith`, on scalars and fragments.

PTX computes in 16, 32 and 64 bits. Bytes are extended first, by zeros or the sign as the operation
reads them, and only their low 8 bits are used afterwards (sums, products and shifts to the left
need no more of their operands); `i1` is a predicate register:

    %q = arith.shrui %i, %j : i8                  cvt.u16.u8 %h3, %h0;
                                                  cvt.u16.u8 %h4, %h1;
                                                  cvt.u32.u16 %r3, %h4;
                                                  shr.u16 %h5, %h3, %r3;
    %s = arith.addi %p, %q : i1                   xor.pred %p2, %p0, %p1;

A signed `i1` that is true is -1, so that its order is the reverse of the unsigned one. Shifts clamp
at the width, as PTX does (`shl`, `shr`: amounts above the register width are clamped to it).
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, IntegerType, i32, i64
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.backend.ptx.lowering.arithmetic.packed_integers import packed_binary, packed_shift
from tileas_xdsl.backend.ptx.lowering.convert import gather, spread, spread_low_bits
from tileas_xdsl.backend.ptx.lowering.forms import Form
from tileas_xdsl.backend.ptx.lowering.lowering import Handler, Lowering
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operands_of
from tileas_xdsl.dialects import cute, ptx
from tileas_xdsl.dialects.cute.types.elements import element_of
from tileas_xdsl.dialects.cute_nvgpu.threads.innermost_loops import LOOPS
from tileas_xdsl.dialects.dense_elements import is_splat
from tileas_xdsl.dialects.ir_queries import enclosing_ops
from tileas_xdsl.dialects.ptx.elementwise.arith import BinaryOp
from tileas_xdsl.layout.integers import is_power_of_two

SIGNED, UNSIGNED, BITS = "s", "u", "b"


@dataclass(frozen=True, slots=True)
class IntegerRule:
    """The instruction of a binary operation on integers."""

    instruction: type[BinaryOp]
    sign: str
    """The letter of the instruction's type."""
    mode: str | None = None
    predicate: type[ptx.BinaryOp] | None = None
    """The instruction on predicates."""
    wraps: bool = False
    """Whether low bits of the result depend on those of the operands alone."""


RULES: Mapping[type[Operation], IntegerRule] = {
    arith.AddiOp: IntegerRule(ptx.AddOp, SIGNED, predicate=ptx.XorOp, wraps=True),
    arith.SubiOp: IntegerRule(ptx.SubOp, SIGNED, predicate=ptx.XorOp, wraps=True),
    arith.MuliOp: IntegerRule(ptx.MulOp, SIGNED, mode="lo", predicate=ptx.AndOp, wraps=True),
    arith.MinSIOp: IntegerRule(ptx.MinOp, SIGNED, predicate=ptx.OrOp),
    arith.MaxSIOp: IntegerRule(ptx.MaxOp, SIGNED, predicate=ptx.AndOp),
    arith.MinUIOp: IntegerRule(ptx.MinOp, UNSIGNED, predicate=ptx.AndOp),
    arith.MaxUIOp: IntegerRule(ptx.MaxOp, UNSIGNED, predicate=ptx.OrOp),
}
"""Arithmetic; on one bit, true is -1 where the operation is signed."""

LOGIC: Mapping[type[Operation], type[ptx.BinaryOp]] = {
    arith.AndIOp: ptx.AndOp,
    arith.OrIOp: ptx.OrOp,
    arith.XOrIOp: ptx.XorOp,
}

SHIFTS: Mapping[type[Operation], tuple[type[ptx.BinaryOp], str]] = {
    arith.ShLIOp: (ptx.ShlOp, BITS),
    arith.ShRUIOp: (ptx.ShrOp, UNSIGNED),
    arith.ShRSIOp: (ptx.ShrOp, SIGNED),
}

COMPARISONS: tuple[tuple[str, str], ...] = (
    ("eq", SIGNED),
    ("ne", SIGNED),
    ("lt", SIGNED),
    ("le", SIGNED),
    ("gt", SIGNED),
    ("ge", SIGNED),
    ("lt", UNSIGNED),
    ("le", UNSIGNED),
    ("gt", UNSIGNED),
    ("ge", UNSIGNED),
)
"""The comparison and the sign of each predicate of `arith.cmpi`, in its order."""


def register_bits(form: Form) -> int:
    """Return the bits of the register in which an element is computed."""
    return max(form.bits, 16)


def whole_integers(low: Lowering, form: Form) -> None:
    """Raise for elements that are not integers of at least 8 bits."""
    if form.is_float or form.kind == "pred":
        raise low.error(f"PTX does not compute with {form.element} like this: extend it")


def _binary(op: arith.AddiOp, low: Lowering) -> None:
    result, (a, b) = op.result, operands_of(op)
    rule, form = RULES[type(op)], low.form(result)
    lhs, rhs = low.value(a), low.value(b)
    if form.kind == "pred" and rule.predicate is not None:
        low.define(result, low.emit(rule.predicate(lhs, rhs, "pred")))
        return
    whole_integers(low, form)
    if type(op) is arith.AddiOp and 0 in map(constant_integer, (a, b)):
        low.define(result, rhs if constant_integer(a) == 0 else lhs)
        return
    if (made := packed_binary(op, low, form)) is not None:
        low.define(result, made)
        return
    bits = register_bits(form)
    if isinstance(op, arith.MuliOp) and (halves := _extended(low, op)) is not None:
        low.define(result, low.emit(ptx.MulOp(*halves, "s32", mode="wide")))
        return
    lhs = _spread(low, lhs, form, rule)
    if isinstance(op, arith.MuliOp) and (power := power_of_two(b)) is not None:
        low.define(result, gather(low, shift_left(low, lhs, power, bits), form))
        return
    rhs = _spread(low, rhs, form, rule)
    made = low.emit(rule.instruction(lhs, rhs, f"{rule.sign}{bits}", mode=rule.mode))
    low.define(result, gather(low, made, form))


def _spread(low: Lowering, value: SSAValue, form: Form, rule: IntegerRule) -> SSAValue:
    """Put each element into a register, extended where the result depends on the high bits."""
    return spread_low_bits(low, value, form) if rule.wraps else spread(low, value, form, rule.sign)


def power_of_two(value: SSAValue) -> int | None:
    """Return k if the value is the constant 2**k (in all elements), else None."""
    number = constant_integer(value)
    if number is None or not is_power_of_two(number):
        return None
    return number.bit_length() - 1


def constant_integer(value: SSAValue) -> int | None:
    """Return the value, read as signed, of an integer constant or splat; else None."""
    op = value.owner
    if not isinstance(op, arith.ConstantOp):
        return None
    attribute = op.value
    if isinstance(attribute, DenseIntOrFPElementsAttr):
        if not is_splat(attribute):
            return None
        number = attribute.get_values()[0]
        return number if isinstance(number, int) else None
    return as_signed(attribute) if isinstance(attribute, IntegerAttr) else None


def as_signed(attribute: IntegerAttr) -> int:
    """Return the value of an attribute, wrapped to its signed width; i1 and index unchanged."""
    number, type_ = attribute.value.data, attribute.type
    if not isinstance(type_, IntegerType) or type_.width.data == 1:
        return number
    half = 1 << (type_.width.data - 1)
    return (number + half) % (2 * half) - half


def shift_left(low: Lowering, value: SSAValue, amount: int, bits: int) -> SSAValue:
    """`value << amount`, the value itself for 0."""
    if amount == 0:
        return value
    return low.emit(ptx.ShlOp(value, low.constant(amount), f"b{bits}"))


def _logic(op: arith.AndIOp, low: Lowering) -> None:
    form = low.form(op.result)
    type_ = "pred" if form.kind == "pred" else form.kind
    instruction = LOGIC[type(op)]
    low.define(op.result, low.emit(instruction(low.value(op.lhs), low.value(op.rhs), type_)))


def _shift(op: arith.ShLIOp, low: Lowering) -> None:
    form = low.form(op.result)
    whole_integers(low, form)
    instruction, sign = SHIFTS[type(op)]
    lhs, by = low.value(op.lhs), constant_integer(op.rhs)
    if sign != SIGNED and by is not None and (made := packed_shift(op, low, form, by)) is not None:
        low.define(op.result, made)
        return
    value = spread_low_bits(low, lhs, form) if sign == BITS else spread(low, lhs, form, sign)
    amount = _amount(op, low, form)
    result = low.emit(instruction(value, amount, f"{sign}{register_bits(form)}"))
    low.define(op.result, gather(low, result, form))


def _amount(op: arith.ShLIOp, low: Lowering, form: Form) -> SSAValue:
    """Return the shift amount in 32 bits; amounts past the width stay past it."""
    if (number := constant_integer(op.rhs)) is not None:
        return low.constant(number if 0 <= number < form.bits else form.bits)
    amount = spread(low, low.value(op.rhs), form)
    if form.bits == 32:
        return amount
    if form.bits == 64:
        amount = low.emit(ptx.MinOp(amount, low.constant(64, "b64"), "u64"))
    return low.emit(ptx.CvtOp(amount, "u32", f"u{register_bits(form)}"))


def _compare(op: arith.CmpiOp, low: Lowering) -> None:
    comparison, sign = COMPARISONS[op.predicate.value.data]
    form = low.form(op.lhs)
    lhs, rhs = low.value(op.lhs), low.value(op.rhs)
    if form.kind == "pred":
        low.define(op.result, _compare_bits(low, comparison, sign, lhs, rhs))
        return
    whole_integers(low, form)
    halves = _extended(low, op)
    if halves is not None:
        # Signs that are repeated keep the order, the unsigned one too.
        low.define(op.result, low.emit(ptx.SetpOp(*halves, comparison, f"{sign}32")))
        return
    lhs, rhs = spread(low, lhs, form, sign), spread(low, rhs, form, sign)
    type_ = f"{sign}{register_bits(form)}"
    low.define(op.result, low.emit(ptx.SetpOp(lhs, rhs, comparison, type_)))


def _extended(low: Lowering, op: arith.MuliOp | arith.CmpiOp) -> tuple[SSAValue, SSAValue] | None:
    """Return the registers of 32 bits that operands of 64 bits are sign-extended from.

    They live as long as those of 64 bits: after a loop that multiplies, ptxas spills for them, so
    what is around loops keeps those of 64 bits.
    """
    if not (_is_extended(op.lhs) and _is_extended(op.rhs)):
        return None
    if low.has_loops and not any(isinstance(outer, LOOPS) for outer in enclosing_ops(op)):
        return None
    return _half(low, op.lhs), _half(low, op.rhs)


def _is_extended(value: SSAValue) -> bool:
    match value.owner:
        case arith.ExtSIOp() as op:
            return element_of(op.input.type) == i32 and element_of(op.result.type) == i64
        case vector.BroadcastOp() as op:
            return _is_extended(op.source)
        case cute.MakeFragmentOp() as op:
            return all(map(_is_extended, op.parts))
        case _:
            return False


def _half(low: Lowering, value: SSAValue) -> SSAValue:
    match value.owner:
        case arith.ExtSIOp() as op:
            return low.value(op.input)
        case vector.BroadcastOp() as op:
            return low.emit(ptx.PackOp([_half(low, op.source)] * low.form(op.vector).count))
        case cute.MakeFragmentOp() as op:
            return low.emit(ptx.PackOp([_half(low, part) for part in op.parts]))
        case _:
            raise low.error("is no integer that is extended from 32 bits")


def _compare_bits(
    low: Lowering, comparison: str, sign: str, lhs: SSAValue, rhs: SSAValue
) -> SSAValue:
    """Compare predicates; signed, true is -1, so that the order is reversed."""
    if comparison in ("eq", "ne"):
        different = low.emit(ptx.XorOp(lhs, rhs, "pred"))
        return different if comparison == "ne" else low.emit(ptx.NotOp(different, "pred"))
    if (comparison[0] == "g") != (sign == SIGNED):
        lhs, rhs = rhs, lhs
    # Unsigned a < b: not a and b; a <= b: not a or b.
    combine = ptx.AndOp if comparison.endswith("t") else ptx.OrOp
    return low.emit(combine(low.emit(ptx.NotOp(lhs, "pred")), rhs, "pred"))


def _select(op: arith.SelectOp, low: Lowering) -> None:
    result, (condition, lhs, rhs) = op.result, map(low.value, operands_of(op))
    low.define(result, select(low, condition, lhs, rhs, low.form(result).kind))


def select(low: Lowering, condition: SSAValue, lhs: SSAValue, rhs: SSAValue, kind: str) -> SSAValue:
    """`lhs` where the predicate holds, else `rhs`, both in registers of `kind`."""
    if lhs is rhs:
        return lhs
    if kind == "pred":
        return select_predicate(low, condition, lhs, rhs)
    return low.emit(ptx.SelpOp(lhs, rhs, condition, kind))


def select_predicate(low: Lowering, condition: SSAValue, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Select between predicates, which `selp` does not take."""
    taken = low.emit(ptx.AndOp(condition, lhs, "pred"))
    other = low.emit(ptx.NotOp(condition, "pred"))
    return low.emit(ptx.OrOp(taken, low.emit(ptx.AndOp(other, rhs, "pred")), "pred"))


HANDLERS: Mapping[type[Operation], Handler] = {
    **dict.fromkeys(RULES, _binary),
    **dict.fromkeys(LOGIC, _logic),
    **dict.fromkeys(SHIFTS, _shift),
    arith.CmpiOp: _compare,
    arith.SelectOp: _select,
}
