"""`tcgen05`: matrix products by one thread, and copies into tensor memory."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.constraints import number_among
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.ptx.base import (
    CTA_GROUP,
    INTEGER,
    REG,
    address,
    keyword,
    kind_of,
)
from tileas_xdsl.dialects.ptx.checks import (
    check_count,
    check_keyword,
    check_kind,
    check_registers,
)
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.guarded import GuardedOp
from tileas_xdsl.target.isa.tables.matrix.tensor_cores import (
    COLLECTORS,
    TENSOR_KINDS,
    TMEM_COPIES,
    TMEM_FORMATS,
)


@irdl_op_definition
class Tcgen05CpOp(GuardedOp):
    """`tcgen05.cp`: a matrix of shared memory, by its descriptor, into tensor memory."""

    name = "ptx.tcgen05.cp"

    address: fields.Operand = fields.operand(REG)
    descriptor: fields.Operand = fields.operand(REG)
    shape: fields.String = fields.prop(keyword("shape", TMEM_COPIES))
    multicast: fields.OptString = fields.opt_prop(StringAttr, default=None, kw_only=True)
    source_format: fields.OptString = fields.opt_prop(StringAttr, default=None, kw_only=True)
    cta_group: fields.Int = fields.prop(CTA_GROUP, default=1, kw_only=True)
    offset: fields.OptInt = fields.opt_prop(IntegerAttr, default=0, kw_only=True)

    def check(self) -> None:
        check_keyword(self, "source format", self.text("source_format"), TMEM_FORMATS)
        shape = self.text("shape")
        check_keyword(self, "multicast", self.text("multicast"), TMEM_COPIES[shape], f"for {shape}")
        check_registers(
            self, ("the address", self.address, "b32"), ("the source", self.descriptor, "b64")
        )

    def emit(self, out: Writer) -> None:
        source, cast = self.text("source_format"), self.text("multicast")
        parts = (
            f"tcgen05.cp.cta_group::{self.number('cta_group')}",
            self.text("shape"),
            cast,
            source and f"b8x16.{source}",
        )
        location = address(out, self._operands[0], self.number("offset"))
        head = ".".join(part for part in parts if part)
        out.line(f"{self.guard_text(out)}{head} {location}, {out.register(self._operands[1])}")


@irdl_op_definition
class Tcgen05ShiftOp(GuardedOp):
    """`tcgen05.shift`: 32-byte elements of all rows but the last, one row down."""

    name = "ptx.tcgen05.shift"

    address: fields.Operand = fields.operand(REG)
    cta_group: fields.Int = fields.prop(CTA_GROUP, default=1, kw_only=True)

    def check(self) -> None:
        check_registers(self, ("the address", self.address, "b32"))

    def emit(self, out: Writer) -> None:
        location = address(out, self._operands[0], 0)
        group = self.number("cta_group")
        out.line(f"{self.guard_text(out)}tcgen05.shift.cta_group::{group}.down {location}")


@irdl_op_definition
class Tcgen05MmaOp(GuardedOp):
    """`tcgen05.mma`: D = A * B + D by one thread, D (and perhaps A) in tensor memory.

    A is a descriptor of shared memory (b64) or an address of tensor memory (b32).  Kinds with
    block scales (mxf8f6f4, mxf4, mxf4nvf4) take the addresses of both scales.  With `metadata`, an
    address of tensor memory, A is sparse (`tcgen05.mma.sp`): it keeps half of K.
    """

    name = "ptx.tcgen05.mma"

    d: fields.Operand = fields.operand(REG)
    a: fields.Operand = fields.operand(REG)
    b: fields.Operand = fields.operand(REG)
    descriptor: fields.Operand = fields.operand(REG)
    enable_d: fields.Operand = fields.operand(REG)
    kind: fields.String = fields.prop(keyword("kind", TENSOR_KINDS))
    cta_group: fields.Int = fields.prop(CTA_GROUP, default=1, kw_only=True)
    metadata: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)
    scales: fields.Operands = fields.operands(REG, default=(), kw_only=True)
    scale_vector: fields.OptString = fields.opt_prop(StringAttr, default=None, kw_only=True)
    disabled_lanes: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)
    scale_d: fields.OptInt = fields.opt_prop(
        number_among(INTEGER, range(16), "divides D by 2 to the power of 0 to 15, not {given}"),
        default=None,
        kw_only=True,
    )
    collector: fields.OptString = fields.opt_prop(StringAttr, default=None, kw_only=True)
    ashift: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)
    weights: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)

    def check(self) -> None:
        check_keyword(self, "collector", self.text("collector"), COLLECTORS)
        check_kind(self, "A", self.a, "b64", "b32")
        check_count(self, "A", self.a, 1)
        check_registers(
            self,
            ("D", self.d, "b32"),
            ("B", self.b, "b64"),
            ("the descriptor", self.descriptor, "b32"),
            ("enable_d", self.enable_d, "pred"),
            *(("a scale", scale, "b32") for scale in self.scales),
            *(() if self.metadata is None else (("the metadata", self.metadata, "b32"),)),
        )
        self._check_kind()
        self._check_lanes()

    def _check_kind(self) -> None:
        name = self.text("kind")
        kind, where = TENSOR_KINDS[name], f"for {name}"
        scaled = 2 if kind.scale_vectors else 0
        if len(self.scales) != scaled:
            raise self.error(f"takes {scaled} scales {where}, not {len(self.scales)}")
        check_keyword(
            self, "scale vector", self.text("scale_vector"), kind.scale_vectors or ("",), where
        )
        if "scale_d" in self.properties and not kind.scales_d:
            raise self.error(f"does not scale D {where}")
        scaled_d = "scale_d" in self.properties
        if self.flag("weights") and (self.number("cta_group") != 1 or scaled or scaled_d):
            raise self.error("with stationary weights is of one block, without scales")

    def _check_lanes(self) -> None:
        if self.disabled_lanes is None:
            return
        if self.scales or self.flag("weights"):
            raise self.error("disables no lanes with scales or stationary weights")
        check_kind(self, "the lanes", self.disabled_lanes, "b32")
        count = 4 * self.number("cta_group")
        check_count(self, "the lanes", self.disabled_lanes, count)

    def head(self) -> str:
        """The instruction with its modifiers."""
        scaled, collector = self.scales, self.text("collector")
        buffer = "b0" if self.flag("weights") else "a"
        vector_size = self.text("scale_vector")
        parts = (
            "tcgen05.mma",
            "ws" * self.flag("weights"),
            "" if self.metadata is None else "sp",
            f"cta_group::{self.number('cta_group')}",
            f"kind::{self.text('kind')}",
            "block_scale" if scaled else "",
            vector_size
            if vector_size.startswith("block")
            else vector_size and f"scale_vec::{vector_size}",
            "ashift" * self.flag("ashift"),
            collector and f"collector::{buffer}::{collector}",
        )
        return ".".join(part for part in parts if part)

    def emit(self, out: Writer) -> None:
        d, a, b, descriptor, enable = map(out.register, self._operands[:5])
        a = f"[{a}]" if kind_of(self._operands[1]) == "b32" else a
        operands = [f"[{d}]", a, b]
        operands += [] if self.metadata is None else [f"[{out.register(self.metadata)}]"]
        operands.append(descriptor)
        operands += [f"[{out.register(scale)}]" for scale in self.scales]
        if (lanes := self.disabled_lanes) is not None:
            operands.append(f"{{{', '.join(out.registers(lanes))}}}")
        operands.append(enable)
        operands += [str(self.number("scale_d"))] if "scale_d" in self.properties else []
        out.line(f"{self.guard_text(out)}{self.head()} {', '.join(operands)}")
