"""Barriers of a block, of a cluster and of a warp, and fences."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def, result_def

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.ptx.base import CONSTANT, REG, PtxOp, Value, address, keyword
from tileas_xdsl.dialects.ptx.checks import (
    check_keyword,
    check_limit,
    check_predicate,
    check_registers,
)
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.guarded import GuardedOp
from tileas_xdsl.dialects.ptx.types import reg
from tileas_xdsl.target.isa.tables.asynchronous import (
    CLUSTER_ARRIVALS,
    CLUSTER_WAITS,
    FENCE_SCOPES,
    FENCES,
    NAMED_BARRIERS,
    PROXIES,
)
from tileas_xdsl.target.isa.tables.warps import BLOCK_REDUCTIONS


@irdl_op_definition
class BarSyncOp(PtxOp):
    """`bar.sync id, threads`: arrive and wait; all threads of the block without `threads`.

    An `id` that is not a constant makes ptxas reserve all 16 barriers.
    """

    name = "ptx.bar.sync"

    id: fields.Operand = fields.operand(REG)
    threads: fields.OptOperand = fields.opt_operand(REG, default=None)

    def check(self) -> None:
        _check_barrier(self, self.id, self.threads)

    def emit(self, out: Writer) -> None:
        out.line(f"bar.sync {', '.join([out.name(value) for value in self._operands])}")


@irdl_op_definition
class BarArriveOp(PtxOp):
    """`bar.arrive id, threads`: arrive and go on; once more as long as `again` holds.

    A loop is a block of code of its own, which ptxas moves no instruction across.
    """

    name = "ptx.bar.arrive"

    id: fields.Operand = fields.operand(REG)
    threads: fields.Operand = fields.operand(REG)
    again: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)

    def check(self) -> None:
        _check_barrier(self, self.id, self.threads)
        if self.again is not None:
            check_predicate(self, "what repeats it", self.again)

    def emit(self, out: Writer) -> None:
        text = f"bar.arrive {out.name(self.id)}, {out.name(self.threads)}"
        if self.again is None:
            out.line(text)
            return
        repeat = out.label()
        out.put_label(repeat)
        out.line(text)
        out.line(f"@{out.name(self.again)} bra {repeat}")


@irdl_op_definition
class BarRedOp(PtxOp):
    """`bar.red`: arrive, wait, and combine a predicate over all threads: and, or, popc."""

    name = "ptx.bar.red"

    id = operand_def(REG)
    value = operand_def(REG)
    threads = opt_operand_def(REG)
    operation = prop_def(keyword("operation", BLOCK_REDUCTIONS))
    result = result_def(REG)

    def __init__(
        self, id: Value, value: Value, operation: str, threads: Value | None = None
    ) -> None:
        kind = "b32" if operation == "popc" else "pred"
        self.fill((id, value, threads), (reg(kind),), operation=operation)

    def check(self) -> None:
        _check_barrier(self, self.id, self.threads)
        check_predicate(self, "the value", self.value)
        kind = "b32" if self.text("operation") == "popc" else "pred"
        check_registers(self, ("its result", self.result, kind))

    def emit(self, out: Writer) -> None:
        operation = self.text("operation")
        type = "u32" if operation == "popc" else "pred"
        barrier, predicate = out.name(self._operands[0]), out.register(self._operands[1])
        threads = [out.name(value) for value in self._operands[2:]]
        operands = ", ".join((out.name(self.results[0]), barrier, *threads, predicate))
        out.line(f"bar.red.{operation}.{type} {operands}")


@irdl_op_definition
class BarWarpSyncOp(PtxOp):
    """`bar.warp.sync mask`: the threads of a warp in the mask wait for one another."""

    name = "ptx.bar.warp.sync"

    mask: fields.Operand = fields.operand(REG)

    def check(self) -> None:
        check_registers(self, ("the mask", self.mask, "b32"))

    def emit(self, out: Writer) -> None:
        out.line(f"bar.warp.sync {out.name(self._operands[0])}")


class ClusterBarrierOp(PtxOp):
    """Base: `barrier.cluster` with semantics."""

    semantics: fields.OptString = fields.opt_prop(StringAttr, default=None)
    aligned: fields.Flag = fields.opt_prop(UnitAttr, default=True, kw_only=True)

    def emit(self, out: Writer) -> None:
        semantics = self.text("semantics")
        tail = f"{semantics and '.'}{semantics}{'.aligned' * self.flag('aligned')}"
        out.line(f"barrier.{self.name.removeprefix('ptx.')}{tail}")


@irdl_op_definition
class ClusterArriveOp(ClusterBarrierOp):
    """`barrier.cluster.arrive`: semantics release (default, a costly fence) or relaxed."""

    name = "ptx.cluster.arrive"

    def check(self) -> None:
        check_keyword(self, "semantics", self.text("semantics"), CLUSTER_ARRIVALS)


@irdl_op_definition
class ClusterWaitOp(ClusterBarrierOp):
    """`barrier.cluster.wait`: semantics acquire, which is the default."""

    name = "ptx.cluster.wait"

    def check(self) -> None:
        check_keyword(self, "semantics", self.text("semantics"), CLUSTER_WAITS)


@irdl_op_definition
class FenceOp(PtxOp):
    """`fence.semantics.scope`: acq_rel or sc, cta to sys."""

    name = "ptx.fence"

    semantics: fields.String = fields.prop(keyword("semantics", FENCES))
    scope: fields.String = fields.prop(keyword("scope", FENCE_SCOPES))

    def emit(self, out: Writer) -> None:
        out.line(f"fence.{self.text('semantics')}.{self.text('scope')}")


@irdl_op_definition
class FenceProxyOp(PtxOp):
    """`fence.proxy.async{.space}`: generic accesses before, those of the async proxy after."""

    name = "ptx.fence.proxy"

    proxy = prop_def(keyword("proxy", PROXIES))
    space = opt_prop_def(StringAttr)

    def __init__(self, space: str | None = "shared::cta", *, proxy: str = "async") -> None:
        """`space` is shared::cta (the cheap one), shared::cluster, global or None for all.

        `proxy` may also be alias.
        """
        self.fill(proxy=proxy, space=None if proxy == "alias" else space)

    def check(self) -> None:
        check_keyword(self, "space", self.text("space"), PROXIES[self.text("proxy")])

    def emit(self, out: Writer) -> None:
        space = self.text("space")
        out.line(f"fence.proxy.{self.text('proxy')}{space and '.'}{space}")


@irdl_op_definition
class FenceProxyTensormapOp(PtxOp):
    """`fence.proxy.tensormap::generic`: a map that was changed in memory, before TMA reads it.

    An acquire names the 128 bytes of the map; a release does not.
    """

    name = "ptx.fence.proxy.tensormap"

    semantics: fields.String = fields.prop(keyword("semantics", ("acquire", "release")))
    scope: fields.String = fields.prop(keyword("scope", FENCE_SCOPES))
    address: fields.OptOperand = fields.opt_operand(REG, default=None)

    def check(self) -> None:
        semantics = self.text("semantics")
        if (semantics == "acquire") != (self.address is not None):
            raise self.error("names the address of the map to acquire, and only then")
        check_registers(self, ("the address of the map", self.address, "b64"))

    def emit(self, out: Writer) -> None:
        head = f"fence.proxy.tensormap::generic.{self.text('semantics')}.{self.text('scope')}"
        operands = [f" {address(out, value, 0)}, 128" for value in self._operands]
        out.line(f"{head}{''.join(operands)}")


@irdl_op_definition
class FenceMbarrierInitOp(GuardedOp):
    """`fence.mbarrier_init.release.cluster`: earlier initialisations, before anybody's use."""

    name = "ptx.fence.mbarrier_init"

    def emit(self, out: Writer) -> None:
        out.line(f"{self.guard_text(out)}fence.mbarrier_init.release.cluster")


def _check_barrier(
    op: BarSyncOp | BarArriveOp | BarRedOp, id: SSAValue, threads: SSAValue | None
) -> None:
    check_registers(op, ("the barrier", id, "b32"), ("the number of threads", threads, "b32"))
    check_limit(op, "as barrier", id, 0, NAMED_BARRIERS - 1)
    check_limit(op, "threads", threads, 32, 1024)
    owner = None if threads is None else threads.owner
    if isinstance(owner, PtxOp) and owner.name == CONSTANT and owner.number("value") % 32:
        raise op.error(f"counts whole warps of 32 threads, not {owner.number('value')}")
