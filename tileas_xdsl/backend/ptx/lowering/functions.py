"""The functions of `math`: instructions of the special function unit, and what is made of them."""

from __future__ import annotations

import math as numbers
from collections.abc import Callable, Mapping

from xdsl.dialects import math
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.backend.ptx.lowering.convert import narrow, widen
from tileas_xdsl.backend.ptx.lowering.floats import approximates, computes
from tileas_xdsl.backend.ptx.lowering.integers import whole_integers
from tileas_xdsl.backend.ptx.lowering.lowering import Handler, Lowering
from tileas_xdsl.dialects import ptx

LOG2_E = numbers.log2(numbers.e)
LN_2 = numbers.log(2.0)

Function = Callable[[Lowering, SSAValue, bool], SSAValue]
"""From f32 to f32; the flag lets subnormals be zero."""


def _exp2(low: Lowering, x: SSAValue, ftz: bool) -> SSAValue:
    return low.emit(ptx.Ex2Op(x, "f32", rounding="approx", ftz=ftz))


def _scaled(low: Lowering, x: SSAValue, factor: float) -> SSAValue:
    return low.emit(ptx.MulOp(x, low.constant(factor, "f32"), "f32", rounding="rn"))


def _exp(low: Lowering, x: SSAValue, ftz: bool) -> SSAValue:
    return _exp2(low, _scaled(low, x, LOG2_E), ftz)


def _log2(low: Lowering, x: SSAValue, ftz: bool) -> SSAValue:
    return low.emit(ptx.Lg2Op(x, "f32", rounding="approx", ftz=ftz))


def _log(low: Lowering, x: SSAValue, ftz: bool) -> SSAValue:
    return _scaled(low, _log2(low, x, ftz), LN_2)


def _sqrt(low: Lowering, x: SSAValue, ftz: bool) -> SSAValue:
    return low.emit(ptx.SqrtOp(x, "f32", rounding="approx" if ftz else "rn", ftz=ftz))


def _rsqrt(low: Lowering, x: SSAValue, ftz: bool) -> SSAValue:
    return low.emit(ptx.RsqrtOp(x, "f32", rounding="approx", ftz=ftz))


def _tanh(low: Lowering, x: SSAValue, ftz: bool) -> SSAValue:
    return low.emit(ptx.TanhOp(x, "f32", rounding="approx"))


def _sin(low: Lowering, x: SSAValue, ftz: bool) -> SSAValue:
    return low.emit(ptx.SinOp(x, "f32", rounding="approx", ftz=ftz))


def _cos(low: Lowering, x: SSAValue, ftz: bool) -> SSAValue:
    return low.emit(ptx.CosOp(x, "f32", rounding="approx", ftz=ftz))


FUNCTIONS: Mapping[type[Operation], Function] = {
    math.Exp2Op: _exp2,
    math.ExpOp: _exp,
    math.Log2Op: _log2,
    math.LogOp: _log,
    math.SqrtOp: _sqrt,
    math.RsqrtOp: _rsqrt,
    math.TanhOp: _tanh,
    math.SinOp: _sin,
    math.CosOp: _cos,
}
"""On f32; narrower floats are widened for it and rounded behind it."""

ROUNDINGS: Mapping[type[Operation], str] = {
    math.CeilOp: "rpi",
    math.FloorOp: "rmi",
    math.RoundEvenOp: "rni",
    math.TruncOp: "rzi",
}
"""Roundings to integers that stay floats."""


def _function(op: math.ExpOp, low: Lowering) -> None:
    form = low.form(op.result)
    computes(low, form)
    if form.element == "f64":
        raise low.error("is approximated in f32 only, not in f64")
    real = widen(low, low.value(op.operand), form)
    result = FUNCTIONS[type(op)](low, real, approximates(op.fastmath))
    low.define(op.result, narrow(low, result, form))


def _round(op: math.FloorOp, low: Lowering) -> None:
    form = low.form(op.result)
    type_ = "f64" if computes(low, form) == "f64" else "f32"
    real = widen(low, low.value(op.operand), form)
    result = low.emit(ptx.CvtOp(real, type_, type_, rounding=ROUNDINGS[type(op)]))
    low.define(op.result, narrow(low, result, form))


def _absolute(op: math.AbsFOp, low: Lowering) -> None:
    form = low.form(op.result)
    low.define(op.result, low.emit(ptx.AbsOp(low.value(op.operand), computes(low, form))))


def _absolute_integer(op: math.AbsIOp, low: Lowering) -> None:
    form = low.form(op.result)
    whole_integers(low, form)
    low.define(op.result, low.emit(ptx.AbsOp(low.value(op.operand), f"s{form.bits}")))


HANDLERS: Mapping[type[Operation], Handler] = {
    **dict.fromkeys(FUNCTIONS, _function),
    **dict.fromkeys(ROUNDINGS, _round),
    math.AbsFOp: _absolute,
    math.AbsIOp: _absolute_integer,
}
