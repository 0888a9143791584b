"""Lower wgmma: operands by descriptors, accumulators complete asynchronously."""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.base.symbolic_values import View, symbol
from tileas_xdsl.dialects.cute_nvgpu import MmaSm90Op, SmemDescViewType
from tileas_xdsl.dialects.cute_nvgpu.atoms.syntax import keywords
from tileas_xdsl.dialects.cute_nvgpu.atoms.wgmma import Sm90MmaType
from tileas_xdsl.transforms.cute_to_nvgpu.atom_values import values_of
from tileas_xdsl.transforms.cute_to_nvgpu.converter import Converter
from tileas_xdsl.transforms.cute_to_nvgpu.element_access import (
    Indices,
    is_registers,
    read,
    write,
)
from tileas_xdsl.transforms.cute_to_nvgpu.mma.async_waits import mark_in_flight
from tileas_xdsl.transforms.cute_to_nvgpu.mma.mma_iterations import MmaCallOp, mma_iterations

ACCUMULATE = "accum_c"


def convert_wgmma(op: MmaCallOp, conv: Converter, atom: Sm90MmaType) -> None:
    """One `wgmma.mma_async` for each step; D may be read behind a wait."""
    a, b = op.a[0], op.b[0]
    if op.c != op.d or not is_registers(op.d):
        raise op_error(op, "adds to the registers of D: C is D")
    adds = values_of(conv, op.atom).get(ACCUMULATE)
    a_type, b_type, _ = atom.elements
    a_major, b_major = keywords(atom.majors)
    for step in mma_iterations(op, a, b):
        made = MmaSm90Op(
            operand(conv, a, step.a),
            operand(conv, b, step.b),
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


def operand(conv: Converter, view: SSAValue, indices: Indices) -> SSAValue:
    """The descriptor, or the registers, that one instruction takes."""
    if not isinstance(view.type, SmemDescViewType):
        return read(conv, view, indices)
    known = symbol(view)
    assert isinstance(known, View)
    handle: Any = known.iterator
    return conv.descriptor(handle.moved(known.layout.index(indices[0])))
