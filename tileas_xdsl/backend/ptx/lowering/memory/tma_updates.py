"""Tensor maps that the device changes: the mutators and the fences of their proxy."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation

from tileas_xdsl.backend.ptx.lowering.control.synchronisation import ALL_LANES, guard_of
from tileas_xdsl.backend.ptx.lowering.control.threads import special
from tileas_xdsl.backend.ptx.lowering.lowering import Handler, Lowering
from tileas_xdsl.dialects import cute_nvgpu as nvgpu
from tileas_xdsl.dialects import ptx
from tileas_xdsl.dialects.cute_nvgpu import TmaDescriptorTiledType

WORD_BITS = 2
"""Each of the 32 threads of a warp copies 4 bytes of a map."""


def _copy(op: nvgpu.CopyTmaDescOp, low: Lowering) -> None:
    address = low.address_of(op.smem)
    offset = low.emit(ptx.ShlOp(special(low, "laneid"), low.constant(WORD_BITS), "b32"))
    wide = low.emit(ptx.CvtOp(offset, "u64", "u32"))
    is_argument = isinstance(op.desc.type, TmaDescriptorTiledType)
    template = low.value(op.desc) if is_argument else low.at(low.address_of(op.desc))
    source = low.emit(ptx.AddOp(template, wide, "s64"))
    value = low.emit(ptx.LdOp(source, "b32", "generic"))
    target = low.emit(ptx.AddOp(address.base, offset, "s32"))
    low.act(ptx.StOp(target, value, "b32", "shared", offset=address.offset))
    _synchronise(low)


def _update(op: nvgpu.UpdateTmaDescOp, low: Lowering) -> None:
    address = low.at(low.address_of(op.smem))
    value = low.at(low.address_of(op.value))
    ordinal = None if op.ordinal is None else op.ordinal.value.data
    guard = guard_of(low, op.pred)
    low.act(ptx.TensormapReplaceOp(address, op.field.data, value, ordinal=ordinal, guard=guard))


def _publish(op: nvgpu.PublishTmaDescOp, low: Lowering) -> None:
    _synchronise(low)
    source, destination = low.at(low.address_of(op.smem)), low.at(low.address_of(op.gmem))
    low.act(ptx.TensormapCpFenceproxyOp(destination, source))


def _acquire(op: nvgpu.AcquireTmaDescOp, low: Lowering) -> None:
    address = low.at(low.address_of(op.gmem))
    low.act(ptx.FenceProxyTensormapOp("acquire", "gpu", address))
    low.define(op.result, address)


def _synchronise(low: Lowering) -> None:
    low.act(ptx.BarWarpSyncOp(low.constant(ALL_LANES)))


HANDLERS: Mapping[type[Operation], Handler] = {
    nvgpu.AcquireTmaDescOp: _acquire,
    nvgpu.CopyTmaDescOp: _copy,
    nvgpu.PublishTmaDescOp: _publish,
    nvgpu.UpdateTmaDescOp: _update,
}
