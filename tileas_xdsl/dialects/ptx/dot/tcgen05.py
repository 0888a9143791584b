"""`tcgen05`: tensor memory of Blackwell, from allocation to loads and stores.

Results of a load from tensor memory are not there before a wait: only `Tcgen05WaitOp` takes them,
and gives them back to be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import InitVar
from typing import Any, ClassVar

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import SSAValue

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.ptx.base import (
    CONSTANT,
    CTA_GROUP,
    REG,
    PtxOp,
    address,
    count_of,
    keyword,
)
from tileas_xdsl.dialects.ptx.checks import (
    check_address,
    check_count,
    check_keyword,
    check_kind,
    check_passed_on,
    check_registers,
)
from tileas_xdsl.dialects.ptx.dot.in_flight import check_in_flight
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.guarded import GuardedOp
from tileas_xdsl.dialects.ptx.types import RegType, reg
from tileas_xdsl.target.isa.tables.matrix.tensor_cores import (
    TMEM_COLUMNS,
    TMEM_MAX_REGISTERS,
    TMEM_REGISTERS,
    TMEM_REPEATS,
)

_TAKERS = frozenset((("ptx.tcgen05.wait", None),))
"""Who may take what a load gives, before a wait."""


@irdl_op_definition
class Tcgen05AllocOp(PtxOp):
    """`tcgen05.alloc`: columns of tensor memory; their address is written to shared memory."""

    name = "ptx.tcgen05.alloc"

    destination: fields.Operand = fields.operand(REG)
    columns: fields.Operand = fields.operand(REG)
    cta_group: fields.Int = fields.prop(CTA_GROUP, default=1, kw_only=True)
    offset: fields.OptInt = fields.opt_prop(IntegerAttr, default=0, kw_only=True)

    def check(self) -> None:
        check_address(self, "the destination", self.destination, "shared")
        _check_columns(self, self.columns)

    def emit(self, out: Writer) -> None:
        location = address(out, self._operands[0], self.number("offset"))
        group = self.number("cta_group")
        head = f"tcgen05.alloc.cta_group::{group}.sync.aligned.shared::cta.b32"
        out.line(f"{head} {location}, {out.name(self._operands[1])}")


@irdl_op_definition
class Tcgen05DeallocOp(PtxOp):
    """`tcgen05.dealloc`: gives the columns back, before the block ends."""

    name = "ptx.tcgen05.dealloc"

    address: fields.Operand = fields.operand(REG)
    columns: fields.Operand = fields.operand(REG)
    cta_group: fields.Int = fields.prop(CTA_GROUP, default=1, kw_only=True)

    def check(self) -> None:
        check_registers(self, ("the address", self.address, "b32"))
        _check_columns(self, self.columns)

    def emit(self, out: Writer) -> None:
        location, columns = out.register(self._operands[0]), out.name(self._operands[1])
        group = self.number("cta_group")
        out.line(f"tcgen05.dealloc.cta_group::{group}.sync.aligned.b32 {location}, {columns}")


@irdl_op_definition
class Tcgen05RelinquishOp(PtxOp):
    """`tcgen05.relinquish_alloc_permit`: this block allocates no more."""

    name = "ptx.tcgen05.relinquish_alloc_permit"

    cta_group: fields.Int = fields.prop(CTA_GROUP, default=1, kw_only=True)

    def emit(self, out: Writer) -> None:
        group = self.number("cta_group")
        out.line(f"tcgen05.relinquish_alloc_permit.cta_group::{group}.sync.aligned")


def _loaded(given: Mapping[str, Any]) -> RegType:
    return reg(given["kind"], given["repeat"] * TMEM_REGISTERS.get(given["shape"], 1))


@irdl_op_definition
class Tcgen05LdOp(PtxOp):
    """`tcgen05.ld`: registers from tensor memory, once the wait is over.

    `shape` 32x32b, 16x64b, 16x128b, 16x256b or 16x32bx2 (with `half_split`); `pack` puts two 16-bit
    columns into a register.
    """

    name = "ptx.tcgen05.ld"

    address: fields.Operand = fields.operand(REG)
    shape: fields.String = fields.prop(StringAttr)
    repeat: fields.Int = fields.prop(IntegerAttr)
    pack: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)
    half_split: fields.OptInt = fields.opt_prop(IntegerAttr, default=None, kw_only=True)
    offset: fields.OptInt = fields.opt_prop(IntegerAttr, default=0, kw_only=True)
    kind: InitVar[str] = fields.init_var(default="b32", kw_only=True)
    result: fields.Result[RegType] = fields.typed_result(REG, type=_loaded, init=False)

    def check(self) -> None:
        shape = _check_access(self, self.address)
        repeat, registers = self.number("repeat"), TMEM_REGISTERS[shape] * self.number("repeat")
        if repeat not in TMEM_REPEATS or registers > TMEM_MAX_REGISTERS:
            raise self.error(f"has no form {shape}.x{repeat}")
        check_kind(self, "its result", self.result, "b32", "f32")
        check_count(self, "its result", self.result, registers)
        check_in_flight(self.result, self, _TAKERS, Tcgen05WaitOp.name)

    def emit(self, out: Writer) -> None:
        pack = ".pack::16b" * self.flag("pack")
        head = f"tcgen05.ld.sync.aligned.{self.text('shape')}.x{self.number('repeat')}{pack}.b32"
        registers = ", ".join(out.names(self.results[0]))
        location = address(out, self._operands[0], self.number("offset"))
        split = f", {self.number('half_split')}" if "half_split" in self.properties else ""
        out.line(f"{head} {{{registers}}}, {location}{split}")


@irdl_op_definition
class Tcgen05StOp(PtxOp):
    """`tcgen05.st`: registers into tensor memory."""

    name = "ptx.tcgen05.st"

    address: fields.Operand = fields.operand(REG)
    value: fields.Operand = fields.operand(REG)
    shape: fields.String = fields.prop(StringAttr)
    unpack: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)
    half_split: fields.OptInt = fields.opt_prop(IntegerAttr, default=None, kw_only=True)
    offset: fields.OptInt = fields.opt_prop(IntegerAttr, default=0, kw_only=True)

    def check(self) -> None:
        shape = _check_access(self, self.address)
        repeat, rest = divmod(count_of(self.value), TMEM_REGISTERS[shape])
        check_kind(self, "the value", self.value, "b32", "f32")
        if rest or repeat not in TMEM_REPEATS or count_of(self.value) > TMEM_MAX_REGISTERS:
            raise self.error(f"has no form {shape} of {count_of(self.value)} registers")

    def emit(self, out: Writer) -> None:
        unpack, shape = ".unpack::16b" * self.flag("unpack"), self.text("shape")
        repeat = count_of(self._operands[1]) // TMEM_REGISTERS[shape]
        location = address(out, self._operands[0], self.number("offset"))
        split = f", {self.number('half_split')}" if "half_split" in self.properties else ""
        registers = ", ".join(out.registers(self._operands[1]))
        head = f"tcgen05.st.sync.aligned.{shape}.x{repeat}{unpack}.b32"
        out.line(f"{head} {location}{split}, {{{registers}}}")


@irdl_op_definition
class Tcgen05WaitOp(PtxOp):
    """`tcgen05.wait::ld` or `::st`: this thread's loads or stores of tensor memory are complete.

    The results of loads are its operands; its results are what may be read.
    """

    name = "ptx.tcgen05.wait"

    IN_PLACE: ClassVar[bool] = True
    access: fields.String = fields.prop(keyword("access", ("ld", "st")))
    values: fields.Operands = fields.operands(REG, default=())
    complete: fields.Results = fields.typed_results(REG, type=fields.types_of("values"))

    def in_place(self) -> Sequence[tuple[int, int]]:
        return tuple((index, index) for index in range(len(self.results)))

    def check(self) -> None:
        check_passed_on(self, self.values, self.complete)

    def emit(self, out: Writer) -> None:
        out.line(f"tcgen05.wait::{self.text('access')}.sync.aligned")


@irdl_op_definition
class Tcgen05FenceOp(PtxOp):
    """`tcgen05.fence`: orders asynchronous operations around a barrier between threads."""

    name = "ptx.tcgen05.fence"

    side: fields.String = fields.prop(keyword("side", ("before", "after")))

    def emit(self, out: Writer) -> None:
        out.line(f"tcgen05.fence::{self.text('side')}_thread_sync")


@irdl_op_definition
class Tcgen05CommitOp(GuardedOp):
    """`tcgen05.commit`: an arrival when the asynchronous operations so far are complete."""

    name = "ptx.tcgen05.commit"

    barrier: fields.Operand = fields.operand(REG)
    cta_group: fields.Int = fields.prop(CTA_GROUP, default=1, kw_only=True)
    multicast: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)
    offset: fields.OptInt = fields.opt_prop(IntegerAttr, default=0, kw_only=True)

    def check(self) -> None:
        check_address(self, "the barrier", self.barrier, "shared")
        check_registers(self, ("the mask", self.multicast, "b16"))

    def emit(self, out: Writer) -> None:
        mask = self.multicast
        cast = "" if mask is None else ".multicast::cluster"
        tail = "" if mask is None else f", {out.register(mask)}"
        group = self.number("cta_group")
        head = f"tcgen05.commit.cta_group::{group}.mbarrier::arrive::one.shared::cluster{cast}.b64"
        location = address(out, self._operands[0], self.number("offset"))
        out.line(f"{self.guard_text(out)}{head} {location}{tail}")


def _check_columns(op: PtxOp, columns: SSAValue) -> None:
    check_registers(op, ("the number of columns", columns, "b32"))
    owner = columns.owner
    if not isinstance(owner, PtxOp) or owner.name != CONSTANT:
        return
    if owner.number("value") not in TMEM_COLUMNS:
        known = ", ".join(map(str, TMEM_COLUMNS))
        raise op.error(f"has {known} columns, not {owner.number('value')}")


def _check_access(op: Tcgen05LdOp | Tcgen05StOp, address: SSAValue) -> str:
    """The shape of an access to tensor memory, which exists."""
    shape = op.text("shape")
    check_keyword(op, "shape", shape, TMEM_REGISTERS)
    check_registers(op, ("the address", address, "b32"))
    if ("half_split" in op.properties) != (shape == "16x32bx2"):
        raise op.error("has a half_split with shape 16x32bx2, and only there")
    return shape
