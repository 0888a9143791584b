"""`tcgen05`: matrix products by one thread, and copies into tensor memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    var_operand_def,
)

from tileas_xdsl.dialects.ptx.base import (
    REG,
    GuardedOp,
    Value,
    address,
    kind_of,
)
from tileas_xdsl.dialects.ptx.checks import (
    check_count,
    check_group,
    check_kind,
    check_predicate,
    check_word,
    check_words,
)
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.target.isa.tensor_cores import (
    COLLECTORS,
    TENSOR_KINDS,
    TMEM_COPIES,
    TMEM_FORMATS,
)


@irdl_op_definition
class Tcgen05CpOp(GuardedOp):
    """`tcgen05.cp`: a matrix of shared memory, by its descriptor, into tensor memory."""

    name = "ptx.tcgen05.cp"

    address = operand_def(REG)
    descriptor = operand_def(REG)
    guard = opt_operand_def(REG)
    shape = prop_def(StringAttr)
    multicast = opt_prop_def(StringAttr)
    source_format = opt_prop_def(StringAttr)
    cta_group = prop_def(IntegerAttr)
    offset = opt_prop_def(IntegerAttr)

    def __init__(
        self,
        address: Value,
        descriptor: Value,
        shape: str,
        *,
        multicast: str | None = None,
        source_format: str | None = None,
        cta_group: int = 1,
        offset: int = 0,
        guard: Value | None = None,
        negate: bool = False,
    ) -> None:
        """`shape` 128x256b, 4x256b, 128x128b, 64x128b or 32x128b.

        `multicast` is warpx2::02_13, warpx2::01_23 (64x128b) or warpx4 (32x128b);
        `source_format` b6x16_p32 or b4x16_p64 unpacks to bytes.
        """
        super().__init__(
            (address, descriptor, guard),
            (),
            shape=shape,
            multicast=multicast,
            source_format=source_format,
            cta_group=cta_group,
            offset=offset or None,
            negate=negate,
        )

    def check(self) -> None:
        check_group(self)
        shape = self.text("shape")
        check_word(self, "shape", shape, TMEM_COPIES)
        check_word(self, "multicast", self.text("multicast"), TMEM_COPIES[shape], f"for {shape}")
        check_word(self, "source format", self.text("source_format"), TMEM_FORMATS)
        check_words(
            self, ("the address", self.address, "b32"), ("the source", self.descriptor, "b64")
        )
        check_predicate(self, "the guard", self.guard)

    def emit(self, out: Writer) -> None:
        source, cast = self.text("source_format"), self.text("multicast")
        parts = (
            f"tcgen05.cp.cta_group::{self.number('cta_group')}",
            self.text("shape"),
            cast,
            source and f"b8x16.{source}",
        )
        place = address(out, self._operands[0], self.number("offset"))
        head = ".".join(part for part in parts if part)
        out.line(f"{self.guard_text(out)}{head} {place}, {out.register(self._operands[1])}")


@irdl_op_definition
class Tcgen05ShiftOp(GuardedOp):
    """`tcgen05.shift`: 32-byte elements of all rows but the last, one row down."""

    name = "ptx.tcgen05.shift"

    address = operand_def(REG)
    guard = opt_operand_def(REG)
    cta_group = prop_def(IntegerAttr)

    def __init__(
        self,
        address: Value,
        *,
        cta_group: int = 1,
        guard: Value | None = None,
        negate: bool = False,
    ) -> None:
        super().__init__((address, guard), (), cta_group=cta_group, negate=negate)

    def check(self) -> None:
        check_group(self)
        check_words(self, ("the address", self.address, "b32"))
        check_predicate(self, "the guard", self.guard)

    def emit(self, out: Writer) -> None:
        place = address(out, self._operands[0], 0)
        group = self.number("cta_group")
        out.line(f"{self.guard_text(out)}tcgen05.shift.cta_group::{group}.down {place}")


@irdl_op_definition
class Tcgen05MmaOp(GuardedOp):
    """`tcgen05.mma`: D = A * B + D by one thread, D (and perhaps A) in tensor memory.

    A is a descriptor of shared memory (b64) or an address of tensor memory (b32).  Kinds with
    block scales (mxf8f6f4, mxf4, mxf4nvf4) take the addresses of both scales.
    """

    name = "ptx.tcgen05.mma"

    SEGMENTED: ClassVar[bool] = True
    d = operand_def(REG)
    a = operand_def(REG)
    b = operand_def(REG)
    descriptor = operand_def(REG)
    enable_d = operand_def(REG)
    scales = var_operand_def(REG)
    disabled_lanes = opt_operand_def(REG)
    guard = opt_operand_def(REG)
    kind = prop_def(StringAttr)
    cta_group = prop_def(IntegerAttr)
    scale_vector = opt_prop_def(StringAttr)
    scale_d = opt_prop_def(IntegerAttr)
    collector = opt_prop_def(StringAttr)
    ashift = opt_prop_def(UnitAttr)
    weights = opt_prop_def(UnitAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        d: Value,
        a: Value,
        b: Value,
        descriptor: Value,
        enable_d: Value,
        kind: str,
        *,
        cta_group: int = 1,
        scales: Sequence[Value] = (),
        scale_vector: str | None = None,
        disabled_lanes: Value | None = None,
        scale_d: int | None = None,
        collector: str | None = None,
        ashift: bool = False,
        weights: bool = False,
        guard: Value | None = None,
        negate: bool = False,
    ) -> None:
        """`kind` f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4 or mxf4nvf4; a false `enable_d` clears D.

        `descriptor` is the instruction descriptor (b32); `disabled_lanes` 4 masks (8 for two
        blocks); `scale_vector` block16, block32, 1X, 2X or 4X; `scale_d` divides D by a power of
        two first; `collector` fill, use, lastuse or discard of A's buffer; `weights` is the
        weight-stationary form `.ws`.
        """
        super().__init__(
            (d, a, b, descriptor, enable_d, scales, disabled_lanes, guard),
            (),
            kind=kind,
            cta_group=cta_group,
            scale_vector=scale_vector,
            scale_d=scale_d,
            collector=collector,
            ashift=ashift,
            weights=weights,
            negate=negate,
        )

    def check(self) -> None:
        check_group(self)
        check_word(self, "kind", self.text("kind"), TENSOR_KINDS)
        check_word(self, "collector", self.text("collector"), COLLECTORS)
        check_kind(self, "A", self.a, "b64", "b32")
        check_count(self, "A", self.a, 1)
        check_words(
            self,
            ("D", self.d, "b32"),
            ("B", self.b, "b64"),
            ("the descriptor", self.descriptor, "b32"),
            ("enable_d", self.enable_d, "pred"),
            *(("a scale", scale, "b32") for scale in self.scales),
        )
        check_predicate(self, "the guard", self.guard)
        self._check_kind()
        self._check_lanes()

    def _check_kind(self) -> None:
        name = self.text("kind")
        kind, where = TENSOR_KINDS[name], f"for {name}"
        scaled = 2 if kind.scale_vectors else 0
        if len(self.scales) != scaled:
            raise self.error(f"takes {scaled} scales {where}, not {len(self.scales)}")
        check_word(
            self, "scale vector", self.text("scale_vector"), kind.scale_vectors or ("",), where
        )
        if "scale_d" in self.properties and not kind.scales_d:
            raise self.error(f"does not scale D {where}")
        if not 0 <= self.number("scale_d") <= 15:
            raise self.error(
                f"divides D by 2 to the power of 0 to 15, not {self.number('scale_d')}"
            )
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
        operands = [f"[{d}]", a, b, descriptor]
        operands += [f"[{out.register(scale)}]" for scale in self.scales]
        if (lanes := self.disabled_lanes) is not None:
            operands.append(f"{{{', '.join(out.registers(lanes))}}}")
        operands.append(enable)
        operands += [str(self.number("scale_d"))] if "scale_d" in self.properties else []
        out.line(f"{self.guard_text(out)}{self.head()} {', '.join(operands)}")
