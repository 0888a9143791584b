"""`tcgen05`: tensor memory and the matrix products of Blackwell.

Results of a load from tensor memory are not there before a wait: only `Tcgen05WaitOp` takes them,
and gives them back to be read.
"""

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
    result_def,
    var_operand_def,
    var_result_def,
)

from tileas_xdsl.dialects.ptx.base import (
    REG,
    GuardedOp,
    PtxOp,
    Value,
    address,
    as_value,
    count_of,
    kind_of,
)
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.types import reg


@irdl_op_definition
class Tcgen05AllocOp(PtxOp):
    """`tcgen05.alloc`: columns of tensor memory; their address is written to shared memory."""

    name = "ptx.tcgen05.alloc"

    destination = operand_def(REG)
    columns = operand_def(REG)
    cta_group = prop_def(IntegerAttr)
    offset = opt_prop_def(IntegerAttr)

    def __init__(
        self, destination: Value, columns: Value, *, cta_group: int = 1, offset: int = 0
    ) -> None:
        super().__init__((destination, columns), (), cta_group=cta_group, offset=offset or None)

    def emit(self, out: Writer) -> None:
        place = address(out, self._operands[0], self.number("offset"))
        group = self.number("cta_group")
        head = f"tcgen05.alloc.cta_group::{group}.sync.aligned.shared::cta.b32"
        out.line(f"{head} {place}, {out.name(self._operands[1])}")


@irdl_op_definition
class Tcgen05DeallocOp(PtxOp):
    """`tcgen05.dealloc`: gives the columns back, before the block ends."""

    name = "ptx.tcgen05.dealloc"

    address = operand_def(REG)
    columns = operand_def(REG)
    cta_group = prop_def(IntegerAttr)

    def __init__(self, address: Value, columns: Value, *, cta_group: int = 1) -> None:
        super().__init__((address, columns), (), cta_group=cta_group)

    def emit(self, out: Writer) -> None:
        place, columns = out.register(self._operands[0]), out.name(self._operands[1])
        group = self.number("cta_group")
        out.line(f"tcgen05.dealloc.cta_group::{group}.sync.aligned.b32 {place}, {columns}")


@irdl_op_definition
class Tcgen05RelinquishOp(PtxOp):
    """`tcgen05.relinquish_alloc_permit`: this block allocates no more."""

    name = "ptx.tcgen05.relinquish_alloc_permit"

    cta_group = prop_def(IntegerAttr)

    def __init__(self, *, cta_group: int = 1) -> None:
        super().__init__(cta_group=cta_group)

    def emit(self, out: Writer) -> None:
        group = self.number("cta_group")
        out.line(f"tcgen05.relinquish_alloc_permit.cta_group::{group}.sync.aligned")


@irdl_op_definition
class Tcgen05LdOp(PtxOp):
    """`tcgen05.ld`: registers from tensor memory, once the wait is over."""

    name = "ptx.tcgen05.ld"

    address = operand_def(REG)
    shape = prop_def(StringAttr)
    repeat = prop_def(IntegerAttr)
    pack = opt_prop_def(UnitAttr)
    half_split = opt_prop_def(IntegerAttr)
    offset = opt_prop_def(IntegerAttr)
    result = result_def(REG)

    def __init__(
        self,
        address: Value,
        shape: str,
        repeat: int,
        *,
        pack: bool = False,
        half_split: int | None = None,
        kind: str = "b32",
        offset: int = 0,
    ) -> None:
        """`shape` 32x32b, 16x64b, 16x128b, 16x256b or 16x32bx2 (with `half_split`).

        `pack` puts two 16-bit columns into a register.
        """
        count = repeat * TMEM_REGISTERS.get(shape, 1)
        super().__init__(
            (address,),
            (reg(kind, count),),
            shape=shape,
            repeat=repeat,
            pack=pack,
            half_split=half_split,
            offset=offset or None,
        )

    def emit(self, out: Writer) -> None:
        pack = ".pack::16b" * self.flag("pack")
        head = f"tcgen05.ld.sync.aligned.{self.text('shape')}.x{self.number('repeat')}{pack}.b32"
        registers = ", ".join(out.names(self.results[0]))
        place = address(out, self._operands[0], self.number("offset"))
        split = f", {self.number('half_split')}" if "half_split" in self.properties else ""
        out.line(f"{head} {{{registers}}}, {place}{split}")


TMEM_REGISTERS = {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4, "16x32bx2": 1}
"""Registers per repetition."""


@irdl_op_definition
class Tcgen05StOp(PtxOp):
    """`tcgen05.st`: registers into tensor memory."""

    name = "ptx.tcgen05.st"

    address = operand_def(REG)
    value = operand_def(REG)
    shape = prop_def(StringAttr)
    unpack = opt_prop_def(UnitAttr)
    half_split = opt_prop_def(IntegerAttr)
    offset = opt_prop_def(IntegerAttr)

    def __init__(
        self,
        address: Value,
        value: Value,
        shape: str,
        *,
        unpack: bool = False,
        half_split: int | None = None,
        offset: int = 0,
    ) -> None:
        super().__init__(
            (address, value),
            (),
            shape=shape,
            unpack=unpack,
            half_split=half_split,
            offset=offset or None,
        )

    def emit(self, out: Writer) -> None:
        unpack, shape = ".unpack::16b" * self.flag("unpack"), self.text("shape")
        repeat = count_of(self._operands[1]) // TMEM_REGISTERS[shape]
        place = address(out, self._operands[0], self.number("offset"))
        split = f", {self.number('half_split')}" if "half_split" in self.properties else ""
        registers = ", ".join(out.registers(self._operands[1]))
        head = f"tcgen05.st.sync.aligned.{shape}.x{repeat}{unpack}.b32"
        out.line(f"{head} {place}{split}, {{{registers}}}")


@irdl_op_definition
class Tcgen05WaitOp(PtxOp):
    """`tcgen05.wait::ld` or `::st`: this thread's loads or stores of tensor memory are complete.

    The results of loads are its operands; its results are what may be read.
    """

    name = "ptx.tcgen05.wait"

    IN_PLACE: ClassVar[bool] = True
    values = var_operand_def(REG)
    access = prop_def(StringAttr)
    complete = var_result_def(REG)

    def __init__(self, access: str, values: Sequence[Value] = ()) -> None:
        """`access` is ld or st."""
        operands = [as_value(value) for value in values]
        super().__init__((operands,), [v.type for v in operands], access=access)

    def in_place(self) -> Sequence[tuple[int, int]]:
        return tuple((index, index) for index in range(len(self.results)))

    def emit(self, out: Writer) -> None:
        out.line(f"tcgen05.wait::{self.text('access')}.sync.aligned")


@irdl_op_definition
class Tcgen05FenceOp(PtxOp):
    """`tcgen05.fence`: orders asynchronous operations around a barrier between threads."""

    name = "ptx.tcgen05.fence"

    side = prop_def(StringAttr)

    def __init__(self, side: str) -> None:
        """`side` is before or after the barrier."""
        super().__init__(side=side)

    def emit(self, out: Writer) -> None:
        out.line(f"tcgen05.fence::{self.text('side')}_thread_sync")


@irdl_op_definition
class Tcgen05CommitOp(GuardedOp):
    """`tcgen05.commit`: an arrival when the asynchronous operations so far are complete."""

    name = "ptx.tcgen05.commit"

    SEGMENTED: ClassVar[bool] = True
    barrier = operand_def(REG)
    multicast = opt_operand_def(REG)
    guard = opt_operand_def(REG)
    cta_group = prop_def(IntegerAttr)
    offset = opt_prop_def(IntegerAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        barrier: Value,
        *,
        cta_group: int = 1,
        multicast: Value | None = None,
        offset: int = 0,
        guard: Value | None = None,
        negate: bool = False,
    ) -> None:
        """`multicast` is a mask (b16) of the blocks whose barriers get the arrival."""
        super().__init__(
            (barrier, multicast, guard),
            (),
            cta_group=cta_group,
            offset=offset or None,
            negate=negate,
        )

    def emit(self, out: Writer) -> None:
        mask = self.multicast
        cast = "" if mask is None else ".multicast::cluster"
        tail = "" if mask is None else f", {out.register(mask)}"
        group = self.number("cta_group")
        head = f"tcgen05.commit.cta_group::{group}.mbarrier::arrive::one.shared::cluster{cast}.b64"
        place = address(out, self._operands[0], self.number("offset"))
        out.line(f"{self.guard_text(out)}{head} {place}{tail}")


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


OPERATIONS = (
    Tcgen05AllocOp,
    Tcgen05DeallocOp,
    Tcgen05RelinquishOp,
    Tcgen05LdOp,
    Tcgen05StOp,
    Tcgen05WaitOp,
    Tcgen05FenceOp,
    Tcgen05CommitOp,
    Tcgen05CpOp,
    Tcgen05ShiftOp,
    Tcgen05MmaOp,
)
