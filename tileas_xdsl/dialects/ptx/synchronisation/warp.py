"""Between the threads of a warp and the blocks of a cluster."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.irdl import operand_def, opt_prop_def, opt_result_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.ptx.base import (
    REG,
    ElementwiseOp,
    PtxOp,
    Value,
    count_of,
    elementwise,
    keyword,
    kind_of,
)
from tileas_xdsl.dialects.ptx.checks import (
    check_count,
    check_keyword,
    check_kind,
    check_registers,
    check_tuples,
    check_type,
)
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.types import RegType, reg
from tileas_xdsl.target.isa.kinds import TYPE_KINDS
from tileas_xdsl.target.isa.tables.warps import (
    MATCHES,
    MAX_REGISTERS,
    MIN_REGISTERS,
    REDUCTIONS,
    REGISTER_STEP,
    SHUFFLES,
    VOTES,
)


@irdl_op_definition
class MapaOp(ElementwiseOp):
    """`mapa`: the address of the same place in the shared memory of another block."""

    name = "ptx.mapa"

    a = operand_def(REG)
    block = operand_def(REG)
    space = opt_prop_def(keyword("space", ("", "shared::cluster")))
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(self, a: Value, block: Value, *, space: str | None = "shared::cluster") -> None:
        """`space` None takes and gives generic addresses."""
        self.fill((a, block), (reg(kind_of(a), count_of(a)),), space=space)

    def check(self) -> None:
        check_kind(
            self, "the address", self.a, *(("b32", "b64") if self.text("space") else ("b64",))
        )
        check_kind(self, "the block", self.block, "b32")
        check_kind(self, "its result", self.result, kind_of(self.a))
        check_tuples(self, self.operands, self.result)

    def emit(self, out: Writer) -> None:
        elementwise(out, _address_head(self, "mapa"), self.results[0], *self._operands)


@irdl_op_definition
class GetctarankOp(PtxOp):
    """`getctarank`: the rank in the cluster of the block that an address belongs to."""

    name = "ptx.getctarank"

    a: fields.Operand = fields.operand(REG)
    space: fields.OptString = fields.opt_prop(StringAttr, default="shared::cluster", kw_only=True)
    result: fields.Result[RegType] = fields.typed_result(REG, type=reg("b32"))

    traits = traits_def(Pure())

    def check(self) -> None:
        check_keyword(self, "space", self.text("space"), ("", "shared::cluster"))
        check_kind(
            self, "the address", self.a, *(("b32", "b64") if self.text("space") else ("b64",))
        )
        check_registers(self, ("its result", self.result, "b32"))

    def emit(self, out: Writer) -> None:
        head, source = _address_head(self, "getctarank"), out.register(self._operands[0])
        out.line(f"{head} {out.name(self.results[0])}, {source}")


def _address_head(op: MapaOp | GetctarankOp, mnemonic: str) -> str:
    space = op.text("space")
    type = "u64" if kind_of(op.operands[0]) == "b64" else "u32"
    return f"{mnemonic}{space and '.'}{space}.{type}"


@irdl_op_definition
class ElectSyncOp(PtxOp):
    """`elect.sync`: one thread of those in the mask; its lane, and whether this one is it."""

    name = "ptx.elect_sync"

    mask: fields.Operand = fields.operand(REG)
    lane: fields.Result[RegType] = fields.typed_result(REG, type=reg("b32"))
    elected: fields.Result[RegType] = fields.typed_result(REG, type=reg("pred"))

    def check(self) -> None:
        check_registers(
            self,
            ("the mask", self.mask, "b32"),
            ("the lane", self.lane, "b32"),
            ("its predicate", self.elected, "pred"),
        )

    def emit(self, out: Writer) -> None:
        lane, elected = map(out.name, self.results)
        out.line(f"elect.sync {lane}|{elected}, {out.name(self._operands[0])}")


@irdl_op_definition
class ShflOp(ElementwiseOp):
    """`shfl.sync`: registers of another lane; every register of a tuple by one instruction."""

    name = "ptx.shfl"

    a = operand_def(REG)
    lane = operand_def(REG)
    clamp = operand_def(REG)
    mask = operand_def(REG)
    mode = prop_def(keyword("mode", SHUFFLES))
    result = result_def(REG)
    in_range = opt_result_def(REG)

    def __init__(
        self,
        a: Value,
        lane: Value,
        clamp: Value,
        mask: Value,
        mode: str,
        *,
        predicate: bool = False,
    ) -> None:
        """`mode` is idx, up, down or bfly; `predicate` also gives whether the lane was there."""
        results = [reg(kind_of(a), count_of(a))]
        results += [reg("pred", count_of(a))] if predicate else []
        self.fill((a, lane, clamp, mask), results, mode=mode)

    def check(self) -> None:
        check_registers(
            self,
            ("the lane", self.lane, "b32"),
            ("the clamp", self.clamp, "b32"),
            ("the mask", self.mask, "b32"),
        )
        for what, value in (("its operand", self.a), ("its result", self.result)):
            check_kind(self, what, value, "b32", "f32")
        check_count(self, "its operand", self.a, count_of(self.result))
        if self.in_range is not None:
            check_kind(self, "its second result", self.in_range, "pred")
            check_count(self, "its second result", self.in_range, count_of(self.result))

    def emit(self, out: Writer) -> None:
        lane, clamp, mask = map(out.name, self._operands[1:])
        head = f"shfl.sync.{self.text('mode')}.b32"
        results = [out.names(result) for result in self.results]
        for destinations, a in zip(
            zip(*results, strict=True), out.registers(self._operands[0]), strict=True
        ):
            out.line(f"{head} {'|'.join(destinations)}, {a}, {lane}, {clamp}, {mask}")


@irdl_op_definition
class VoteOp(PtxOp):
    """`vote.sync`: a predicate of all threads of the mask: all, any, uni, or the ballot (b32)."""

    name = "ptx.vote"

    a = operand_def(REG)
    mask = operand_def(REG)
    mode = prop_def(keyword("mode", VOTES))
    result = result_def(REG)

    def __init__(self, a: Value, mask: Value, mode: str) -> None:
        self.fill((a, mask), (reg("b32" if mode == "ballot" else "pred"),), mode=mode)

    def check(self) -> None:
        mode = self.text("mode")
        check_registers(
            self,
            ("its operand", self.a, "pred"),
            ("the mask", self.mask, "b32"),
            ("its result", self.result, "b32" if mode == "ballot" else "pred"),
        )

    def emit(self, out: Writer) -> None:
        mode = self.text("mode")
        type = "b32" if mode == "ballot" else "pred"
        predicate, mask = out.register(self._operands[0]), out.name(self._operands[1])
        out.line(f"vote.sync.{mode}.{type} {out.name(self.results[0])}, {predicate}, {mask}")


@irdl_op_definition
class MatchOp(PtxOp):
    """`match.sync`: which threads of the mask have the same value: any, or all."""

    name = "ptx.match"

    a = operand_def(REG)
    mask = operand_def(REG)
    mode = prop_def(keyword("mode", MATCHES))
    result = result_def(REG)
    all_equal = opt_result_def(REG)

    def __init__(self, a: Value, mask: Value, mode: str = "any") -> None:
        """Mode all also gives a predicate."""
        results = (reg("b32"), reg("pred")) if mode == "all" else (reg("b32"),)
        self.fill((a, mask), results, mode=mode)

    def check(self) -> None:
        mode = self.text("mode")
        check_kind(self, "its operand", self.a, "b32", "b64")
        check_count(self, "its operand", self.a, 1)
        check_registers(
            self,
            ("the mask", self.mask, "b32"),
            ("its result", self.result, "b32"),
            ("its second result", self.all_equal, "pred"),
        )
        if (self.all_equal is not None) != (mode == "all"):
            raise self.error("gives a predicate in mode all, and only there")

    def emit(self, out: Writer) -> None:
        value, mask = out.name(self._operands[0]), out.name(self._operands[1])
        type = kind_of(self._operands[0])
        results = "|".join([out.name(result) for result in self.results])
        out.line(f"match.{self.text('mode')}.sync.{type} {results}, {value}, {mask}")


@irdl_op_definition
class ReduxOp(ElementwiseOp):
    """`redux.sync`: a value combined over the threads of the mask, the same for all."""

    name = "ptx.redux"

    a = operand_def(REG)
    mask = operand_def(REG)
    operation = prop_def(keyword("operation", REDUCTIONS))
    type = prop_def(StringAttr)
    result = result_def(REG)

    def __init__(self, a: Value, mask: Value, operation: str, type: str) -> None:
        """`operation` is add, min, max, and, or, xor."""
        self.fill((a, mask), (reg(TYPE_KINDS[type], count_of(a)),), operation=operation, type=type)

    def check(self) -> None:
        operation, type = self.text("operation"), self.text("type")
        check_keyword(self, "type", type, REDUCTIONS[operation], f"for {operation}")
        check_type(self, "its operand", self.a, type)
        check_type(self, "its result", self.result, type)
        check_registers(self, ("the mask", self.mask, "b32"))
        check_count(self, "its operand", self.a, count_of(self.result))

    def emit(self, out: Writer) -> None:
        head = f"redux.sync.{self.text('operation')}.{self.text('type')}"
        elementwise(out, head, self.results[0], *self._operands)


@irdl_op_definition
class ActivemaskOp(PtxOp):
    """`activemask`: the threads of the warp that are here now."""

    name = "ptx.activemask"

    result: fields.Result[RegType] = fields.typed_result(REG, type=reg("b32"))

    def check(self) -> None:
        check_registers(self, ("its result", self.result, "b32"))

    def emit(self, out: Writer) -> None:
        out.line(f"activemask.b32 {out.name(self.results[0])}")


@irdl_op_definition
class SetmaxnregOp(PtxOp):
    """`setmaxnreg`: the registers per thread of this warpgroup from here on."""

    name = "ptx.setmaxnreg"

    count: fields.Int = fields.prop(IntegerAttr)
    direction: fields.String = fields.prop(keyword("direction", ("inc", "dec")))

    def check(self) -> None:
        count = self.number("count")
        if count % REGISTER_STEP or not MIN_REGISTERS <= count <= MAX_REGISTERS:
            raise self.error(
                f"sets a multiple of {REGISTER_STEP} from {MIN_REGISTERS} to {MAX_REGISTERS}, "
                f"not {count}"
            )

    def emit(self, out: Writer) -> None:
        direction, count = self.text("direction"), self.number("count")
        out.line(f"setmaxnreg.{direction}.sync.aligned.u32 {count}")


@irdl_op_definition
class NanosleepOp(PtxOp):
    """`nanosleep`: about so many nanoseconds."""

    name = "ptx.nanosleep"

    time: fields.Operand = fields.operand(REG)

    def check(self) -> None:
        check_registers(self, ("the time", self.time, "b32"))

    def emit(self, out: Writer) -> None:
        out.line(f"nanosleep.u32 {out.name(self._operands[0])}")


@irdl_op_definition
class GriddepcontrolOp(PtxOp):
    """`griddepcontrol`: wait for the grid before, or let the grid after start."""

    name = "ptx.griddepcontrol"

    action: fields.String = fields.prop(keyword("action", ("wait", "launch_dependents")))

    def emit(self, out: Writer) -> None:
        out.line(f"griddepcontrol.{self.text('action')}")


@irdl_op_definition
class TrapOp(PtxOp):
    """`trap`: abort the grid."""

    name = "ptx.trap"

    def emit(self, out: Writer) -> None:
        out.line("trap")
