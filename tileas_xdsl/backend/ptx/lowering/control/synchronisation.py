"""mbarriers, barriers and fences."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.backend.ptx.lowering.lowering import Handler, Lowering
from tileas_xdsl.dialects import cute_nvgpu as nvgpu
from tileas_xdsl.dialects import ptx

ALL_LANES = -1
"""The mask of a whole warp."""


def guard_of(low: Lowering, pred: SSAValue | None) -> SSAValue | None:
    """The register of an optional predicate."""
    return None if pred is None else low.value(pred)


def _init(op: nvgpu.MbarrierInitOp, low: Lowering) -> None:
    address, count = low.address_of(op.ptr), low.constant(op.count.value.data)
    guard = guard_of(low, op.pred)
    low.act(ptx.MbarrierInitOp(address.base, count, offset=address.offset, guard=guard))


def _arrive(op: nvgpu.MbarrierArriveOp, low: Lowering) -> None:
    address, guard = low.address_of(op.ptr), guard_of(low, op.pred)
    if op.cta is None:
        low.act(ptx.MbarrierArriveOp(address.base, offset=address.offset, guard=guard))
        return
    # The window of another block is as long: a distance in one is a distance in the other.
    remote = low.emit(ptx.MapaOp(address.base, low.value(op.cta)))
    low.act(
        ptx.MbarrierArriveOp(remote, offset=address.offset, space="shared::cluster", guard=guard)
    )


def _expect(op: nvgpu.MbarrierArriveExpectTxOp, low: Lowering) -> None:
    address, count = low.address_of(op.ptr), low.constant(op.bytes.value.data)
    guard = guard_of(low, op.pred)
    low.act(ptx.MbarrierArriveExpectTxOp(address.base, count, offset=address.offset, guard=guard))


def _wait(op: nvgpu.MbarrierWaitOp, low: Lowering) -> None:
    address = low.address_of(op.ptr)
    low.act(ptx.MbarrierWaitOp(address.base, low.value(op.parity), offset=address.offset))


def _try_wait(op: nvgpu.MbarrierTryWaitOp, low: Lowering) -> None:
    address = low.address_of(op.ptr)
    wait = ptx.MbarrierTryWaitOp(address.base, low.value(op.parity), offset=address.offset)
    low.define(op.result, low.emit(wait))


def _inval(op: nvgpu.MbarrierInvalOp, low: Lowering) -> None:
    address = low.address_of(op.ptr)
    guard = guard_of(low, op.pred)
    low.act(ptx.MbarrierInvalOp(address.base, offset=address.offset, guard=guard))


def _fence_init(op: nvgpu.FenceMbarrierInitOp, low: Lowering) -> None:
    low.act(ptx.FenceMbarrierInitOp())


def _fence_proxy(op: nvgpu.FenceProxyAsyncOp, low: Lowering) -> None:
    space = op.space.data
    low.act(ptx.FenceProxyOp(None if space == "generic" else space))


def _number(low: Lowering, number: IntegerAttr | None) -> SSAValue | None:
    return None if number is None else low.constant(number.value.data)


def _identity(op: nvgpu.BarrierOp | nvgpu.BarrierArriveOp, low: Lowering) -> SSAValue:
    value = _number(low, op.id)
    if value is None:
        assert op.id_value is not None
        value = low.value(op.id_value)
    return value


def _barrier(op: nvgpu.BarrierOp, low: Lowering) -> None:
    low.act(ptx.BarSyncOp(_identity(op, low), _number(low, op.threads)))


def _barrier_arrive(op: nvgpu.BarrierArriveOp, low: Lowering) -> None:
    threads = _number(low, op.threads)
    assert threads is not None
    again = guard_of(low, op.again)
    low.act(ptx.BarArriveOp(_identity(op, low), threads, again=again))


def _cluster_arrive(op: nvgpu.ClusterArriveOp, low: Lowering) -> None:
    low.act(ptx.ClusterArriveOp("relaxed" if op.relaxed is not None else None))


def _cluster_wait(op: nvgpu.ClusterWaitOp, low: Lowering) -> None:
    low.act(ptx.ClusterWaitOp())


def _sync_warp(op: nvgpu.SyncWarpOp, low: Lowering) -> None:
    low.act(ptx.BarWarpSyncOp(low.constant(ALL_LANES)))


HANDLERS: Mapping[type[Operation], Handler] = {
    nvgpu.MbarrierInitOp: _init,
    nvgpu.MbarrierInvalOp: _inval,
    nvgpu.MbarrierArriveOp: _arrive,
    nvgpu.MbarrierArriveExpectTxOp: _expect,
    nvgpu.MbarrierTryWaitOp: _try_wait,
    nvgpu.MbarrierWaitOp: _wait,
    nvgpu.FenceMbarrierInitOp: _fence_init,
    nvgpu.FenceProxyAsyncOp: _fence_proxy,
    nvgpu.BarrierOp: _barrier,
    nvgpu.BarrierArriveOp: _barrier_arrive,
    nvgpu.ClusterArriveOp: _cluster_arrive,
    nvgpu.ClusterWaitOp: _cluster_wait,
    nvgpu.SyncWarpOp: _sync_warp,
}
