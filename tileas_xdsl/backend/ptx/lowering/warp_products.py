"""mma.sync: products in the registers of a warp."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.backend.ptx.lowering.lowering import Handler, Lowering
from tileas_xdsl.dialects import cute_nvgpu as nvgpu
from tileas_xdsl.dialects import ptx


def _product(op: nvgpu.MmaSm80Op, low: Lowering) -> None:
    product = ptx.MmaOp(
        _words(op.a, low),
        _words(op.b, low),
        low.value(op.c),
        op.shape_name,
        op.sum_type,
        op.a_type.data,
        op.b_type.data,
    )
    low.define(op.result, low.emit(product))


def _words(value: SSAValue, low: Lowering) -> SSAValue:
    """The registers of an operand; f32 is read as tf32, bit by bit."""
    found = low.value(value)
    return low.emit(ptx.MovOp(found, "b32", kind="b32")) if low.form(value).kind == "f32" else found


HANDLERS: Mapping[type[Operation], Handler] = {nvgpu.MmaSm80Op: _product}
