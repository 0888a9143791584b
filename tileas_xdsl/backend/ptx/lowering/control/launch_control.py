"""Requests for clusters that have not started, and what they are answered."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation

from tileas_xdsl.backend.ptx.lowering.control.synchronisation import guard_of
from tileas_xdsl.backend.ptx.lowering.lowering import Handler, Lowering
from tileas_xdsl.dialects import cute_nvgpu as nvgpu
from tileas_xdsl.dialects import ptx
from tileas_xdsl.target.features import Feature


def _require(feature: Feature, low: Lowering) -> None:
    if (reason := low.target.lacks(feature, "is for clusterlaunchcontrol, which")) is not None:
        raise low.error(reason)


def _issue(op: nvgpu.IssueClcQueryOp, low: Lowering) -> None:
    _require(Feature.LAUNCH_MULTICAST if op.multicast else Feature.LAUNCH_CONTROL, low)
    response, barrier = low.address_of(op.response), low.address_of(op.mbar)
    low.act(
        ptx.TryCancelOp(
            response.base,
            barrier.base,
            offset=response.offset,
            barrier_offset=barrier.offset,
            multicast=op.multicast is not None,
            guard=guard_of(low, op.pred),
        )
    )


def _response(op: nvgpu.ClcResponseOp, low: Lowering) -> None:
    _require(Feature.LAUNCH_CONTROL, low)
    address = low.address_of(op.response)
    halves = ptx.LdOp(address.base, "b64", "shared::cta", count=2, offset=address.offset)
    low.act(halves)
    query = ptx.QueryCancelOp(halves)
    low.act(query)
    indices = ptx.UnpackOp(query.block)
    low.act(indices)
    for result, registers in zip(op.results, (query.granted, *indices.pieces), strict=True):
        low.define(result, registers)


HANDLERS: Mapping[type[Operation], Handler] = {
    nvgpu.IssueClcQueryOp: _issue,
    nvgpu.ClcResponseOp: _response,
}
