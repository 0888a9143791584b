"""mbarriers: arrivals, transactions and waits on a phase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import InitVar
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import (
    operand_def,
)

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.ptx.base import REG, PtxOp, Value, address, kind_of, offset_by
from tileas_xdsl.dialects.ptx.checks import (
    check_address,
    check_count,
    check_keyword,
    check_kind,
    check_limit,
    check_predicate,
    check_registers,
)
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.guarded import GuardedOp
from tileas_xdsl.dialects.ptx.types import RegType, reg
from tileas_xdsl.target.isa.tables.asynchronous import (
    ARRIVE_SEMANTICS,
    BARRIER_SCOPES,
    BARRIER_SPACES,
    MAX_ARRIVALS,
    MAX_TRANSACTION,
    WAIT_SEMANTICS,
)

CTA = "shared::cta"


@irdl_op_definition
class MbarrierInitOp(GuardedOp):
    """`mbarrier.init`: a barrier whose phases take `count` arrivals."""

    name = "ptx.mbarrier.init"

    barrier: fields.Operand = fields.operand(REG)
    count: fields.Operand = fields.operand(REG)
    offset: fields.OptInt = fields.opt_prop(IntegerAttr, default=0, kw_only=True)

    def check(self) -> None:
        check_address(self, "the barrier", self.barrier, CTA)
        check_registers(self, ("the count", self.count, "b32"))
        check_limit(self, "arrivals", self.count, 1, MAX_ARRIVALS)

    def emit(self, out: Writer) -> None:
        location = address(out, self._operands[0], self.number("offset"))
        count = out.name(self._operands[1])
        out.line(f"{self.guard_text(out)}mbarrier.init.shared::cta.b64 {location}, {count}")


@irdl_op_definition
class MbarrierInvalOp(GuardedOp):
    """`mbarrier.inval`: the memory of a barrier may be used for something else."""

    name = "ptx.mbarrier.inval"

    barrier: fields.Operand = fields.operand(REG)
    offset: fields.OptInt = fields.opt_prop(IntegerAttr, default=0, kw_only=True)

    def check(self) -> None:
        check_address(self, "the barrier", self.barrier, CTA)

    def emit(self, out: Writer) -> None:
        location = address(out, self._operands[0], self.number("offset"))
        out.line(f"{self.guard_text(out)}mbarrier.inval.shared::cta.b64 {location}")


class SynchronizingOp(PtxOp):
    """Base: operations on a barrier with `.semantics.scope.space`."""

    semantics: fields.OptString = fields.opt_prop(StringAttr, default=None, kw_only=True)
    scope: fields.OptString = fields.opt_prop(StringAttr, default=None, kw_only=True)
    space: fields.String = fields.prop(StringAttr, default=CTA, kw_only=True)
    offset: fields.OptInt = fields.opt_prop(offset_by(8), default=0, kw_only=True)

    def check_barrier(self, barrier: SSAValue, semantics: Sequence[str]) -> None:
        """Space, order and address of the barrier."""
        order = self.text("semantics")
        check_keyword(self, "space", self.text("space"), BARRIER_SPACES)
        check_keyword(self, "semantics", order, semantics)
        check_keyword(self, "scope", self.text("scope"), BARRIER_SCOPES if order else ("",))
        check_address(self, "the barrier", barrier, self.text("space"))

    def check_local(self, why: str) -> None:
        """Only barriers of the own block can do what `why` says."""
        if self.text("space") != CTA:
            raise self.error(f"{why} only in {CTA}")

    def barrier_head(self, mnemonic: str) -> str:
        """The instruction with semantics, scope, space and type."""
        semantics, scope = self.text("semantics"), self.text("scope")
        parts = (mnemonic, semantics, scope, self.text("space"), "b64")
        return ".".join(part for part in parts if part)


def _token(given: Mapping[str, Any]) -> RegType | None:
    return reg("b64") if given["token"] or given.get("no_complete") else None


@irdl_op_definition
class MbarrierArriveOp(SynchronizingOp, GuardedOp):
    """`mbarrier.arrive`: `count` arrivals, 1 by default; with `token` the state before.

    `space` shared::cluster takes an address from `mapa` and gives no token.  `drop` also takes the
    arrivals off what later phases expect.
    """

    name = "ptx.mbarrier.arrive"

    barrier: fields.Operand = fields.operand(REG)
    count: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)
    drop: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)
    no_complete: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)
    token: InitVar[bool] = fields.init_var(default=False, kw_only=True)
    state: fields.OptResult = fields.opt_typed_result(REG, type=_token, init=False)

    def check(self) -> None:
        self.check_barrier(self.barrier, ARRIVE_SEMANTICS)
        check_registers(self, ("the count", self.count, "b32"))
        if self.results:
            self.check_local("gives a token")
            check_registers(self, ("the token", self.results[0], "b64"))
        if self.flag("no_complete") and (self.count is None or not self.results):
            raise self.error("with no_complete needs a count and gives a token")

    def emit(self, out: Writer) -> None:
        drop = "_drop" * self.flag("drop")
        no_complete = ".noComplete" * self.flag("no_complete")
        state = out.name(self.results[0]) if self.results else "_"
        location = address(out, self._operands[0], self.number("offset"))
        count = f", {out.name(self.count)}" if self.count is not None else ""
        head = self.barrier_head(f"mbarrier.arrive{drop}{no_complete}")
        out.line(f"{self.guard_text(out)}{head} {state}, {location}{count}")


@irdl_op_definition
class MbarrierArriveExpectTxOp(SynchronizingOp, GuardedOp):
    """`mbarrier.arrive.expect_tx`: an arrival that announces `bytes` of asynchronous copies."""

    name = "ptx.mbarrier.arrive_expect_tx"

    barrier: fields.Operand = fields.operand(REG)
    bytes: fields.Operand = fields.operand(REG)
    drop: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)
    token: InitVar[bool] = fields.init_var(default=False, kw_only=True)
    state: fields.OptResult = fields.opt_typed_result(REG, type=_token, init=False)

    def check(self) -> None:
        self.check_barrier(self.barrier, ARRIVE_SEMANTICS)
        check_registers(self, ("the number of bytes", self.bytes, "b32"))
        check_limit(self, "bytes", self.bytes, 0, MAX_TRANSACTION)
        if self.results:
            self.check_local("gives a token")
            check_registers(self, ("the token", self.results[0], "b64"))

    def emit(self, out: Writer) -> None:
        drop = "_drop" * self.flag("drop")
        state = out.name(self.results[0]) if self.results else "_"
        location = address(out, self._operands[0], self.number("offset"))
        head = self.barrier_head(f"mbarrier.arrive{drop}.expect_tx")
        out.line(f"{self.guard_text(out)}{head} {state}, {location}, {out.name(self._operands[1])}")


class TransactionOp(SynchronizingOp, GuardedOp):
    """Base: a change of the bytes that a phase waits for, without an arrival."""

    barrier = operand_def(REG)
    bytes = operand_def(REG)

    def __init__(
        self,
        barrier: Value,
        bytes: Value,
        *,
        offset: int = 0,
        space: str = CTA,
        guard: Value | None = None,
        negate: bool = False,
    ) -> None:
        scope = "cta" if space == CTA else "cluster"
        self.fill(
            (barrier, bytes, guard),
            (),
            semantics="relaxed",
            scope=scope,
            space=space,
            offset=offset or None,
            negate=negate,
        )

    def check(self) -> None:
        self.check_barrier(self.barrier, ("relaxed",))
        check_registers(self, ("the number of bytes", self.bytes, "b32"))
        check_limit(self, "bytes", self.bytes, 0, MAX_TRANSACTION)

    def emit(self, out: Writer) -> None:
        head = self.barrier_head(self.name[4:])
        location = address(out, self._operands[0], self.number("offset"))
        out.line(f"{self.guard_text(out)}{head} {location}, {out.name(self._operands[1])}")


@irdl_op_definition
class MbarrierExpectTxOp(TransactionOp):
    """`mbarrier.expect_tx`: announces `bytes` without arriving."""

    name = "ptx.mbarrier.expect_tx"


@irdl_op_definition
class MbarrierCompleteTxOp(TransactionOp):
    """`mbarrier.complete_tx`: `bytes` as if a copy had delivered them."""

    name = "ptx.mbarrier.complete_tx"


class PhaseOp(SynchronizingOp):
    """Base: a look at a phase, given by its parity (b32) or by the state of an arrival (b64)."""

    def check(self) -> None:
        barrier, phase = self.operands[:2]
        self.check_barrier(barrier, WAIT_SEMANTICS)
        self.check_local("waits")
        check_kind(self, "the phase", phase, "b32", "b64")
        check_count(self, "the phase", phase, 1)
        check_registers(self, ("the time", getattr(self, "hint", None), "b32"))
        for result in self.results:
            check_predicate(self, "its result", result)

    def phase_text(self, out: Writer, mnemonic: str, result: str) -> str:
        """The instruction, with its predicate `result`."""
        parity = ".parity" if kind_of(self._operands[1]) == "b32" else ""
        head = self.barrier_head(f"{mnemonic}{parity}")
        location = address(out, self._operands[0], self.number("offset"))
        return f"{head} {result}, {location}, {out.name(self._operands[1])}"


@irdl_op_definition
class MbarrierTestWaitOp(PhaseOp):
    """`mbarrier.test_wait`: whether the phase is complete, without waiting."""

    name = "ptx.mbarrier.test_wait"

    barrier: fields.Operand = fields.operand(REG)
    phase: fields.Operand = fields.operand(REG)
    done: fields.Result[RegType] = fields.typed_result(REG, type=reg("pred"))

    def emit(self, out: Writer) -> None:
        out.line(self.phase_text(out, "mbarrier.test_wait", out.name(self.results[0])))


@irdl_op_definition
class MbarrierTryWaitOp(PhaseOp):
    """`mbarrier.try_wait`: whether the phase is complete, after waiting for a limited time.

    `hint` is the time in nanoseconds.
    """

    name = "ptx.mbarrier.try_wait"

    barrier: fields.Operand = fields.operand(REG)
    phase: fields.Operand = fields.operand(REG)
    hint: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)
    done: fields.Result[RegType] = fields.typed_result(REG, type=reg("pred"))

    def emit(self, out: Writer) -> None:
        hint = f", {out.name(self.hint)}" if self.hint is not None else ""
        out.line(self.phase_text(out, "mbarrier.try_wait", out.name(self.results[0])) + hint)


@irdl_op_definition
class MbarrierWaitOp(PhaseOp):
    """Waits until the phase is complete: a loop around `mbarrier.try_wait`."""

    name = "ptx.mbarrier.wait"

    barrier: fields.Operand = fields.operand(REG)
    phase: fields.Operand = fields.operand(REG)

    def emit(self, out: Writer) -> None:
        done, again = out.fresh("pred"), out.label()
        out.put_label(again)
        out.line(self.phase_text(out, "mbarrier.try_wait", done))
        out.line(f"@!{done} bra {again}")


@irdl_op_definition
class MbarrierPendingCountOp(PtxOp):
    """`mbarrier.pending_count`: the arrivals that a state still waited for."""

    name = "ptx.mbarrier.pending_count"

    state: fields.Operand = fields.operand(REG)
    count: fields.Result[RegType] = fields.typed_result(REG, type=reg("b32"))

    def check(self) -> None:
        check_registers(self, ("the state", self.state, "b64"), ("its result", self.count, "b32"))

    def emit(self, out: Writer) -> None:
        result, state = out.name(self.results[0]), out.register(self._operands[0])
        out.line(f"mbarrier.pending_count.b64 {result}, {state}")
