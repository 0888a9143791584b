"""Conversions of `arith`: widths, floats and integers, bits read as another type."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith, vector
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.backend.ptx.lowering.convert import narrow, separate, widen
from tileas_xdsl.backend.ptx.lowering.forms import Form
from tileas_xdsl.backend.ptx.lowering.lowering import Handler, Lowering
from tileas_xdsl.dialects import ptx

Extension = arith.ExtSIOp | arith.ExtUIOp
FromInteger = arith.SIToFPOp | arith.UIToFPOp
ToInteger = arith.FPToSIOp | arith.FPToUIOp


def _extend_float(op: arith.ExtFOp, low: Lowering) -> None:
    source, result = low.form(op.input), low.form(op.result)
    wide = widen(low, low.value(op.input), source)
    if result.element == "f64":
        wide = low.emit(ptx.CvtOp(wide, "f64", "f32"))
    elif result.element != "f32":
        wide = narrow(low, wide, result)
    low.define(op.result, wide)


def _truncate_float(op: arith.TruncFOp, low: Lowering) -> None:
    source, result = low.form(op.input), low.form(op.result)
    if source.element == "f64" and result.element != "f32":
        raise low.error("rounds f64 to f32 only: what is narrower would be rounded twice")
    value = low.value(op.input)
    if source.element == "f64":
        low.define(op.result, low.emit(ptx.CvtOp(value, "f32", "f64", rounding="rn")))
        return
    low.define(op.result, narrow(low, widen(low, value, source), result))


def _extend_integer(op: Extension, low: Lowering) -> None:
    source, result = low.form(op.input), low.form(op.result)
    sign = "s" if isinstance(op, arith.ExtSIOp) else "u"
    low.define(op.result, _resize(low, low.value(op.input), source, result, sign))


def _truncate_integer(op: arith.TruncIOp, low: Lowering) -> None:
    source, result = low.form(op.input), low.form(op.result)
    low.define(op.result, _resize(low, low.value(op.input), source, result, "u"))


def _index_cast(op: arith.IndexCastOp, low: Lowering) -> None:
    source, result = low.form(op.input), low.form(op.result)
    low.define(op.result, _resize(low, low.value(op.input), source, result, "s"))


def _resize(low: Lowering, value: SSAValue, source: Form, result: Form, sign: str) -> SSAValue:
    """An integer in more or fewer bits."""
    if result.packed:
        raise low.error(f"integers are not packed into {result.element} here: shift and or them")
    if source.kind == "pred":
        true = -1 if sign == "s" else 1
        kind = result.kind
        return low.emit(ptx.SelpOp(low.constant(true, kind), low.constant(0, kind), value, kind))
    if result.kind == "pred":
        return _lowest_bit(low, value, source)
    if source.packed and source.bits == 8:
        raise low.error("packed bytes are not extended here: shift and mask them")
    value = separate(low, value, source)
    if source.bits == result.bits:
        return value
    return low.emit(ptx.CvtOp(value, f"{sign}{result.bits}", f"{sign}{source.bits}"))


def _lowest_bit(low: Lowering, value: SSAValue, source: Form) -> SSAValue:
    if source.packed:
        raise low.error(f"packed {source.element} are not truncated to single bits")
    bit = low.emit(ptx.AndOp(value, low.constant(1, source.kind), source.kind))
    zero = low.constant(0, source.kind)
    return low.emit(ptx.SetpOp(bit, zero, "ne", f"u{max(source.bits, 16)}"))


def _from_integer(op: FromInteger, low: Lowering) -> None:
    source, result = low.form(op.input), low.form(op.result)
    sign = "s" if isinstance(op, arith.SIToFPOp) else "u"
    value = low.value(op.input)
    if source.packed:
        raise low.error(f"packed {source.element} are not converted to floats: extend them")
    if source.kind == "pred":
        one = low.constant(-1.0 if sign == "s" else 1.0, "f32")
        real = low.emit(ptx.SelpOp(one, low.constant(0.0, "f32"), value, "f32"))
        low.define(op.result, _from_f32(low, real, result))
        return
    if result.element in ("f32", "f64", "f16", "bf16") and not result.packed:
        new = ptx.CvtOp(value, result.element, f"{sign}{source.bits}", rounding="rn")
        low.define(op.result, low.emit(new))
        return
    if source.bits > 16:
        raise low.error(f"{source.element} would be rounded twice on its way to {result.element}")
    real = low.emit(ptx.CvtOp(value, "f32", f"{sign}{source.bits}", rounding="rn"))
    low.define(op.result, narrow(low, real, result))


def _from_f32(low: Lowering, value: SSAValue, result: Form) -> SSAValue:
    if result.element == "f64":
        return low.emit(ptx.CvtOp(value, "f64", "f32"))
    return narrow(low, value, result)


def _to_integer(op: ToInteger, low: Lowering) -> None:
    source, result = low.form(op.input), low.form(op.result)
    sign = "s" if isinstance(op, arith.FPToSIOp) else "u"
    if result.packed or result.kind == "pred":
        raise low.error(f"floats do not become {result.element}: convert them to i32 first")
    real = widen(low, low.value(op.input), source)
    type_ = "f64" if source.element == "f64" else "f32"
    new = ptx.CvtOp(real, f"{sign}{result.bits}", type_, rounding="rzi")
    low.define(op.result, low.emit(new))


def _bitcast(op: arith.BitcastOp | vector.BitcastOp, low: Lowering) -> None:
    (source_value,), (result_value,) = op.operands, op.results
    source, result = low.form(source_value), low.form(result_value)
    value = low.value(source_value)
    low.define(result_value, reinterpret(low, value, source, result))


def reinterpret(low: Lowering, value: SSAValue, source: Form, result: Form) -> SSAValue:
    """The same bits in the registers of another form."""
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
