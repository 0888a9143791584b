"""Blocks that take over others which have not started: PTX ISA 9.7.13.17."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, UnitAttr

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.ptx.base import REG, PtxOp, address
from tileas_xdsl.dialects.ptx.checks import (
    check_address,
    check_count,
    check_kind,
    check_registers,
)
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.guarded import GuardedOp
from tileas_xdsl.dialects.ptx.types import RegType, reg

CTA = "shared::cta"
PREFIX = "clusterlaunchcontrol"


@irdl_op_definition
class TryCancelOp(GuardedOp):
    """`clusterlaunchcontrol.try_cancel`: ask for a cluster that has not started.

    The response, 16 bytes in shared memory, arrives asynchronously and completes 16 bytes of
    transactions of the barrier; with `multicast` it arrives in each block of the cluster.
    """

    name = "ptx.clusterlaunchcontrol.try_cancel"

    response: fields.Operand = fields.operand(REG)
    barrier: fields.Operand = fields.operand(REG)
    offset: fields.OptInt = fields.opt_prop(IntegerAttr, default=0, kw_only=True)
    barrier_offset: fields.OptInt = fields.opt_prop(IntegerAttr, default=0, kw_only=True)
    multicast: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)

    def check(self) -> None:
        check_address(self, "the response", self.response, CTA)
        check_address(self, "the barrier", self.barrier, CTA)

    def emit(self, out: Writer) -> None:
        response = address(out, self._operands[0], self.number("offset"))
        barrier = address(out, self._operands[1], self.number("barrier_offset"))
        every = ".multicast::cluster::all" if self.flag("multicast") else ""
        done = f"mbarrier::complete_tx::bytes{every}.b128"
        out.line(
            f"{self.guard_text(out)}{PREFIX}.try_cancel.async.{CTA}.{done} {response}, {barrier}"
        )


@irdl_op_definition
class QueryCancelOp(PtxOp):
    """`clusterlaunchcontrol.query_cancel`: whether a request was granted, and the first block.

    `response` are the two halves of a response.  Of a refused request the indices are zeros: the
    instruction that reads them is only defined where the request was granted.
    """

    name = "ptx.clusterlaunchcontrol.query_cancel"

    response: fields.Operand = fields.operand(REG)
    granted: fields.Result[RegType] = fields.typed_result(REG, type=reg("pred"))
    block: fields.Result[RegType] = fields.typed_result(REG, type=reg("b32", 3))

    def check(self) -> None:
        check_kind(self, "the response", self.response, "b64")
        check_count(self, "the response", self.response, 2)
        check_registers(self, ("whether it is granted", self.granted, "pred"))
        check_kind(self, "the block", self.block, "b32")
        check_count(self, "the block", self.block, 3)

    def emit(self, out: Writer) -> None:
        whole, granted = out.fresh("b128"), out.name(self.results[0])
        indices = out.names(self.results[1])
        out.line(f"mov.b128 {whole}, {{{', '.join(out.registers(self._operands[0]))}}}")
        out.line(f"{PREFIX}.query_cancel.is_canceled.pred.b128 {granted}, {whole}")
        for index in indices:
            out.line(f"mov.b32 {index}, 0")
        first = f"{PREFIX}.query_cancel.get_first_ctaid.v4.b32.b128"
        out.line(f"@{granted} {first} {{{', '.join(indices)}, _}}, {whole}")
