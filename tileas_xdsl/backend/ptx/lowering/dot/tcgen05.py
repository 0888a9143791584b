"""tcgen05: tensor memory, products into it, and its loads and stores."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.backend.ptx.lowering.control.synchronisation import guard_of
from tileas_xdsl.backend.ptx.lowering.dot.wgmma import always, make_descriptor
from tileas_xdsl.backend.ptx.lowering.lowering import Handler, Lowering
from tileas_xdsl.dialects import cute_nvgpu as nvgpu
from tileas_xdsl.dialects import ptx
from tileas_xdsl.dialects.cute_nvgpu.operands import value_of
from tileas_xdsl.target.features import Feature

ACCESSES: Mapping[str, str] = {"load": "ld", "store": "st"}


def _needs_tcgen05(low: Lowering) -> None:
    if (reason := low.target.lacks(Feature.TCGEN05, "is for tcgen05, which")) is not None:
        raise low.error(reason)


def _alloc(op: nvgpu.AllocTmemOp, low: Lowering) -> None:
    _needs_tcgen05(low)
    address, columns = low.address_of(op.ptr), low.constant(op.columns.value.data)
    group = op.num_cta.value.data
    low.act(ptx.Tcgen05AllocOp(address.base, columns, cta_group=group, offset=address.offset))


def _dealloc(op: nvgpu.DeallocTmemOp, low: Lowering) -> None:
    _needs_tcgen05(low)
    columns, group = low.constant(op.columns.value.data), op.num_cta.value.data
    low.act(ptx.Tcgen05DeallocOp(low.value(op.address), columns, cta_group=group))


def _relinquish(op: nvgpu.RelinquishTmemOp, low: Lowering) -> None:
    _needs_tcgen05(low)
    low.act(ptx.Tcgen05RelinquishOp(cta_group=op.num_cta.value.data))


def _retrieve(op: nvgpu.RetrieveTmemPtrOp, low: Lowering) -> None:
    address = low.address_of(op.ptr)
    low.define(op.result, low.emit(ptx.LdOp(address.base, "b32", "shared", offset=address.offset)))


def _load(op: nvgpu.TmemLoadOp, low: Lowering) -> None:
    _needs_tcgen05(low)
    repeat, kind = op.repeat.value.data, low.form(op.result).kind
    address = low.value(op.address)
    low.define(op.result, low.emit(ptx.Tcgen05LdOp(address, op.shape.data, repeat, kind=kind)))


def _store(op: nvgpu.TmemStoreOp, low: Lowering) -> None:
    _needs_tcgen05(low)
    low.act(ptx.Tcgen05StOp(low.value(op.address), low.value(op.value), op.shape.data))


def _wait(op: nvgpu.TmemWaitOp, low: Lowering) -> None:
    _needs_tcgen05(low)
    values = [low.value(value) for value in op.values]
    wait = ptx.Tcgen05WaitOp(ACCESSES[op.access.data], values)
    low.act(wait)
    for out, registers in zip(op.outs, wait.complete, strict=True):
        low.define(out, registers)


def _fence(op: nvgpu.TmemFenceOp, low: Lowering) -> None:
    _needs_tcgen05(low)
    low.act(ptx.Tcgen05FenceOp(op.side.data))


def _descriptor(op: nvgpu.MakeUmmaSmemDescOp | nvgpu.UmmaDescriptorOfOp, low: Lowering) -> None:
    _needs_tcgen05(low)
    make_descriptor(op, low)


def _predicate(low: Lowering, accumulate: SSAValue) -> SSAValue:
    """Whether D is added to, in a register: the instruction takes no literal."""
    found = low.value(accumulate)
    return always(low) if found is low.constant(1, "pred") else found


def _product(op: nvgpu.UmmaOp, low: Lowering) -> None:
    _needs_tcgen05(low)
    low.act(
        ptx.Tcgen05MmaOp(
            low.value(op.d),
            low.value(op.a),
            low.value(op.b),
            low.constant(op.descriptor()),
            _predicate(low, op.accumulate),
            op.kind,
            cta_group=op.num_cta.value.data,
        )
    )


def _copy(op: nvgpu.CopyToTmemOp, low: Lowering) -> None:
    _needs_tcgen05(low)
    low.act(
        ptx.Tcgen05CpOp(
            low.value(op.address),
            low.value(op.source),
            op.shape,
            multicast=op.multicast or None,
            cta_group=op.num_cta.value.data,
        )
    )


def _scaled_product(op: nvgpu.UmmaBlockScaledOp, low: Lowering) -> None:
    _needs_tcgen05(low)
    low.act(
        ptx.Tcgen05MmaOp(
            low.value(op.d),
            low.value(op.a),
            low.value(op.b),
            low.constant(op.descriptor()),
            _predicate(low, op.accumulate),
            op.kind.data,
            cta_group=op.num_cta.value.data,
            scales=[low.value(op.sf_a), low.value(op.sf_b)],
            scale_vector=op.scale_vec.data,
        )
    )


def _sparse_product(op: nvgpu.UmmaSparseOp | nvgpu.UmmaBlockScaledSparseOp, low: Lowering) -> None:
    _needs_tcgen05(low)
    scales, vector = list[SSAValue](), None
    if isinstance(op, nvgpu.UmmaBlockScaledSparseOp):
        scales, vector = [low.value(op.sf_a), low.value(op.sf_b)], op.scale_vec
    low.act(
        ptx.Tcgen05MmaOp(
            low.value(op.d),
            low.value(op.a),
            low.value(op.b),
            low.value(op.descriptor),
            _predicate(low, op.accumulate),
            op.kind.data,
            cta_group=value_of(op.num_cta),
            metadata=low.value(op.metadata),
            scales=scales,
            scale_vector=None if vector is None else vector.data,
            scale_d=None if op.scale_input is None else value_of(op.scale_input),
            collector=None if op.collector is None else op.collector.data,
            ashift=op.ashift is not None,
            weights=op.weight_stationary is not None,
        )
    )


def _commit(op: nvgpu.UmmaCommitOp, low: Lowering) -> None:
    _needs_tcgen05(low)
    address = low.address_of(op.ptr)
    low.act(
        ptx.Tcgen05CommitOp(
            address.base,
            cta_group=op.num_cta.value.data,
            multicast=None if op.mask is None else low.value(op.mask),
            offset=address.offset,
            guard=guard_of(low, op.pred),
        )
    )


EVEN_BLOCK = 0xFEFFFFFF
"""Mask of the shared::cluster address bits that are equal in both CTAs of a pair."""


def _pair_load(op: nvgpu.PairTmaLoadOp, low: Lowering) -> None:
    _needs_tcgen05(low)
    smem, mbar = low.address_of(op.smem), low.at(low.address_of(op.mbar))
    barrier = low.emit(ptx.AndOp(mbar, low.constant(EVEN_BLOCK), "b32"))
    low.act(
        ptx.TensorLoadOp(
            smem.base,
            low.value(op.desc),
            barrier,
            [low.value(coordinate) for coordinate in op.coords],
            cta_group=2,
            offset=smem.offset,
            guard=guard_of(low, op.pred),
        )
    )


HANDLERS: Mapping[type[Operation], Handler] = {
    nvgpu.AllocTmemOp: _alloc,
    nvgpu.CopyToTmemOp: _copy,
    nvgpu.DeallocTmemOp: _dealloc,
    nvgpu.MakeUmmaSmemDescOp: _descriptor,
    nvgpu.UmmaDescriptorOfOp: _descriptor,
    nvgpu.PairTmaLoadOp: _pair_load,
    nvgpu.RelinquishTmemOp: _relinquish,
    nvgpu.RetrieveTmemPtrOp: _retrieve,
    nvgpu.TmemFenceOp: _fence,
    nvgpu.TmemLoadOp: _load,
    nvgpu.TmemStoreOp: _store,
    nvgpu.TmemWaitOp: _wait,
    nvgpu.UmmaBlockScaledOp: _scaled_product,
    nvgpu.UmmaBlockScaledSparseOp: _sparse_product,
    nvgpu.UmmaCommitOp: _commit,
    nvgpu.UmmaOp: _product,
    nvgpu.UmmaSparseOp: _sparse_product,
}
