"""`cp.async.bulk`: rows of bytes between memories, asynchronously, by one thread."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import SSAValue

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.ptx.base import CONSTANT, PENDING, REG, PtxOp, address, offset_by
from tileas_xdsl.dialects.ptx.checks import (
    check_address,
    check_keyword,
    check_registers,
)
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.guarded import GuardedOp
from tileas_xdsl.target.isa.tables.asynchronous import BULK_REDUCTIONS, BULK_WAYS

GROUP = "bulk_group"
BARRIER = "mbarrier::complete_tx::bytes"


@irdl_op_definition
class CpAsyncBulkOp(GuardedOp):
    """`cp.async.bulk`: `size` bytes (a multiple of 16) between two spaces.

    With a barrier the copy completes bytes on it, without one it belongs to a bulk group.
    """

    name = "ptx.cp_async_bulk"

    destination: fields.Operand = fields.operand(REG)
    source: fields.Operand = fields.operand(REG)
    size: fields.Operand = fields.operand(REG)
    to: fields.String = fields.prop(StringAttr, kw_only=True)
    source_space: fields.String = fields.prop(StringAttr, kw_only=True)
    barrier: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)
    multicast: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)
    policy: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)
    offset: fields.OptInt = fields.opt_prop(offset_by(16), default=0, kw_only=True)
    barrier_offset: fields.OptInt = fields.opt_prop(IntegerAttr, default=0, kw_only=True)

    def check(self) -> None:
        to, source = self.text("to"), self.text("source_space")
        if (to, source) not in BULK_WAYS:
            raise self.error(f"copies no bytes from {source} to {to}")
        _check_completion(self, self.barrier, reports=BULK_WAYS[to, source])
        if self.multicast is not None and (to, source) != ("shared::cluster", "global"):
            raise self.error("multicasts from global to shared::cluster only")
        _check_addresses(self, to, source)
        check_registers(self, ("the mask", self.multicast, "b16"))

    def emit(self, out: Writer) -> None:
        to, source = self.text("to"), self.text("source_space")
        barrier, multicast, policy = self.barrier, self.multicast, self.policy
        offset = self.number("offset")
        parts = [
            "cp.async.bulk",
            to,
            source,
            GROUP if barrier is None else BARRIER,
            "" if multicast is None else "multicast::cluster",
            "" if policy is None else "L2::cache_hint",
        ]
        stores = to == "global"
        operands = [
            address(out, self._operands[0], 0 if stores else offset),
            address(out, self._operands[1], offset if stores else 0),
            out.name(self._operands[2]),
        ]
        if barrier is not None:
            operands.append(address(out, barrier, self.number("barrier_offset")))
        operands += [out.register(mask) for mask in (multicast, policy) if mask is not None]
        head = ".".join(part for part in parts if part)
        out.line(f"{self.guard_text(out)}{head} {', '.join(operands)}")


@irdl_op_definition
class CpReduceAsyncBulkOp(GuardedOp):
    """`cp.reduce.async.bulk`: bytes combined with those that are there, element by element."""

    name = "ptx.cp_reduce_async_bulk"

    destination: fields.Operand = fields.operand(REG)
    source: fields.Operand = fields.operand(REG)
    size: fields.Operand = fields.operand(REG)
    operation: fields.String = fields.prop(StringAttr)
    type: fields.String = fields.prop(StringAttr)
    to: fields.String = fields.prop(StringAttr, default="global", kw_only=True)
    barrier: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)
    policy: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)
    offset: fields.OptInt = fields.opt_prop(offset_by(16), default=0, kw_only=True)

    def check(self) -> None:
        check_keyword(self, "destination", self.text("to"), BULK_REDUCTIONS)
        to, operation = self.text("to"), self.text("operation")
        check_keyword(self, "operation", operation, BULK_REDUCTIONS[to], f"in {to}")
        where = f"for {operation} in {to}"
        check_keyword(self, "type", self.text("type"), BULK_REDUCTIONS[to][operation], where)
        _check_completion(self, self.barrier, reports=to == "shared::cluster")
        _check_addresses(self, to, "shared::cta")

    def emit(self, out: Writer) -> None:
        barrier, policy, type = self.barrier, self.policy, self.text("type")
        # Sums of halves keep subnormals, and PTX wants that said.
        exact = "noftz" if type in ("f16", "bf16") and self.text("operation") == "add" else ""
        parts = (
            f"cp.reduce.async.bulk.{self.text('to')}.shared::cta",
            GROUP if barrier is None else BARRIER,
            "" if policy is None else "L2::cache_hint",
            self.text("operation"),
            exact,
            type,
        )
        operands = [
            address(out, self._operands[0], 0),
            address(out, self._operands[1], self.number("offset")),
            out.name(self._operands[2]),
        ]
        operands += [address(out, barrier, 0)] if barrier is not None else []
        operands += [out.register(policy)] if policy is not None else []
        head = ".".join(part for part in parts if part)
        out.line(f"{self.guard_text(out)}{head} {', '.join(operands)}")


@irdl_op_definition
class CpAsyncBulkPrefetchOp(GuardedOp):
    """`cp.async.bulk.prefetch.L2`: `size` bytes of global memory into the L2 cache."""

    name = "ptx.cp_async_bulk.prefetch"

    source: fields.Operand = fields.operand(REG)
    size: fields.Operand = fields.operand(REG)
    policy: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)

    def check(self) -> None:
        check_address(self, "the source", self.source, "global")
        _check_size(self, self.size)
        check_registers(self, ("the policy", self.policy, "b64"))

    def emit(self, out: Writer) -> None:
        policy = self.policy
        hint = "" if policy is None else ".L2::cache_hint"
        tail = "" if policy is None else f", {out.register(policy)}"
        location = address(out, self._operands[0], 0)
        size = out.name(self._operands[1])
        head = f"cp.async.bulk.prefetch.L2.global{hint}"
        out.line(f"{self.guard_text(out)}{head} {location}, {size}{tail}")


@irdl_op_definition
class BulkCommitOp(GuardedOp):
    """`cp.async.bulk.commit_group`: this thread's uncommitted bulk copies become a group."""

    name = "ptx.cp_async_bulk.commit_group"

    def emit(self, out: Writer) -> None:
        out.line(f"{self.guard_text(out)}cp.async.bulk.commit_group")


@irdl_op_definition
class BulkWaitOp(GuardedOp):
    """`cp.async.bulk.wait_group{.read} n`: at most the `pending` newest groups stay in flight."""

    name = "ptx.cp_async_bulk.wait_group"

    pending: fields.Int = fields.prop(PENDING, default=0)
    read: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)

    def emit(self, out: Writer) -> None:
        read = ".read" * self.flag("read")
        wait = f"cp.async.bulk.wait_group{read} {self.number('pending')}"
        out.line(f"{self.guard_text(out)}{wait}")


def _check_completion(
    op: CpAsyncBulkOp | CpReduceAsyncBulkOp, barrier: SSAValue | None, *, reports: bool
) -> None:
    if reports and barrier is None:
        raise op.error(f"to {op.text('to')} completes on a barrier: it needs one")
    if not reports and barrier is not None:
        raise op.error(f"to {op.text('to')} belongs to a bulk group: it takes no barrier")
    if barrier is not None:
        check_address(op, "the barrier", barrier, "shared")


def _check_addresses(op: CpAsyncBulkOp | CpReduceAsyncBulkOp, to: str, source: str) -> None:
    check_address(op, "the destination", op.destination, to)
    check_address(op, "the source", op.source, source)
    check_registers(op, ("the policy", op.policy, "b64"))
    _check_size(op, op.size)


def _check_size(op: PtxOp, size: SSAValue) -> None:
    check_registers(op, ("the size", size, "b32"))
    owner = size.owner
    if isinstance(owner, PtxOp) and owner.name == CONSTANT and owner.number("value") % 16:
        raise op.error(f"moves multiples of 16 bytes, not {owner.number('value')}")
