"""The functions of `math` that instructions compute: roots, powers of two, approximations.

The others are written out by `expand-math` before.
"""

from __future__ import annotations

import math as numbers
from collections.abc import Callable, Mapping
from typing import TypeAlias

from xdsl.dialects import math
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.backend.ptx.lowering.arithmetic.floats import computes, operands, result_of, signs
from tileas_xdsl.backend.ptx.lowering.convert import BYTES, narrow, widen
from tileas_xdsl.backend.ptx.lowering.lowering import Handler, Lowering
from tileas_xdsl.dialects import ptx
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import NEAREST, FloatMode, float_mode
from tileas_xdsl.target.math_functions import MATH_FUNCTIONS

LOG2_E = numbers.log2(numbers.e)
LN_2 = numbers.log(2.0)
LOG10_2 = numbers.log10(2.0)

Function: TypeAlias = Callable[..., SSAValue]
"""From f32 to f32, after the lowering and the mode."""


def _exp2(low: Lowering, mode: FloatMode, x: SSAValue) -> SSAValue:
    return low.emit(ptx.Ex2Op(x, "f32", rounding="approx", ftz=mode.ftz))


def _scaled(low: Lowering, x: SSAValue, factor: float) -> SSAValue:
    return low.emit(ptx.MulOp(x, low.constant(factor, "f32"), "f32", rounding="rn"))


def _exp(low: Lowering, mode: FloatMode, x: SSAValue) -> SSAValue:
    return _exp2(low, mode, _scaled(low, x, LOG2_E))


def _log2(low: Lowering, mode: FloatMode, x: SSAValue) -> SSAValue:
    return low.emit(ptx.Lg2Op(x, "f32", rounding="approx", ftz=mode.ftz))


def _log(low: Lowering, mode: FloatMode, x: SSAValue) -> SSAValue:
    return _scaled(low, _log2(low, mode, x), LN_2)


def _log10(low: Lowering, mode: FloatMode, x: SSAValue) -> SSAValue:
    return _scaled(low, _log2(low, mode, x), LOG10_2)


def _power(low: Lowering, mode: FloatMode, x: SSAValue, y: SSAValue) -> SSAValue:
    exponent = low.emit(ptx.MulOp(y, _log2(low, mode, x), "f32", rounding="rn"))
    return _exp2(low, mode, exponent)


def _sqrt(low: Lowering, mode: FloatMode, x: SSAValue) -> SSAValue:
    rounding = "approx" if mode.approximate else mode.rounding or NEAREST
    return low.emit(ptx.SqrtOp(x, "f32", rounding=rounding, ftz=mode.ftz))


def _rsqrt(low: Lowering, mode: FloatMode, x: SSAValue) -> SSAValue:
    return low.emit(ptx.RsqrtOp(x, "f32", rounding="approx", ftz=mode.ftz))


def _tanh(low: Lowering, mode: FloatMode, x: SSAValue) -> SSAValue:
    return low.emit(ptx.TanhOp(x, "f32", rounding="approx"))


def _sin(low: Lowering, mode: FloatMode, x: SSAValue) -> SSAValue:
    return low.emit(ptx.SinOp(x, "f32", rounding="approx", ftz=mode.ftz))


def _cos(low: Lowering, mode: FloatMode, x: SSAValue) -> SSAValue:
    return low.emit(ptx.CosOp(x, "f32", rounding="approx", ftz=mode.ftz))


def _tan(low: Lowering, mode: FloatMode, x: SSAValue) -> SSAValue:
    sine, cosine = _sin(low, mode, x), _cos(low, mode, x)
    return low.emit(ptx.DivOp(sine, cosine, "f32", rounding="approx", ftz=mode.ftz))


FUNCTIONS: Mapping[type[Operation], Function] = {
    math.CosOp: _cos,
    math.Exp2Op: _exp2,
    math.ExpOp: _exp,
    math.Log10Op: _log10,
    math.Log2Op: _log2,
    math.LogOp: _log,
    math.PowFOp: _power,
    math.RsqrtOp: _rsqrt,
    math.SinOp: _sin,
    math.SqrtOp: _sqrt,
    math.TanOp: _tan,
    math.TanhOp: _tanh,
}
"""On f32; narrower floats are widened for it and rounded after it."""

WRITTEN_OUT: tuple[type[Operation], ...] = (
    math.AcosOp,
    math.AcoshOp,
    math.AsinOp,
    math.AsinhOp,
    math.Atan2Op,
    math.AtanOp,
    math.AtanhOp,
    math.CbrtOp,
    math.CopySignOp,
    math.CoshOp,
    math.ErfOp,
    math.ExpM1Op,
    math.FPowIOp,
    math.IPowIOp,
    math.Log1pOp,
    math.RoundOp,
    math.SinhOp,
)
"""What no instruction approximates; copysign of 16 bits and less has none."""

ROUNDINGS: Mapping[type[Operation], str] = {
    math.CeilOp: "rpi",
    math.FloorOp: "rmi",
    math.RoundEvenOp: "rni",
    math.TruncOp: "rzi",
}
"""Roundings to integers that stay floats."""


def _function(op: math.ExpOp, low: Lowering) -> None:
    form, mode = low.form(op.result), float_mode(op)
    if form.element == "f64":
        low.define(op.result, _double(op, low, mode))
        return
    function = MATH_FUNCTIONS[op.name.removeprefix("math.")]
    if not function.instructions and not mode.approximate:
        raise low.error("is written out by expand-math, unless fastmath<afn> lets it approximate")
    reals = [widen(low, low.value(v), low.form(v)) for v in op.operands]
    result = FUNCTIONS[type(op)](low, mode, *reals)
    low.define(op.result, narrow(low, result, form))


def _double(op: Operation, low: Lowering, mode: FloatMode) -> SSAValue:
    """Roots of f64, which are rounded whatever may be approximated."""
    if not isinstance(op, math.SqrtOp | math.RsqrtOp):
        raise low.error("is computed in f32, not in f64")
    rounding = mode.rounding if mode.rounding not in ("", "approx") else NEAREST
    root = low.emit(ptx.SqrtOp(low.value(op.operand), "f64", rounding=rounding))
    if isinstance(op, math.SqrtOp):
        return root
    return low.emit(ptx.RcpOp(root, "f64", rounding=NEAREST))


def _written_out(op: Operation, low: Lowering) -> None:
    if low.form(op.results[0]).element == "f64":
        raise low.error("is computed in f32, not in f64")
    raise low.error("is written out by expand-math, which was not run")


def _round(op: math.FloorOp, low: Lowering) -> None:
    form = low.form(op.result)
    float_mode(op)
    type_ = "f64" if form.element == "f64" else "f32"
    real = widen(low, low.value(op.operand), form)
    result = low.emit(ptx.CvtOp(real, type_, type_, rounding=ROUNDINGS[type(op)]))
    low.define(op.result, narrow(low, result, form))


def _absolute(op: math.AbsFOp, low: Lowering) -> None:
    form = low.form(op.result)
    float_mode(op)
    if form.element in BYTES:
        mask = signs(low, form, others=True)
        low.define(op.result, low.emit(ptx.AndOp(low.value(op.operand), mask, form.kind)))
        return
    type_ = computes(low, form)
    (value,) = operands(low, (op.operand,), form, type_)
    low.define(op.result, result_of(low, low.emit(ptx.AbsOp(value, type_)), form, type_))


def _sign_of_other(op: math.CopySignOp, low: Lowering) -> None:
    form = low.form(op.result)
    if form.element not in ("f32", "f64"):
        _written_out(op, low)
    float_mode(op)
    size, sign = (low.value(value) for value in (op.lhs, op.rhs))
    low.define(op.result, low.emit(ptx.CopysignOp(sign, size, form.element)))


HANDLERS: Mapping[type[Operation], Handler] = {
    **dict.fromkeys(FUNCTIONS, _function),
    **dict.fromkeys(WRITTEN_OUT, _written_out),
    **dict.fromkeys(ROUNDINGS, _round),
    math.AbsFOp: _absolute,
    math.CopySignOp: _sign_of_other,
}
