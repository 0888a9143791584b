"""From one form of registers to another: the steps of conversions, used by several families."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tileas_xdsl.backend.ptx.lowering.forms import Form
from tileas_xdsl.backend.ptx.lowering.lowering import Lowering
from tileas_xdsl.dialects import ptx
from tileas_xdsl.dialects.ptx.base import count_of

BYTES = ("e4m3", "e5m2")
"""Floats of 8 bits, which PTX converts in pairs only."""


def separate(low: Lowering, value: SSAValue, form: Form) -> SSAValue:
    """Packed 16-bit elements as a tuple of registers of 16 bits; others as they are."""
    return low.emit(ptx.SplitOp(value, "b16")) if form.packed and form.bits == 16 else value


def spread(low: Lowering, value: SSAValue, form: Form, sign: str = "u") -> SSAValue:
    """Elements one in a register; bytes extended to 16 bits, with zeros or the sign (`s`)."""
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


def gather(low: Lowering, value: SSAValue, form: Form) -> SSAValue:
    """Elements one in a register as `form` has them; what is above a byte is dropped."""
    if count_of(value) == 1 and form.elements > 1:
        value = low.emit(ptx.PackOp([value] * form.elements))
    if not form.packed:
        return value
    if form.bits == 8:
        value = _paired_bytes(low, value)
    return low.emit(ptx.JoinOp(value, "b32")) if form.kind == "b32" else value


def _paired_bytes(low: Lowering, value: SSAValue) -> SSAValue:
    """Neighbours in 16 bits, the first one below."""
    lower, upper = (
        low.emit(ptx.PackOp([low.emit(ptx.ExtractOp(value, k)) for k in range(n, count, 2)]))
        for count in (count_of(value),)
        for n in (0, 1)
    )
    high = low.emit(ptx.ShlOp(upper, low.constant(8), "b16"))
    byte = low.emit(ptx.AndOp(lower, low.constant(0xFF, "b16"), "b16"))
    return low.emit(ptx.OrOp(byte, high, "b16"))


def widen(low: Lowering, value: SSAValue, form: Form) -> SSAValue:
    """Floats of any form as f32, one in a register; f64 stays."""
    if form.element in ("f32", "f64"):
        return value
    if form.element == "tf32":
        return low.emit(ptx.MovOp(value, "b32", kind="f32"))
    if form.element in BYTES:
        return _widen_bytes(low, value, form)
    return low.emit(ptx.CvtOp(separate(low, value, form), "f32", form.element))


def _widen_bytes(low: Lowering, value: SSAValue, form: Form) -> SSAValue:
    """Pairs of bytes to pairs of f16, then to f32; single bytes are the lower ones of pairs."""
    pairs = low.emit(ptx.SplitOp(value, "b16")) if form.kind == "b32" else value
    halves = low.emit(ptx.CvtOp(pairs, "f16x2", f"{form.element}x2", rounding="rn"))
    singles = low.emit(ptx.SplitOp(halves, "b16"))
    wide = low.emit(ptx.CvtOp(singles, "f32", "f16"))
    if form.packed:
        return wide
    lower = [low.emit(ptx.ExtractOp(wide, k)) for k in range(0, count_of(wide), 2)]
    return lower[0] if len(lower) == 1 else low.emit(ptx.PackOp(lower))


def narrow(low: Lowering, value: SSAValue, form: Form) -> SSAValue:
    """Floats of f32 as elements of `form`, rounded to nearest even; f64 is left as it is.

    8-bit floats saturate, as the hardware does (PTX ISA 9.7.9.21, `satfinite`).
    """
    if form.element in ("f32", "f64"):
        return value
    if form.element == "tf32":
        return low.emit(ptx.CvtOp(value, "tf32", "f32", rounding="rna"))
    if form.element in BYTES:
        return _narrow_bytes(low, value, form)
    if form.packed:
        return low.emit(ptx.CvtPackOp(value, f"{form.element}x2"))
    return low.emit(ptx.CvtOp(value, form.element, "f32", rounding="rn"))


def _narrow_bytes(low: Lowering, value: SSAValue, form: Form) -> SSAValue:
    if not form.packed:
        zero, count = low.constant(0.0, "f32"), count_of(value)
        singles = (
            [low.emit(ptx.ExtractOp(value, k)) for k in range(count)] if count > 1 else [value]
        )
        value = low.emit(ptx.PackOp([part for single in singles for part in (single, zero)]))
    pairs = low.emit(ptx.CvtPackOp(value, f"{form.element}x2"))
    return low.emit(ptx.JoinOp(pairs, "b32")) if form.kind == "b32" else pairs
