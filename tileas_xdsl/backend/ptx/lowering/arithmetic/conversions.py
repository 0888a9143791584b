"""Lower conversions of `arith`: integer widths, floats, integers to floats and back, bitcasts.

`cvt` of PTX has no path for some pairs, and two roundings in a row are not one: f64 to f16 by way
of f32 would round ties twice. The first step therefore rounds to odd (Boldo and Melquiond,
"Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd"): truncate,
and set the last bit if that was inexact, so that no tie of the second rounding is made by the
first.

    %h = arith.truncf %d : f64 to f16        cvt.rz.f32.f64 %f0, %fd0;
                                             cvt.f64.f32 %fd1, %f0;
                                             setp.ne.f64 %p0, %fd1, %fd0;      inexact
                                             mov.b32 %r0, %f0;
                                             or.b32 %r1, %r0, 1;
                                             selp.b32 %r2, %r1, %r0, %p0;
                                             mov.b32 %f1, %r2;
                                             cvt.rn.f16.f32 %h2, %f1;
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith, vector
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.backend.ptx.lowering.arithmetic.integers import register_bits
from tileas_xdsl.backend.ptx.lowering.convert import (
    BYTES,
    gather,
    halves_of_bytes,
    narrow,
    spread,
    widen,
)
from tileas_xdsl.backend.ptx.lowering.forms import Form
from tileas_xdsl.backend.ptx.lowering.lowering import Handler, Lowering
from tileas_xdsl.dialects import ptx
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import NEAREST, float_mode
from tileas_xdsl.layout.units import BYTE_BITS, WORD_BITS

SIGN_OF_BYTE = 8
"""What a selection of `prmt` adds to the number of a byte to have its sign in all bits."""

Extension = arith.ExtSIOp | arith.ExtUIOp
FromInteger = arith.SIToFPOp | arith.UIToFPOp
ToInteger = arith.FPToSIOp | arith.FPToUIOp


def _extend_float(op: arith.ExtFOp, low: Lowering) -> None:
    source, result = low.form(op.input), low.form(op.result)
    if source.packed and source.element in BYTES and result.element == "f16":
        low.define(op.result, halves_of_bytes(low, low.value(op.input), source))
        return
    wide = widen(low, low.value(op.input), source)
    if result.element == "f64":
        wide = low.emit(ptx.CvtOp(wide, "f64", "f32"))
    elif result.element != "f32":
        wide = narrow(low, wide, result, _rounding(op))
    low.define(op.result, wide)


def _rounding(op: arith.ExtFOp | arith.TruncFOp) -> str:
    return float_mode(op).rounding or NEAREST


def _truncate_float(op: arith.TruncFOp, low: Lowering) -> None:
    source, result = low.form(op.input), low.form(op.result)
    value = low.value(op.input)
    if source.element != "f64":
        low.define(op.result, narrow(low, widen(low, value, source), result, _rounding(op)))
    elif result.element == "f32":
        low.define(op.result, low.emit(ptx.CvtOp(value, "f32", "f64", rounding=_rounding(op))))
    else:
        odd = _to_odd(low, value, "f64", "f64")
        low.define(op.result, narrow(low, odd, result, _rounding(op)))


def _to_odd(low: Lowering, value: SSAValue, type_: str, back: str) -> SSAValue:
    """Round a wider number to f32 to odd, so that rounding the result again rounds once."""
    cut = low.emit(ptx.CvtOp(value, "f32", type_, rounding="rz"))
    whole = "rzi" if back[0] in "su" else None
    again = low.emit(ptx.CvtOp(cut, back, "f32", rounding=whole))
    inexact = low.emit(ptx.SetpOp(again, value, "ne", type_))
    bits = low.emit(ptx.MovOp(cut, "b32", kind="b32"))
    odd = low.emit(ptx.OrOp(bits, low.constant(1), "b32"))
    chosen = low.emit(ptx.SelpOp(odd, bits, inexact, "b32"))
    return low.emit(ptx.MovOp(chosen, "b32", kind="f32"))


def _extend_integer(op: Extension, low: Lowering) -> None:
    source, result = low.form(op.input), low.form(op.result)
    sign = "s" if isinstance(op, arith.ExtSIOp) else "u"
    made = op.input.owner
    byte = _byte_of_word(low, made, sign) if isinstance(made, vector.ExtractOp) else None
    if byte is None or register_bits(result) < WORD_BITS:
        low.define(op.result, _resize(low, low.value(op.input), source, result, sign))
        return
    if result.bits > WORD_BITS:
        byte = low.emit(ptx.CvtOp(byte, f"{sign}{result.bits}", f"{sign}{WORD_BITS}"))
    low.define(op.result, byte)


def _byte_of_word(low: Lowering, op: vector.ExtractOp, sign: str) -> SSAValue | None:
    """Extend a byte of a word to 32 bits by one permutation; None for what is in no word."""
    form, position = low.form(op.vector), op.get_mixed_position()
    if form.bits != BYTE_BITS or form.kind != "b32" or not isinstance(position[0], int):
        return None
    index, byte = divmod(position[0], form.per_register)
    words = low.value(op.vector)
    word = low.emit(ptx.ExtractOp(words, index)) if form.count > 1 else words
    above = byte | SIGN_OF_BYTE if sign == "s" else form.per_register
    return low.emit(ptx.PrmtOp(word, low.constant(0), low.constant(above * 0x1110 + byte), "b32"))


def _truncate_integer(op: arith.TruncIOp, low: Lowering) -> None:
    source, result = low.form(op.input), low.form(op.result)
    low.define(op.result, _resize(low, low.value(op.input), source, result, "u"))


def _index_cast(op: arith.IndexCastOp, low: Lowering) -> None:
    source, result = low.form(op.input), low.form(op.result)
    low.define(op.result, _resize(low, low.value(op.input), source, result, "s"))


def _resize(low: Lowering, value: SSAValue, source: Form, result: Form, sign: str) -> SSAValue:
    """Extend or truncate an integer; a predicate becomes 1 or, signed, -1."""
    if source.kind == "pred":
        kind = f"b{register_bits(result)}"
        true = low.constant(-1 if sign == "s" else 1, kind)
        return gather(low, low.emit(ptx.SelpOp(true, low.constant(0, kind), value, kind)), result)
    value = spread(low, value, source, sign)
    if result.kind == "pred":
        return _lowest_bit(low, value, register_bits(source))
    bits, before = register_bits(result), register_bits(source)
    if bits != before:
        value = low.emit(ptx.CvtOp(value, f"{sign}{bits}", f"{sign}{before}"))
    return gather(low, value, result)


def _lowest_bit(low: Lowering, value: SSAValue, bits: int) -> SSAValue:
    kind = f"b{bits}"
    bit = low.emit(ptx.AndOp(value, low.constant(1, kind), kind))
    return low.emit(ptx.SetpOp(bit, low.constant(0, kind), "ne", f"u{bits}"))


def _from_integer(op: FromInteger, low: Lowering) -> None:
    source, result = low.form(op.input), low.form(op.result)
    sign = "s" if isinstance(op, arith.SIToFPOp) else "u"
    value = low.value(op.input)
    if source.kind == "pred":
        one = low.constant(-1.0 if sign == "s" else 1.0, "f32")
        real = low.emit(ptx.SelpOp(one, low.constant(0.0, "f32"), value, "f32"))
        low.define(op.result, _from_f32(low, real, result))
        return
    value, type_ = spread(low, value, source, sign), f"{sign}{register_bits(source)}"
    if result.element in ("f32", "f64", "f16", "bf16"):
        real = low.emit(ptx.CvtOp(value, result.element, type_, rounding="rn"))
        low.define(op.result, gather(low, real, result))
        return
    low.define(op.result, narrow(low, _to_odd(low, value, type_, type_), result))


def floats_of_packed(
    low: Lowering, words: SSAValue, source: Form, result: Form, sign: str
) -> SSAValue | None:
    """Convert four bytes of each register to pairs of 16-bit floats, without conversions.

    A byte `u` below the bits of a power of two whose last bit counts one is that number plus `u`:
    1024.0 of f16, 2**23 of f32, whose upper half is exact as bf16.  A signed byte with its first
    bit flipped is the byte plus 128.  None for other forms.  (CUTLASS, `numeric_conversion.h`.)
    """
    if source.bits != 8 or source.kind != "b32" or result.element not in ("f16", "bf16"):
        return None
    if sign == "s":
        words = low.emit(ptx.XorOp(words, low.constant(0x80808080), "b32"))
    half = _pair_of_f16 if result.element == "f16" else _pair_of_bf16
    pairs = [half(low, words, first, 128 if sign == "s" else 0) for first in (0, 2)]
    if source.count == 1:
        return low.emit(ptx.PackOp(pairs))
    ordered = [low.emit(ptx.ExtractOp(v, k)) for k in range(source.count) for v in pairs]
    return low.emit(ptx.PackOp(ordered))


def _pair_of_f16(low: Lowering, words: SSAValue, first: int, more: int) -> SSAValue:
    """Two bytes of each register, from `first` on, less `more`: `{0x64, byte}` is 1024 + byte."""
    offset = low.constant((0x6400 + more) * 0x10001)
    bias = low.emit(ptx.MovOp(offset, "b32", kind="b32"))
    digits = low.constant(0x4140 + 0x101 * first)
    biased = low.emit(ptx.PrmtOp(words, low.constant(0x64646464), digits, "b32"))
    return low.emit(ptx.SubOp(biased, bias, "f16x2", rounding="rn"))


def _pair_of_bf16(low: Lowering, words: SSAValue, first: int, more: int) -> SSAValue:
    """The same by f32: `{0x4b, 0, 0, byte}` is 2**23 + byte, whose differences have 8 bits."""
    bias, high = low.constant(float((1 << 23) + more), "f32"), low.constant(0x4B000000)
    bits: list[SSAValue] = []
    for k in (first, first + 1):
        biased = low.emit(ptx.PrmtOp(words, high, low.constant(0x7540 + k), "b32"))
        real = low.emit(ptx.MovOp(biased, "b32", kind="f32"))
        real = low.emit(ptx.SubOp(real, bias, "f32", rounding="rn"))
        bits.append(low.emit(ptx.MovOp(real, "b32", kind="b32")))
    lower, upper = bits
    return low.emit(ptx.PrmtOp(lower, upper, low.constant(0x7632), "b32"))


def _from_f32(low: Lowering, value: SSAValue, result: Form) -> SSAValue:
    if result.element == "f64":
        return low.emit(ptx.CvtOp(value, "f64", "f32"))
    return narrow(low, value, result)


def _to_integer(op: ToInteger, low: Lowering) -> None:
    source, result = low.form(op.input), low.form(op.result)
    sign = "s" if isinstance(op, arith.FPToSIOp) else "u"
    real = widen(low, low.value(op.input), source)
    type_ = "f64" if source.element == "f64" else "f32"
    if result.kind == "pred":
        low.define(op.result, _to_bit(low, real, sign, type_))
        return
    found = low.emit(ptx.CvtOp(real, f"{sign}{result.bits}", type_, rounding="rzi"))
    if type_ == "f64" and result.bits < 64:
        found = _nan_is_zero(low, real, found, f"b{register_bits(result)}")
    low.define(op.result, gather(low, found, result))


def _nan_is_zero(low: Lowering, real: SSAValue, found: SSAValue, kind: str) -> SSAValue:
    """Replace the result of a NaN by 0, as for f32: `cvt` of f64 gives the smallest integer."""
    is_nan = low.emit(ptx.SetpOp(real, real, "nan", "f64"))
    return low.emit(ptx.SelpOp(low.constant(0, kind), found, is_nan, kind))


def _to_bit(low: Lowering, real: SSAValue, sign: str, type_: str) -> SSAValue:
    """Convert to one bit, saturating: true from 1 on, or up to -1 where it is signed."""
    if sign == "s":
        return low.emit(ptx.SetpOp(real, low.constant(-1.0, type_), "le", type_))
    return low.emit(ptx.SetpOp(real, low.constant(1.0, type_), "ge", type_))


def _bitcast(op: arith.BitcastOp | vector.BitcastOp, low: Lowering) -> None:
    (source_value,), (result_value,) = op.operands, op.results
    source, result = low.form(source_value), low.form(result_value)
    value = low.value(source_value)
    low.define(result_value, reinterpret(low, value, source, result))


def reinterpret(low: Lowering, value: SSAValue, source: Form, result: Form) -> SSAValue:
    """Return the same bits in the registers of another form."""
    if "pred" in (source.kind, result.kind):
        if source.kind == result.kind and source.count == result.count:
            return value
        raise low.error(f"bits of {source.element} are not read as {result.element}")
    if source.kind == result.kind:
        return value
    bits = {kind: int(kind[1:]) for kind in (source.kind, result.kind)}
    if bits[source.kind] == bits[result.kind]:
        return low.emit(ptx.MovOp(value, f"b{bits[source.kind]}", kind=result.kind))
    plain = f"b{bits[source.kind]}"
    if source.kind != plain:
        value = low.emit(ptx.MovOp(value, plain, kind=plain))
    wider = bits[source.kind] < bits[result.kind]
    target = f"b{bits[result.kind]}"
    value = low.emit(ptx.JoinOp(value, target) if wider else ptx.SplitOp(value, target))
    if target == result.kind:
        return value
    return low.emit(ptx.MovOp(value, target, kind=result.kind))


HANDLERS: Mapping[type[Operation], Handler] = {
    arith.ExtFOp: _extend_float,
    arith.TruncFOp: _truncate_float,
    arith.ExtSIOp: _extend_integer,
    arith.ExtUIOp: _extend_integer,
    arith.TruncIOp: _truncate_integer,
    arith.IndexCastOp: _index_cast,
    arith.SIToFPOp: _from_integer,
    arith.UIToFPOp: _from_integer,
    arith.FPToSIOp: _to_integer,
    arith.FPToUIOp: _to_integer,
    arith.BitcastOp: _bitcast,
    vector.BitcastOp: _bitcast,
}
