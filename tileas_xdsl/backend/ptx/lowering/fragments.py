"""Lower operations on `vector` values: extract, insert, slice, join, shuffle, map.

A vector is a tuple of registers (`forms.py`): 32-bit elements one each, 16- and 8-bit elements
packed by two and four. Whole registers are renamed, which costs nothing; single packed elements
are taken out by `mov.b32` or shifts:

    %x = vector.extract %u[1] : f16 from vector<2xf16>     mov.b32 {%h6, %h7}, %r5;     %h7
    cute.fragment.slice %v[4 to 8] : vector<16xf16>        registers 2 and 3 of %v

`cute.fragment.map` is a body for each element. It is lowered once: `ptx` operations take tuples of
registers, and the printer writes the instruction for each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xdsl.dialects import arith, vector
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.backend.ptx.lowering.arithmetic.conversions import FromInteger, floats_of_packed
from tileas_xdsl.backend.ptx.lowering.arithmetic.integers import select_predicate
from tileas_xdsl.backend.ptx.lowering.convert import gather, spread
from tileas_xdsl.backend.ptx.lowering.forms import Form
from tileas_xdsl.backend.ptx.lowering.lowering import Handler, Lowering
from tileas_xdsl.dialects import cute, ptx


def registers_of(low: Lowering, value: SSAValue, start: int, count: int) -> SSAValue:
    """Return a range of a tuple of registers, the tuple itself if the range is all of it."""
    total = value.type.count.data if isinstance(value.type, ptx.RegType) else 1
    if start == 0 and count == total:
        return value
    return low.emit(ptx.ExtractOp(value, start, count))


def element(low: Lowering, value: SSAValue, form: Form, index: int) -> SSAValue:
    """Return one element, in the register form of a scalar."""
    register = registers_of(low, value, index // form.per_register, 1)
    if not form.packed:
        return register
    if form.bits == 8:
        return _byte(low, register, form, index % form.per_register)
    halves = low.emit(ptx.SplitOp(register, "b16"))
    return low.emit(ptx.ExtractOp(halves, index % 2))


def _byte(low: Lowering, register: SSAValue, form: Form, index: int) -> SSAValue:
    shifted = register
    if index:
        shifted = low.emit(ptx.ShrOp(register, low.constant(8 * index), f"u{form.kind[1:]}"))
    if form.kind == "b16":
        return shifted
    return low.emit(ptx.CvtOp(shifted, "u16", "u32"))


def assemble(low: Lowering, elements: Sequence[SSAValue], form: Form) -> SSAValue:
    """Assemble a fragment of single elements."""
    if not form.packed:
        return elements[0] if len(elements) == 1 else low.emit(ptx.PackOp(elements))
    return gather(low, low.emit(ptx.PackOp(elements)), form)


def _positions(op: vector.ExtractOp | vector.InsertOp, low: Lowering, form: Form) -> int:
    position = op.get_mixed_position()
    if len(position) != 1 or not isinstance(position[0], int):
        raise low.error("takes one position that is a constant: registers have no index")
    if not 0 <= position[0] < form.elements:
        raise low.error(f"position {position[0]} is outside of {form.elements} elements")
    return position[0]


def _extract(op: vector.ExtractOp, low: Lowering) -> None:
    form = low.form(op.vector)
    index = _positions(op, low, form)
    low.define(op.result, element(low, low.value(op.vector), form, index))


def _insert(op: vector.InsertOp, low: Lowering) -> None:
    form, index = low.form(op.dest), _positions(op, low, low.form(op.dest))
    dest, source = low.value(op.dest), low.value(op.source)
    first = index // form.per_register
    if form.packed:
        source = _replaced(low, registers_of(low, dest, first, 1), form, index, source)
    parts = [source]
    if first:
        parts.insert(0, registers_of(low, dest, 0, first))
    if first + 1 < form.count:
        parts.append(registers_of(low, dest, first + 1, form.count - first - 1))
    low.define(op.result, parts[0] if len(parts) == 1 else low.emit(ptx.PackOp(parts)))


def _replaced(
    low: Lowering, register: SSAValue, form: Form, index: int, source: SSAValue
) -> SSAValue:
    """Return a packed register with one element replaced."""
    single = replace(form, count=1)
    found = spread(low, register, single)
    elements = [low.emit(ptx.ExtractOp(found, k)) for k in range(form.per_register)]
    elements[index % form.per_register] = source
    return gather(low, low.emit(ptx.PackOp(elements)), single)


def _broadcast(op: vector.BroadcastOp, low: Lowering) -> None:
    form, source = low.form(op.vector), low.form(op.source)
    if source.elements != 1:
        raise low.error("repeats one element")
    value = low.value(op.source)
    if form.packed:
        value = _repeated(low, value, form)
    low.define(op.vector, value if form.count == 1 else low.emit(ptx.PackOp([value] * form.count)))


def _repeated(low: Lowering, value: SSAValue, form: Form) -> SSAValue:
    """Replicate one element across a 32-bit register."""
    if form.bits == 16:
        return low.emit(ptx.JoinOp(low.emit(ptx.PackOp([value, value])), "b32"))
    low_byte = low.emit(ptx.AndOp(value, low.constant(0xFF, "b16"), "b16"))
    wide = low.emit(ptx.CvtOp(low_byte, "u32", "u16"))
    repeated = low.emit(ptx.MulOp(wide, low.constant(0x01010101), "u32", mode="lo"))
    if form.kind == "b32":
        return repeated
    return low.emit(ptx.CvtOp(repeated, "u16", "u32"))


def _make(op: cute.MakeFragmentOp, low: Lowering) -> None:
    result = low.form(op.result)
    forms = [low.form(part) for part in op.parts]
    values = [low.value(part) for part in op.parts]
    if all(form.per_register == result.per_register for form in forms):
        low.define(op.result, values[0] if len(values) == 1 else low.emit(ptx.PackOp(values)))
        return
    elements = [
        element(low, value, form, index)
        for value, form in zip(values, forms, strict=True)
        for index in range(form.elements)
    ]
    low.define(op.result, assemble(low, elements, result))


def _slice(op: cute.SliceFragmentOp, low: Lowering) -> None:
    source, result = low.form(op.source), low.form(op.result)
    value, first = low.value(op.source), op.offset.value.data
    if first % source.per_register == 0 and source.per_register == result.per_register:
        start = first // source.per_register
        low.define(op.result, registers_of(low, value, start, result.count))
        return
    elements = [element(low, value, source, first + i) for i in range(result.elements)]
    low.define(op.result, assemble(low, elements, result))


def _shuffle(op: vector.ShuffleOp, low: Lowering) -> None:
    first, second, result = low.form(op.v1), low.form(op.v2), low.form(op.result)
    picked: list[SSAValue] = []
    for index in op.mask.get_values():
        if index < 0:
            raise low.error("leaves no element undefined")
        source, form = (op.v1, first) if index < first.elements else (op.v2, second)
        position = index if index < first.elements else index - first.elements
        picked.append(element(low, low.value(source), form, position))
    low.define(op.result, assemble(low, picked, result))


def _undefined(op: cute.UndefFragmentOp, low: Lowering) -> None:
    form = low.form(op.result)
    low.define(op.result, low.emit(ptx.UndefOp(form.kind, form.count)))


def _select(op: cute.SelectFragmentOp, low: Lowering) -> None:
    form = low.form(op.result)
    mask, lhs, rhs = (low.value(value) for value in (op.mask, op.lhs, op.rhs))
    if form.kind == "pred":
        low.define(op.result, select_predicate(low, mask, lhs, rhs))
        return
    if not form.packed:
        low.define(op.result, low.emit(ptx.SelpOp(lhs, rhs, mask, form.kind)))
        return
    left, right = (spread(low, value, form) for value in (lhs, rhs))
    chosen = low.emit(ptx.SelpOp(left, right, mask, "b16"))
    low.define(op.result, gather(low, chosen, form))


def _map(op: cute.MapFragmentOp, low: Lowering) -> None:
    """Lower the body once, on tuples of registers."""
    block = op.body.block
    if (packed := _converted_packed(op, low)) is not None:
        low.define(op.outputs[0], packed)
        return
    for argument, value in zip(block.args, op.inputs, strict=True):
        low.define(argument, spread(low, low.value(value), low.form(value)))
    *inner, last = block.ops
    low.lower(inner)
    low.op, low.location = op, op.location
    for result, value in zip(op.outputs, last.operands, strict=True):
        low.define(result, gather(low, low.value(value), low.form(result)))


def _converted_packed(op: cute.MapFragmentOp, low: Lowering) -> SSAValue | None:
    """Return what a map gives that converts packed integers to packed floats, if that is faster."""
    first = op.body.block.first_op
    if not isinstance(first, FromInteger) or not isinstance(first.next_op, cute.YieldFragmentOp):
        return None
    source, result = low.form(op.inputs[0]), low.form(op.outputs[0])
    sign = "s" if isinstance(first, arith.SIToFPOp) else "u"
    return floats_of_packed(low, low.value(op.inputs[0]), source, result, sign)


HANDLERS: Mapping[type[Operation], Handler] = {
    vector.ExtractOp: _extract,
    vector.InsertOp: _insert,
    vector.BroadcastOp: _broadcast,
    vector.ShuffleOp: _shuffle,
    cute.MakeFragmentOp: _make,
    cute.MapFragmentOp: _map,
    cute.SelectFragmentOp: _select,
    cute.SliceFragmentOp: _slice,
    cute.UndefFragmentOp: _undefined,
}
