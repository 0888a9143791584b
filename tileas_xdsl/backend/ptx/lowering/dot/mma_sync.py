"""Asynchronous copies of threads, products of warps."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.backend.ptx.lowering.control.synchronisation import guard_of
from tileas_xdsl.backend.ptx.lowering.lowering import Handler, Lowering
from tileas_xdsl.dialects import cute_nvgpu as nvgpu
from tileas_xdsl.dialects import ptx
from tileas_xdsl.dialects.cute_nvgpu.atoms.block_scales import SCALE_NAMES
from tileas_xdsl.dialects.cute_nvgpu.mma.wgmma_kinds import ptx_element
from tileas_xdsl.dialects.cute_nvgpu.operands import value_of
from tileas_xdsl.target.isa.tables.matrix.tensor_cores import SCALED_MMA

CACHES = {"always": "ca", "global": "cg"}


def _copy(op: nvgpu.CpAsyncOp, low: Lowering) -> None:
    to, source = low.address_of(op.smem), low.at(low.address_of(op.gmem))
    size = op.bytes.value.data
    copied = None if op.source_bytes is None else low.value(op.source_bytes)
    made = ptx.CpAsyncOp(
        low.at(to),
        source,
        size,
        cache=CACHES[op.cache.data],
        source_size=copied,
        guard=guard_of(low, op.pred),
    )
    low.act(made)


def _commit(op: nvgpu.CpAsyncCommitOp, low: Lowering) -> None:
    low.act(ptx.CpAsyncCommitOp())


def _wait(op: nvgpu.CpAsyncWaitOp, low: Lowering) -> None:
    low.act(ptx.CpAsyncWaitOp(op.count.value.data))


def _arrive(op: nvgpu.CpAsyncMbarrierArriveOp, low: Lowering) -> None:
    address = low.address_of(op.ptr)
    low.act(ptx.CpAsyncMbarrierArriveOp(address.base, offset=address.offset))


def _product(op: nvgpu.MmaSm80Op | nvgpu.MmaSm89Op, low: Lowering) -> None:
    found = op.fragments()
    assert found is not None
    a, b = (_as(low, value, found.kind) for value in (op.a, op.b))
    c = _as(low, op.c, found.c_kind)
    types = (op.sum_type, op.a_type.data, op.b_type.data)
    product = low.emit(ptx.MmaOp(a, b, c, op.shape_name, *types))
    _define(op.result, product, found.c_kind, low)


def _sparse_product(op: nvgpu.MmaSm80SparseOp, low: Lowering) -> None:
    found = op.fragments()
    assert found is not None
    a, b = (_as(low, value, found.kind) for value in (op.a, op.b))
    c, metadata = _as(low, op.c, found.c_kind), low.value(op.metadata)
    types = (op.sum_type, op.a_type.data, op.b_type.data)
    made = ptx.MmaSparseOp(
        a,
        b,
        c,
        metadata,
        op.shape_name,
        *types,
        selector=value_of(op.selector),
        ordered=op.ordered is not None,
    )
    _define(op.result, low.emit(made), found.c_kind, low)


def _scaled_product(op: nvgpu.MmaSm120BlockScaledOp, low: Lowering) -> None:
    a, b, c = (_as(low, v, k) for v, k in ((op.a, "b32"), (op.b, "b32"), (op.c, "f32")))
    kind, vector = op.kind
    if (scale := SCALED_MMA[kind].vectors[vector]) != SCALE_NAMES.get(op.sf_type):
        raise low.error(f"has scales of {scale} for {kind} by {vector}, not of {op.sf_type}")
    made = ptx.MmaScaledOp(
        a,
        b,
        c,
        low.value(op.sf_a),
        low.value(op.sf_b),
        kind,
        vector,
        ptx_element(op.a_type),
        ptx_element(op.b_type),
        thread_a=value_of(op.thread_id_a),
        thread_b=value_of(op.thread_id_b),
    )
    _define(op.result, low.emit(made), "f32", low)


def _define(result: SSAValue, product: SSAValue, kind: str, low: Lowering) -> None:
    """Give a result the registers of a product, in the kind that its users take."""
    form = low.form(result)
    if form.kind != kind:
        product = low.emit(ptx.MovOp(product, "b32", kind=form.kind))
    low.define(result, product)


def _as(low: Lowering, value: SSAValue, kind: str) -> SSAValue:
    """Registers of another kind with the same bits."""
    registers = low.value(value)
    if low.form(value).kind == kind:
        return registers
    return low.emit(ptx.MovOp(registers, "b32", kind=kind))


HANDLERS: Mapping[type[Operation], Handler] = {
    nvgpu.CpAsyncCommitOp: _commit,
    nvgpu.CpAsyncMbarrierArriveOp: _arrive,
    nvgpu.CpAsyncOp: _copy,
    nvgpu.CpAsyncWaitOp: _wait,
    nvgpu.MmaSm120BlockScaledOp: _scaled_product,
    nvgpu.MmaSm80Op: _product,
    nvgpu.MmaSm80SparseOp: _sparse_product,
    nvgpu.MmaSm89Op: _product,
}
