"""`cp.async`: copies of 4, 8 or 16 bytes per thread from global into shared memory."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, UnitAttr
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.ptx.base import PENDING, REG, PtxOp, Value, address, keyword
from tileas_xdsl.dialects.ptx.checks import (
    check_address,
    check_registers,
)
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.guarded import GuardedOp
from tileas_xdsl.target.isa.tables.asynchronous import COPY_SIZES
from tileas_xdsl.target.isa.tables.memory.keywords import PREFETCHES


@irdl_op_definition
class CpAsyncOp(GuardedOp):
    """`cp.async`: `size` bytes; those past `source_size` (a value) become zero."""

    name = "ptx.cp_async"

    destination = operand_def(REG)
    source = operand_def(REG)
    source_size = opt_operand_def(REG)
    policy = opt_operand_def(REG)
    size = prop_def(IntegerAttr)
    cache = prop_def(keyword("cache operator", COPY_SIZES))
    prefetch = opt_prop_def(keyword("prefetch", PREFETCHES))
    offset = opt_prop_def(IntegerAttr)
    source_offset = opt_prop_def(IntegerAttr)

    def __init__(
        self,
        destination: Value,
        source: Value,
        size: int,
        *,
        cache: str | None = None,
        prefetch: str | None = None,
        source_size: Value | None = None,
        offset: int = 0,
        source_offset: int = 0,
        policy: Value | None = None,
        guard: Value | None = None,
        negate: bool = False,
    ) -> None:
        """`cache` is ca, or cg (past the L1 cache; 16 bytes only, and their default)."""
        self.fill(
            (destination, source, source_size, policy, guard),
            (),
            size=size,
            cache=cache or ("cg" if size == 16 else "ca"),
            prefetch=prefetch,
            offset=offset or None,
            source_offset=source_offset or None,
            negate=negate,
        )

    def check(self) -> None:
        cache, size = self.text("cache"), self.number("size")
        if size not in COPY_SIZES[cache]:
            known = ", ".join(map(str, COPY_SIZES[cache]))
            raise self.error(f"copies {known} bytes with {cache}, not {size}")
        for name in ("offset", "source_offset"):
            if self.number(name) % size:
                raise self.error(f"needs '{name}' to be a multiple of {size}")
        check_address(self, "the destination", self.destination, "shared")
        check_address(self, "the source", self.source, "global")
        check_registers(
            self, ("the size", self.source_size, "b32"), ("the policy", self.policy, "b64")
        )

    def emit(self, out: Writer) -> None:
        prefetch, policy = self.text("prefetch"), self.policy
        hint = ".L2::cache_hint" if policy is not None else ""
        head = f"cp.async.{self.text('cache')}.shared.global{hint}{prefetch and f'.L2::{prefetch}'}"
        operands = [
            address(out, self._operands[0], self.number("offset")),
            address(out, self._operands[1], self.number("source_offset")),
            str(self.number("size")),
        ]
        if self.source_size is not None:
            operands.append(out.name(self.source_size))
        if policy is not None:
            operands.append(out.register(policy))
        out.line(f"{self.guard_text(out)}{head} {', '.join(operands)}")


@irdl_op_definition
class CpAsyncCommitOp(PtxOp):
    """`cp.async.commit_group`."""

    name = "ptx.cp_async.commit_group"

    def emit(self, out: Writer) -> None:
        out.line("cp.async.commit_group")


@irdl_op_definition
class CpAsyncWaitOp(PtxOp):
    """`cp.async.wait_group n`, or `cp.async.wait_all` without a number."""

    name = "ptx.cp_async.wait_group"

    pending: fields.OptInt = fields.opt_prop(PENDING, default=None)

    def emit(self, out: Writer) -> None:
        pending = self.number("pending", -1)
        out.line("cp.async.wait_all" if pending < 0 else f"cp.async.wait_group {pending}")


@irdl_op_definition
class CpAsyncMbarrierArriveOp(GuardedOp):
    """`cp.async.mbarrier.arrive`: an arrival when this thread's earlier copies are complete."""

    name = "ptx.cp_async.mbarrier_arrive"

    barrier: fields.Operand = fields.operand(REG)
    noinc: fields.Flag = fields.opt_prop(UnitAttr, default=True, kw_only=True)
    offset: fields.OptInt = fields.opt_prop(IntegerAttr, default=0, kw_only=True)

    def check(self) -> None:
        check_address(self, "the barrier", self.barrier, "shared")

    def emit(self, out: Writer) -> None:
        noinc = ".noinc" * self.flag("noinc")
        location = address(out, self._operands[0], self.number("offset"))
        out.line(
            f"{self.guard_text(out)}cp.async.mbarrier.arrive{noinc}.shared::cta.b64 {location}"
        )
