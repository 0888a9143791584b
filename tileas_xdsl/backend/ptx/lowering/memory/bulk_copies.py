"""Bulk copies through tensor maps, their groups, and prefetches."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.backend.ptx.lowering.control.synchronisation import guard_of
from tileas_xdsl.backend.ptx.lowering.lowering import Handler, Lowering
from tileas_xdsl.dialects import cute_nvgpu as nvgpu
from tileas_xdsl.dialects import ptx

LOADS: Mapping[str, str] = {"gather4": "tile::gather4", "im2col": "im2col"}
STORES: Mapping[str, str] = {"scatter4": "tile::scatter4", "im2col": "im2col_no_offs"}
"""How PTX calls the modes of copies."""


def _mode(mode: StringAttr | None, names: Mapping[str, str]) -> str:
    return "tile" if mode is None else names[mode.data]


def _load(op: nvgpu.TmaLoadOp, low: Lowering) -> None:
    smem, mbar = low.address_of(op.smem), low.address_of(op.mbar)
    low.act(
        ptx.TensorLoadOp(
            smem.base,
            low.value(op.desc),
            mbar.base,
            [low.value(coordinate) for coordinate in op.coords],
            mode=_mode(op.mode, LOADS),
            offsets=[low.value(offset) for offset in op.offsets],
            multicast=_mask(low, op.multicast_mask),
            to=low.target.tma_destination if op.multicast_mask is None else "shared::cluster",
            offset=smem.offset,
            barrier_offset=mbar.offset,
            guard=guard_of(low, op.pred),
        )
    )


def _mask(low: Lowering, mask: SSAValue | None) -> SSAValue | None:
    """The blocks that a box goes to: in a register, once if it is a constant."""
    if mask is None:
        return None
    value = low.value(mask)
    if not isinstance(value.owner, ptx.ConstOp):
        return value
    return low.once(("mask", value), lambda: ptx.MovOp(value, "b16"))


def _store(op: nvgpu.TmaStoreOp, low: Lowering) -> None:
    address = low.address_of(op.smem)
    coordinates = [low.value(coordinate) for coordinate in op.coords]
    low.act(
        ptx.TensorStoreOp(
            low.value(op.desc),
            address.base,
            coordinates,
            mode=_mode(op.mode, STORES),
            offset=address.offset,
            guard=guard_of(low, op.pred),
        )
    )


def _reduce(op: nvgpu.TmaReduceOp, low: Lowering) -> None:
    address = low.address_of(op.smem)
    coordinates = [low.value(coordinate) for coordinate in op.coords]
    low.act(
        ptx.TensorReduceOp(
            low.value(op.desc),
            address.base,
            coordinates,
            op.kind.data,
            offset=address.offset,
            guard=guard_of(low, op.pred),
        )
    )


def _commit(op: nvgpu.BulkCommitOp, low: Lowering) -> None:
    low.act(ptx.BulkCommitOp(guard=guard_of(low, op.pred)))


def _wait(op: nvgpu.BulkWaitOp, low: Lowering) -> None:
    read, guard = op.read is not None, guard_of(low, op.pred)
    low.act(ptx.BulkWaitOp(op.count.value.data, read=read, guard=guard))


def _prefetch(op: nvgpu.PrefetchTmaDescOp, low: Lowering) -> None:
    low.act(ptx.PrefetchTensormapOp(low.value(op.desc), guard=guard_of(low, op.pred)))


_Address = nvgpu.GetTmaDescAddrOp | nvgpu.GetGridConstantPointerOp | nvgpu.CastTmaDescToIntegerOp


def _address(op: _Address, low: Lowering) -> None:
    low.define(op.result, low.value(op.desc))


HANDLERS: Mapping[type[Operation], Handler] = {
    nvgpu.TmaLoadOp: _load,
    nvgpu.TmaStoreOp: _store,
    nvgpu.TmaReduceOp: _reduce,
    nvgpu.BulkCommitOp: _commit,
    nvgpu.BulkWaitOp: _wait,
    nvgpu.CastTmaDescToIntegerOp: _address,
    nvgpu.GetGridConstantPointerOp: _address,
    nvgpu.GetTmaDescAddrOp: _address,
    nvgpu.PrefetchTmaDescOp: _prefetch,
}
