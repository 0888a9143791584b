"""Conversions between register forms: packed and separate elements, wider and narrower floats.

A `vector` of 16- or 8-bit elements is packed into 32-bit registers (`forms.py`). What PTX converts
alone must be separated first. Four e4m3 in one register to f32 takes the pair conversion that the
ISA has (`cvt.rn.f16x2.e4m3x2`):

    mov.b32 {%h0, %h1}, %r0;               two pairs of bytes
    cvt.rn.f16x2.e4m3x2 %r1, %h0;            two f16, exact
    mov.b32 {%h2, %h3}, %r1;
    cvt.f32.f16 %f0, %h2;                    ... four f32 in all

Where the ISA has no conversion of the wanted rounding, it is built of integer operations on the
bits: ties away (`_ties_to_odd`) and power-of-two scales before sm_100 (`_to_scales`).
"""

from __future__ import annotations

import math

from xdsl.ir import SSAValue

from tileas_xdsl.backend.ptx.lowering.forms import Form
from tileas_xdsl.backend.ptx.lowering.lowering import Lowering
from tileas_xdsl.dialects import ptx
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import AWAY, NEAREST
from tileas_xdsl.dialects.ptx.base import count_of
from tileas_xdsl.target.isa.views import CONVERSIONS, PACKINGS

BYTES = ("e4m3", "e5m2")
"""Floats of 8 bits, which PTX converts in pairs only."""

SCALE = "ue8m0"
"""Powers of two of 8 bits."""


def separate(low: Lowering, value: SSAValue, form: Form) -> SSAValue:
    """Split packed 16-bit elements into registers of 16 bits; return others unchanged."""
    return low.emit(ptx.SplitOp(value, "b16")) if form.packed and form.bits == 16 else value


def spread(low: Lowering, value: SSAValue, form: Form, sign: str = "u") -> SSAValue:
    """Put each element into a register; extend bytes to 16 bits by zeros or the sign (`s`)."""
    if form.bits != 8:
        return separate(low, value, form)
    pairs = low.emit(ptx.SplitOp(value, "b16")) if form.kind == "b32" else value
    lower = low.emit(ptx.CvtOp(pairs, f"{sign}16", f"{sign}8"))
    if not form.packed:
        return lower
    upper = low.emit(ptx.ShrOp(pairs, low.constant(8), f"{sign}16"))
    count = count_of(pairs)
    ordered = [low.emit(ptx.ExtractOp(v, k)) for k in range(count) for v in (lower, upper)]
    return low.emit(ptx.PackOp(ordered))


def spread_low_bits(low: Lowering, value: SSAValue, form: Form) -> SSAValue:
    """Put each element into a register, for what reads no more than its low 8 bits if it is one."""
    return value if form.bits == 8 and not form.packed else spread(low, value, form)


def gather(low: Lowering, value: SSAValue, form: Form) -> SSAValue:
    """Pack elements, one in a register, as `form` has them; of bytes keep the low 8 bits."""
    if count_of(value) == 1 and form.elements > 1:
        value = low.emit(ptx.PackOp([value] * form.elements))
    if not form.packed:
        return value
    if form.bits == 8:
        value = _paired_bytes(low, value)
    return low.emit(ptx.JoinOp(value, "b32")) if form.kind == "b32" else value


def _paired_bytes(low: Lowering, value: SSAValue) -> SSAValue:
    """Pack neighbouring bytes into 16 bits, the first one lowest."""
    lower, upper = (
        low.emit(ptx.PackOp([low.emit(ptx.ExtractOp(value, k)) for k in range(n, count, 2)]))
        for count in (count_of(value),)
        for n in (0, 1)
    )
    high = low.emit(ptx.ShlOp(upper, low.constant(8), "b16"))
    byte = low.emit(ptx.AndOp(lower, low.constant(0xFF, "b16"), "b16"))
    return low.emit(ptx.OrOp(byte, high, "b16"))


def widen(low: Lowering, value: SSAValue, form: Form) -> SSAValue:
    """Convert floats of any form to f32, one in a register; f64 is unchanged."""
    if form.element in ("f32", "f64"):
        return value
    if form.element == "tf32":
        return low.emit(ptx.MovOp(value, "b32", kind="f32"))
    if form.element in BYTES:
        return _widen_bytes(low, value, form)
    if form.element == SCALE:
        return _of_scales(low, value, form)
    if form.element == "bf16" and form.kind == "b32" and not isinstance(value.owner, ptx.JoinOp):
        return _widen_upper_halves(low, value)
    return low.emit(ptx.CvtOp(separate(low, value, form), "f32", form.element))


def _widen_upper_halves(low: Lowering, value: SSAValue) -> SSAValue:
    """Convert pairs of bf16 to f32, of which they are the upper halves: an instruction each.

    ptxas takes two for the second of a pair, `PRMT` to a register of its own and a shift.
    """
    first = low.emit(ptx.ShlOp(value, low.constant(16), "b32"))
    second = low.emit(ptx.AndOp(value, low.constant(-1 << 16), "b32"))
    count = count_of(value)
    ordered = [low.emit(ptx.ExtractOp(v, k)) for k in range(count) for v in (first, second)]
    return low.emit(ptx.MovOp(low.emit(ptx.PackOp(ordered)), "b32", kind="f32"))


def _widen_bytes(low: Lowering, value: SSAValue, form: Form) -> SSAValue:
    """Convert pairs of bytes to pairs of f16, then to f32; a single byte is the low of a pair."""
    singles = low.emit(ptx.SplitOp(halves_of_bytes(low, value, form), "b16"))
    wide = low.emit(ptx.CvtOp(singles, "f32", "f16"))
    if form.packed:
        return wide
    lower = [low.emit(ptx.ExtractOp(wide, k)) for k in range(0, count_of(wide), 2)]
    return lower[0] if len(lower) == 1 else low.emit(ptx.PackOp(lower))


def halves_of_bytes(low: Lowering, value: SSAValue, form: Form) -> SSAValue:
    """Convert pairs of bytes to pairs of f16, exactly."""
    pairs = low.emit(ptx.SplitOp(value, "b16")) if form.kind == "b32" else value
    return low.emit(ptx.CvtOp(pairs, "f16x2", f"{form.element}x2", rounding="rn"))


def narrow(low: Lowering, value: SSAValue, form: Form, rounding: str = NEAREST) -> SSAValue:
    """Convert f32 to the elements of `form`; f64 is unchanged.

    8-bit floats saturate, as the hardware does (PTX ISA, `cvt`: `satfinite`).
    """
    if form.element in ("f32", "f64"):
        return value
    if form.element == SCALE:
        return _to_scales(low, value, form, rounding)
    if form.element in BYTES:
        return _narrow_bytes(low, value, form)
    single = CONVERSIONS[form.element, "f32"]
    if rounding == AWAY and AWAY not in single.roundings:
        value, rounding = _ties_to_odd(low, value), NEAREST
    if form.packed and rounding in PACKINGS[f"{form.element}x2"].roundings:
        return low.emit(ptx.CvtPackOp(value, f"{form.element}x2", rounding=rounding))
    return gather(low, low.emit(ptx.CvtOp(value, form.element, "f32", rounding=rounding)), form)


def _ties_to_odd(low: Lowering, value: SSAValue) -> SSAValue:
    """Set the last bit of finite f32: what was halfway between narrower floats is past it.

    So rounding to nearest takes ties away from zero and all other numbers to where they went.
    """
    bits = low.emit(ptx.MovOp(value, "b32", kind="b32"))
    odd = low.emit(ptx.OrOp(bits, low.constant(1), "b32"))
    size = low.emit(ptx.AbsOp(value, "f32"))
    finite = low.emit(ptx.SetpOp(size, low.constant(math.inf, "f32"), "lt", "f32"))
    return low.emit(ptx.MovOp(low.emit(ptx.SelpOp(odd, bits, finite, "b32")), "b32", kind="f32"))


def _of_scales(low: Lowering, value: SSAValue, form: Form) -> SSAValue:
    """Convert E8M0 scales to f32: shift the byte into the exponent field.

    Byte 0 is 2**-127, a subnormal f32, and 255 is NaN (OCP MX, E8M0): both get the top mantissa
    bit. `(byte + 1) & 255 < 2` finds both with one comparison.
    """
    byte = low.emit(ptx.CvtOp(spread(low, value, form), "u32", "u16"))
    next_ = low.emit(ptx.AddOp(byte, low.constant(1), "u32"))
    next_ = low.emit(ptx.AndOp(next_, low.constant(0xFF), "b32"))
    is_end = low.emit(ptx.SetpOp(next_, low.constant(2), "lt", "u32"))
    mantissa = low.emit(ptx.SelpOp(low.constant(1 << 22), low.constant(0), is_end, "b32"))
    exponent = low.emit(ptx.ShlOp(byte, low.constant(23), "b32"))
    return low.emit(ptx.MovOp(low.emit(ptx.OrOp(exponent, mantissa, "b32")), "b32", kind="f32"))


def _to_scales(low: Lowering, value: SSAValue, form: Form, rounding: str) -> SSAValue:
    """Convert magnitudes of f32 to E8M0: the exponent, rounded down or up (`rp`); NaN becomes 255.

    Rounding up adds 0x7FFFFF, which carries into the exponent unless the mantissa is 0. At most
    2**127; magnitudes up to 2**-127 become that. By integers, since sm_90 has no such conversion.
    """
    bits = low.emit(ptx.MovOp(value, "b32", kind="b32"))
    size = carried = low.emit(ptx.AndOp(bits, low.constant(0x7FFFFFFF), "b32"))
    if rounding == "rp":
        carried = low.emit(ptx.AddOp(size, low.constant(0x7FFFFF), "u32"))
    exponent = low.emit(ptx.ShrOp(carried, low.constant(23), "u32"))
    exponent = low.emit(ptx.MinOp(exponent, low.constant(254), "u32"))
    for limit, relation, special in ((1 << 22, "le", 0), (0x7F800000, "gt", 255)):
        holds = low.emit(ptx.SetpOp(size, low.constant(limit), relation, "u32"))
        exponent = low.emit(ptx.SelpOp(low.constant(special), exponent, holds, "b32"))
    return gather(low, low.emit(ptx.CvtOp(exponent, "u16", "u32")), form)


def _narrow_bytes(low: Lowering, value: SSAValue, form: Form) -> SSAValue:
    if not form.packed:
        zero, count = low.constant(0.0, "f32"), count_of(value)
        singles = (
            [low.emit(ptx.ExtractOp(value, k)) for k in range(count)] if count > 1 else [value]
        )
        value = low.emit(ptx.PackOp([part for single in singles for part in (single, zero)]))
    pairs = low.emit(ptx.CvtPackOp(value, f"{form.element}x2"))
    return low.emit(ptx.JoinOp(pairs, "b32")) if form.kind == "b32" else pairs
