"""Float arithmetic and comparisons of `arith` and `vector.fma`, on scalars and fragments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects import arith, math, vector
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.backend.ptx.lowering.convert import narrow, widen
from tileas_xdsl.backend.ptx.lowering.forms import Form
from tileas_xdsl.backend.ptx.lowering.lowering import Handler, Lowering
from tileas_xdsl.dialects import ptx
from tileas_xdsl.dialects.ptx.arith import BinaryOp

Binary = arith.AddfOp | arith.SubfOp | arith.MulfOp

HALVES = ("f16", "bf16")
"""Floats of 16 bits, which PTX computes with one by one and in pairs."""


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
    """The type of an instruction that computes with such floats; refuses 8-bit ones."""
    if form.element in ("f32", "f64"):
        return form.element
    if form.element in HALVES:
        return f"{form.element}x2" if form.packed else form.element
    raise low.error(f"PTX does not compute with {form.element}: extend it")


def contracts(flags: FastMathFlagsAttr | None) -> bool:
    """Whether products and sums may be fused."""
    return flags is not None and bool({"contract", "fast"} & _names(flags))


def approximates(flags: FastMathFlagsAttr | None) -> bool:
    """Whether subnormal operands and results may be zero and functions approximate."""
    return flags is not None and bool({"afn", "fast"} & _names(flags))


def _names(flags: FastMathFlagsAttr) -> set[str]:
    return {str(flag.value) for flag in flags.data}


def _binary(op: Binary, low: Lowering) -> None:
    rule, form = RULES[type(op)], low.form(op.result)
    type_ = computes(low, form)
    # Without a rounding ptxas may fuse what is multiplied and added.
    rounding = "rn" if rule.rounds and not contracts(op.fastmath) else None
    lhs, rhs = low.value(op.lhs), low.value(op.rhs)
    if type_ == "f64" and rule.nan:
        raise low.error("PTX has no minimum or maximum of f64 that a NaN goes through")
    new = rule.instruction(lhs, rhs, type_, rounding=rounding, nan=rule.nan)
    low.define(op.result, low.emit(new))


def _divide(op: arith.DivfOp, low: Lowering) -> None:
    form = low.form(op.result)
    computes(low, form)
    lhs, rhs = (widen(low, low.value(v), form) for v in (op.lhs, op.rhs))
    if form.element == "f64":
        quotient = low.emit(ptx.DivOp(lhs, rhs, "f64", rounding="rn"))
    elif approximates(op.fastmath):
        quotient = low.emit(ptx.DivOp(lhs, rhs, "f32", rounding="approx", ftz=True))
    else:
        quotient = low.emit(ptx.DivOp(lhs, rhs, "f32", rounding="rn"))
    # f32 has more than twice the digits of 16-bit floats, so rounding twice rounds once.
    low.define(op.result, narrow(low, quotient, form))


def _negate(op: arith.NegfOp, low: Lowering) -> None:
    form = low.form(op.result)
    value = low.value(op.operand)
    low.define(op.result, low.emit(ptx.NegOp(value, computes(low, form))))


def _compare(op: arith.CmpfOp, low: Lowering) -> None:
    predicate = op.predicate.value.data
    form, result = low.form(op.lhs), low.form(op.result)
    computes(low, form)
    comparison = COMPARISONS[predicate]
    if not comparison:
        low.define(op.result, low.constant(int(predicate > 0), "pred", result.count))
        return
    lhs, rhs = (widen(low, low.value(v), form) for v in (op.lhs, op.rhs))
    type_ = "f64" if form.element == "f64" else "f32"
    low.define(op.result, low.emit(ptx.SetpOp(lhs, rhs, comparison, type_)))


def _fused(op: math.FmaOp, low: Lowering) -> None:
    operands = [low.value(v) for v in (op.a, op.b, op.c)]
    low.define(op.result, _fma(low, low.form(op.result), *operands))


def _fused_fragments(op: vector.FMAOp, low: Lowering) -> None:
    operands = [low.value(v) for v in (op.lhs, op.rhs, op.acc)]
    low.define(op.res, _fma(low, low.form(op.res), *operands))


def _fma(low: Lowering, form: Form, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
    return low.emit(ptx.FmaOp(a, b, c, computes(low, form), rounding="rn"))


HANDLERS: Mapping[type[Operation], Handler] = {
    **dict.fromkeys(RULES, _binary),
    arith.DivfOp: _divide,
    arith.NegfOp: _negate,
    arith.CmpfOp: _compare,
    math.FmaOp: _fused,
    vector.FMAOp: _fused_fragments,
}
