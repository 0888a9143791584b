"""`arith.constant`: literals, packed where elements are narrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import ml_dtypes
import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.backend.ptx.lowering.arithmetic.integers import as_signed
from tileas_xdsl.backend.ptx.lowering.convert import SCALE
from tileas_xdsl.backend.ptx.lowering.forms import Form
from tileas_xdsl.backend.ptx.lowering.lowering import Handler, Lowering
from tileas_xdsl.dialects import ptx

NARROW_DTYPES: Mapping[str, type] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "ue8m0": ml_dtypes.float8_e8m0fnu,
}
"""How numpy rounds to the floats that are bits in registers."""


def _constant(op: arith.ConstantOp, low: Lowering) -> None:
    form = low.form(op.result)
    low.define(op.result, _registers(low, form, _elements(op, low, form)))


def _elements(op: arith.ConstantOp, low: Lowering, form: Form) -> Sequence[float]:
    attribute = op.value
    if isinstance(attribute, DenseIntOrFPElementsAttr):
        values = cast(tuple[float, ...], attribute.get_values())
        return values * form.elements if len(values) == 1 else values
    if isinstance(attribute, IntegerAttr):
        return (_integer(attribute, low, form),)
    if isinstance(attribute, FloatAttr):
        return (attribute.value.data,)
    raise low.error(f"no literal for {attribute}")


def _integer(attribute: IntegerAttr, low: Lowering, form: Form) -> int:
    number = as_signed(attribute)
    if form.bits == 32 and not -(2**31) <= number < 2**32:
        raise low.error(f"{number} does not fit: an index has 32 bits on the device")
    return number


def _registers(low: Lowering, form: Form, elements: Sequence[float]) -> SSAValue:
    words = _words(form, elements)
    if not form.has_literals:
        return _moved(low, form, words)
    if len(words) > 1 and all(_same(word, words[0]) for word in words):
        return low.constant(words[0], form.kind, form.count)
    if len(words) == 1:
        return low.constant(words[0], form.kind)
    return low.emit(ptx.PackOp([low.constant(word, form.kind) for word in words]))


def _moved(low: Lowering, form: Form, words: Sequence[float]) -> SSAValue:
    """Narrow floats and pairs have no literals in PTX: their bits are moved to registers, once."""
    registers = [_move(low, form.kind, word) for word in words]
    return registers[0] if len(registers) == 1 else low.emit(ptx.PackOp(registers))


def _move(low: Lowering, kind: str, word: float) -> SSAValue:
    literal = low.constant(word, kind)
    return low.once(("moved", kind, word), lambda: ptx.MovOp(literal, kind))


def _same(a: float, b: float) -> bool:
    return str(a) == str(b)


def _words(form: Form, elements: Sequence[float]) -> list[float]:
    """The literal of each register."""
    if form.kind in ("f32", "f64"):
        return [float(element) for element in elements]
    if form.kind == "pred":
        return [int(element) & 1 for element in elements]
    bits = [element_bits(form, element) for element in elements]
    if not form.packed:
        return list(bits)
    groups = range(0, len(bits), form.per_register)
    return [_join(bits[start : start + form.per_register], form.bits) for start in groups]


def element_bits(form: Form, element: float) -> int:
    """An element as the bits that stand for it in a register of bits; no scale is zero: 2**-127."""
    if not form.is_float:
        return int(element)
    if form.element == "tf32":
        return int(np.float32(element).view(np.uint32))
    if form.element == SCALE and element == 0:
        return 0
    return int(np.array(element, NARROW_DTYPES[form.element]).view(f"u{form.bits // 8}"))


def _join(parts: Sequence[int], bits: int) -> int:
    mask = (1 << bits) - 1
    return sum((part & mask) << (bits * index) for index, part in enumerate(parts))


HANDLERS: Mapping[type[Operation], Handler] = {arith.ConstantOp: _constant}
