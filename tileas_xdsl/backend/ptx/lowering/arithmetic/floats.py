"""Lower float arithmetic and comparisons of `arith` and `vector.fma`, on scalars and fragments.

f32, f64, f16 and bf16 have instructions, the latter two also on pairs; 8-bit floats and tf32 are
widened to f32 and rounded once afterwards:

    %u = arith.addf %w, %w : vector<2xf16>        add.rn.f16x2 %r5, %r4, %r4;

The rounding is always written (`.rn`) unless `fastmath` allows contraction: without it, ptxas may
fuse a multiplication and an addition, and results would depend on its version (PTX ISA, `mul`,
`add`). NaN semantics follow `arith`: `maximumf` propagates NaN (`max.NaN`), `maxnumf` does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, math, vector
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.backend.ptx.lowering.arithmetic.rounded_quotients import has_room, rounded_quotient
from tileas_xdsl.backend.ptx.lowering.convert import BYTES, narrow, widen
from tileas_xdsl.backend.ptx.lowering.forms import Form
from tileas_xdsl.backend.ptx.lowering.lowering import Handler, Lowering
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operands_of
from tileas_xdsl.dialects import ptx
from tileas_xdsl.dialects.ir_queries import uniform_constant
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import (
    BY_DOUBLES,
    NEAREST,
    FloatMode,
    float_mode,
)
from tileas_xdsl.dialects.ptx.elementwise.arith import BinaryOp

Binary = arith.AddfOp | arith.SubfOp | arith.MulfOp

HALVES = ("f16", "bf16")
"""16-bit floats: PTX has instructions for single ones and for pairs."""


@dataclass(frozen=True, slots=True)
class FloatRule:
    """The instruction of a binary operation on floats."""

    instruction: type[BinaryOp]
    rounds: bool
    nan: bool = False
    """Whether a NaN operand gives NaN."""


RULES: Mapping[type[Operation], FloatRule] = {
    arith.AddfOp: FloatRule(ptx.AddOp, rounds=True),
    arith.SubfOp: FloatRule(ptx.SubOp, rounds=True),
    arith.MulfOp: FloatRule(ptx.MulOp, rounds=True),
    arith.MinimumfOp: FloatRule(ptx.MinOp, rounds=False, nan=True),
    arith.MaximumfOp: FloatRule(ptx.MaxOp, rounds=False, nan=True),
    arith.MinnumfOp: FloatRule(ptx.MinOp, rounds=False),
    arith.MaxnumfOp: FloatRule(ptx.MaxOp, rounds=False),
}

COMPARISONS = (
    "", "eq", "gt", "ge", "lt", "le", "ne", "num", "equ", "gtu", "geu", "ltu", "leu", "neu", "nan",
    "",
)  # fmt: skip
"""The comparison of each predicate of `arith.cmpf`, in its order; the outer two are constants."""


def computes(low: Lowering, form: Form) -> str:
    """Return the instruction type to compute in; 8-bit floats and tf32 are widened to f32."""
    if form.element in ("f32", "f64"):
        return form.element
    if form.element in HALVES:
        return f"{form.element}x2" if form.packed else form.element
    if form.element in ("tf32", *BYTES):
        return "f32"
    raise low.error(f"does not compute with {form.element}")


def operands(low: Lowering, values: Sequence[SSAValue], form: Form, type_: str) -> list[SSAValue]:
    """Return the registers of values, widened if the instruction's type is wider."""
    found = [low.value(value) for value in values]
    if type_ != "f32" or form.element == "f32":
        return found
    return [widen(low, value, form) for value in found]


def result_of(low: Lowering, value: SSAValue, form: Form, type_: str) -> SSAValue:
    """Return the result of an instruction of `type_`, narrowed to the form of the operation."""
    return narrow(low, value, form) if type_ == "f32" else value


def _binary(op: Binary, low: Lowering) -> None:
    result = op.result
    rule, form, mode = RULES[type(op)], low.form(result), float_mode(op)
    type_ = computes(low, form)
    lhs, rhs = operands(low, operands_of(op), form, type_)
    if type_ == "f64" and rule.nan:
        low.define(result, _extreme_of_doubles(low, rule, lhs, rhs))
        return
    new = rule.instruction(
        lhs,
        rhs,
        type_,
        rounding=_rounding(rule, mode),
        nan=rule.nan,
        ftz=_flushes(op, mode),
        sat=mode.sat,
    )
    low.define(result, result_of(low, low.emit(new), form, type_))


def _rounding(rule: FloatRule, mode: FloatMode) -> str | None:
    """Return the rounding to write; None lets ptxas contract a multiplication and an addition."""
    if not rule.rounds:
        return None
    return mode.rounding or (None if mode.fuses else NEAREST)


def _flushes(op: Operation, mode: FloatMode) -> bool:
    """Return whether subnormals are flushed to zero: in `ftz` mode, if the op says `ftz`."""
    return mode.ftz and "nv_tileas.ftz" in op.attributes


def _extreme_of_doubles(low: Lowering, rule: FloatRule, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Emit min or max of f64 that propagates NaN, which PTX lacks: a sum of both is NaN too."""
    found = low.emit(rule.instruction(lhs, rhs, "f64"))
    total = low.emit(ptx.AddOp(lhs, rhs, "f64", rounding=NEAREST))
    unordered = low.emit(ptx.SetpOp(lhs, rhs, "nan", "f64"))
    return low.emit(ptx.SelpOp(total, found, unordered, "f64"))


def _divide(op: arith.DivfOp, low: Lowering) -> None:
    form, mode = low.form(op.result), float_mode(op)
    computes(low, form)
    type_ = "f64" if form.element == "f64" else "f32"
    rounding = "approx" if mode.approximate else mode.rounding or NEAREST
    if type_ == "f64" and rounding in ("approx", "full"):
        rounding = NEAREST
    ftz = mode.ftz and type_ == "f32"
    dividend, divisor = (widen(low, low.value(v), form) for v in (op.lhs, op.rhs))
    if BY_DOUBLES in op.attributes and has_room(low):
        quotient = rounded_quotient(low, dividend, divisor)
    # `div.approx.ftz` of 1 flushes what `rcp.approx.ftz` gives once more.
    elif rounding != "full" and _is_one(op.lhs):
        quotient = low.emit(ptx.RcpOp(divisor, type_, rounding=rounding, ftz=ftz))
    else:
        quotient = low.emit(ptx.DivOp(dividend, divisor, type_, rounding=rounding, ftz=ftz))
    # f32 has more than twice the digits of 16-bit floats, so rounding twice rounds once.
    low.define(op.result, narrow(low, quotient, form))


def _is_one(value: SSAValue) -> bool:
    """Whether a value is the constant 1, in every element."""
    constant = uniform_constant(value)
    return constant is not None and constant.value.data == 1


def _negate(op: arith.NegfOp, low: Lowering) -> None:
    form = low.form(op.result)
    float_mode(op)
    value = low.value(op.operand)
    if form.element in BYTES:
        low.define(op.result, low.emit(ptx.XorOp(value, signs(low, form), form.kind)))
        return
    type_ = computes(low, form)
    (value,) = operands(low, (op.operand,), form, type_)
    low.define(op.result, result_of(low, low.emit(ptx.NegOp(value, type_)), form, type_))


def signs(low: Lowering, form: Form, *, others: bool = False) -> SSAValue:
    """Return the mask of the sign bits of packed bytes, or of all other bits."""
    mask = 0x80808080 if form.kind == "b32" else 0x8080
    every = (1 << int(form.kind[1:])) - 1
    return low.constant(every ^ mask if others else mask, form.kind)


def _compare(op: arith.CmpfOp, low: Lowering) -> None:
    predicate = op.predicate.value.data
    form, result = low.form(op.lhs), low.form(op.result)
    float_mode(op)
    computes(low, form)
    comparison = COMPARISONS[predicate]
    if not comparison:
        low.define(op.result, low.constant(int(predicate > 0), "pred", result.count))
        return
    lhs, rhs = (widen(low, low.value(v), form) for v in (op.lhs, op.rhs))
    type_ = "f64" if form.element == "f64" else "f32"
    low.define(op.result, low.emit(ptx.SetpOp(lhs, rhs, comparison, type_)))


def _fused(op: math.FmaOp, low: Lowering) -> None:
    low.define(op.result, _fma(low, op, op.result, (op.a, op.b, op.c)))


def _fused_fragments(op: vector.FMAOp, low: Lowering) -> None:
    low.define(op.res, _fma(low, op, op.res, (op.lhs, op.rhs, op.acc)))


def _fma(low: Lowering, op: Operation, result: SSAValue, values: Sequence[SSAValue]) -> SSAValue:
    form, mode = low.form(result), float_mode(op)
    if form.element in ("tf32", *BYTES):
        raise low.error(f"rounds {form.element} twice: extend it to f32")
    type_ = computes(low, form)
    a, b, c = (low.value(value) for value in values)
    rounding = mode.rounding or NEAREST
    ftz = _flushes(op, mode)
    return low.emit(ptx.FmaOp(a, b, c, type_, rounding=rounding, ftz=ftz, sat=mode.sat))


HANDLERS: Mapping[type[Operation], Handler] = {
    **dict.fromkeys(RULES, _binary),
    arith.DivfOp: _divide,
    arith.NegfOp: _negate,
    arith.CmpfOp: _compare,
    math.FmaOp: _fused,
    vector.FMAOp: _fused_fragments,
}
