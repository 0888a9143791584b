"""Quotients of f32 that are rounded to nearest, by f64.

    div.rn.f32 %f2, %f0, %f1        cvt.f64.f32 %fd0, %f0;      cvt.f64.f32 %fd1, %f1;
                                    rcp.approx.ftz.f64 %fd2, %fd1;
                                    mul.rn.f64 %fd3, %fd0, %fd2;         q, 20 bits of it right
                                    one step of Newton's method for the inverse, one for q
                                    q, but where it is NaN or 0 the first product
                                    cvt.rn.f32.f64 %f2, %fd9;

ptxas makes a subroutine of `div.rn.f32`, which takes it as long as a fifth of a row of a softmax.
This takes it a fifteenth of that, but has thrice the latency, and f64 in more registers than the
subroutine: it is for quotients that are seldom computed, in loops that leave registers free.

Rounding twice is rounding once: a quotient of significands of 24 bits is 2^-49 of itself or more
from the middle of two floats, subnormal ones too, unless it is that middle.  In f64 it is 2^-53 of
it off at most, and exact if it has so few bits: the last fma rounds what is right to 2^-60.  In f64
nothing under- or overflows.  Zeros, infinities and NaN are those of the first product; a remainder
would lose their sign or be NaN.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from tileas_xdsl.backend.ptx.lowering.lowering import Lowering
from tileas_xdsl.dialects import ptx
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import NEAREST


def has_room(low: Lowering) -> bool:
    """Whether f64 have registers here.  Rows of 4,096 f32 in 128 threads spilled without any."""
    return low.loop is None or low.loop.free > 0


def rounded_quotient(low: Lowering, dividend: SSAValue, divisor: SSAValue) -> SSAValue:
    """Return registers of f32: `div.rn` of two."""

    def fma(a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
        return low.emit(ptx.FmaOp(a, b, c, "f64", rounding=NEAREST))

    a, b = (low.emit(ptx.CvtOp(value, "f64", "f32")) for value in (dividend, divisor))
    about = low.emit(ptx.RcpOp(b, "f64", rounding="approx", ftz=True))
    first = low.emit(ptx.MulOp(a, about, "f64", rounding=NEAREST))
    negative = low.emit(ptx.NegOp(b, "f64"))
    inverse = fma(fma(negative, about, low.constant(1.0, "f64")), about, about)
    quotient = fma(fma(negative, first, a), inverse, first)
    is_normal = low.emit(ptx.SetpOp(quotient, low.constant(0.0, "f64"), "ne", "f64"))
    chosen = low.emit(ptx.SelpOp(quotient, first, is_normal, "f64"))
    return low.emit(ptx.CvtOp(chosen, "f32", "f64", rounding=NEAREST))
