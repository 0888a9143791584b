"""Lower wgmma and tcgen05.mma: operands by descriptors, accumulators complete asynchronously."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.ir import SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.base.symbolic_values import View, symbol
from tileas_xdsl.dialects.cute_nvgpu import MmaSm90Op, SmemDescViewType, UmmaOp
from tileas_xdsl.dialects.cute_nvgpu.atoms.syntax import integer, text, words
from tileas_xdsl.dialects.cute_nvgpu.atoms.tcgen05 import Sm100MmaType
from tileas_xdsl.dialects.cute_nvgpu.atoms.wgmma import Sm90MmaType
from tileas_xdsl.transforms.cute_to_nvgpu.atom_values import known_boolean, values_of
from tileas_xdsl.transforms.cute_to_nvgpu.converter import Converter
from tileas_xdsl.transforms.cute_to_nvgpu.element_access import (
    Indices,
    is_registers,
    read,
    view_of,
    write,
)
from tileas_xdsl.transforms.cute_to_nvgpu.mma.async_waits import mark_in_flight
from tileas_xdsl.transforms.cute_to_nvgpu.mma.mma_iterations import MmaCallOp, mma_iterations

ACCUMULATE = "accum_c"
NEGATIONS = ("neg_a", "neg_b")


def convert_wgmma(op: MmaCallOp, conv: Converter, atom: Sm90MmaType) -> None:
    """One `wgmma.mma_async` for each step; D may be read behind a wait."""
    a, b = op.a[0], op.b[0]
    if op.c != op.d or not is_registers(op.d):
        raise op_error(op, "adds to the registers of D: C is D")
    adds = values_of(conv, op.atom).get(ACCUMULATE)
    a_type, b_type, _ = atom.elements
    a_major, b_major = words(atom.majors)
    for step in mma_iterations(op, a, b):
        made = MmaSm90Op(
            _operand(conv, a, step.a),
            _operand(conv, b, step.b),
            read(conv, op.d, step.d),
            adds if step.is_first else None,
            shape=atom.shape_mnk,
            a_type=a_type,
            b_type=b_type,
            a_major=a_major,
            b_major=b_major,
        )
        write(conv, op.d, step.d, conv.insert(made))
    mark_in_flight(conv, op.d)
    conv.kill(op)


def _operand(conv: Converter, view: SSAValue, indices: Indices) -> SSAValue:
    """The descriptor, or the registers, that one instruction takes."""
    if not isinstance(view.type, SmemDescViewType):
        return read(conv, view, indices)
    known = symbol(view)
    assert isinstance(known, View)
    handle: Any = known.iterator
    return conv.descriptor(handle.moved(known.layout.index(indices[0])))


def convert_tcgen05_mma(op: MmaCallOp, conv: Converter, atom: Sm100MmaType) -> None:
    """One `tcgen05.mma` for each step, by the thread that is there."""
    a, b = op.a[0], op.b[0]
    _check_tcgen05_mma(op, conv, atom)
    a_type, b_type, d_type = atom.elements
    a_major, b_major = words(atom.majors)
    adds = values_of(conv, op.atom)[ACCUMULATE]
    always: SSAValue | None = None
    pointer, layout = view_of(conv, op.d)
    for step in mma_iterations(op, a, b):
        if not step.is_first and always is None:
            always = conv.insert(arith.ConstantOp(IntegerAttr(1, i1)))
        conv.effect(
            UmmaOp(
                conv.tensor_address(pointer.moved(layout.index(step.d[0]))),
                _operand(conv, a, step.a),
                _operand(conv, b, step.b),
                adds if always is None else always,
                shape=atom.shape_mnk,
                a_type=a_type,
                b_type=b_type,
                d_type=d_type,
                a_major=a_major,
                b_major=b_major,
                num_cta=atom.blocks,
            )
        )
    conv.kill(op)


def _check_tcgen05_mma(op: MmaCallOp, conv: Converter, atom: Sm100MmaType) -> None:
    """Refuse what the instruction could do but the operation below cannot say."""
    values = values_of(conv, op.atom)
    if op.c != op.d:
        raise op_error(op, "adds to D in tensor memory: C is D")
    if text(atom.fragments) != "ss":
        raise op_error(op, f"is not lowered with A in tensor memory: {atom}")
    if integer(atom.exponent):
        raise op_error(op, f"is not lowered with sums that are scaled: {atom}")
    for name in NEGATIONS:
        if known_boolean(values[name]) is not False:
            raise op_error(op, f"is not lowered with {name}: it is a constant false")
