"""`cp.async.bulk.tensor`: boxes of tensors between global and shared memory (TMA)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.constraints import multiples_of, number_among
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.ptx.base import CTA_GROUP, INTEGER, REG, address, keyword, offset_by
from tileas_xdsl.dialects.ptx.checks import (
    check_address,
    check_keyword,
    check_registers,
)
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.guarded import GuardedOp
from tileas_xdsl.dialects.ptx.memory.bulk import BARRIER, GROUP
from tileas_xdsl.target.isa.tables.asynchronous import (
    BLACKWELL_MODES,
    TENSOR_LOADS,
    TENSOR_PREFETCHES,
    TENSOR_REDUCTIONS,
    TENSOR_STORES,
    TENSOR_TARGETS,
)


class TensorOp(GuardedOp):
    """Base: a box of the tensor of a map, at coordinates with the innermost one first."""

    mode: fields.String = fields.prop(StringAttr, default="tile", kw_only=True)

    def check_box(
        self, tensor_map: SSAValue, coordinates: Sequence[SSAValue], modes: Sequence[str]
    ) -> None:
        """The map, the coordinates and what all forms may have."""
        mode = self.text("mode")
        check_keyword(self, "mode", mode, modes)
        check_registers(
            self,
            ("the address of the map", tensor_map, "b64"),
            *(("a coordinate", coordinate, "b32") for coordinate in coordinates),
            ("the policy", getattr(self, "policy", None), "b64"),
        )
        rank = len(coordinates)
        if mode in BLACKWELL_MODES and rank != 5:
            raise self.error(f"takes a column and 4 rows in mode {mode}, not {rank} coordinates")
        if not 1 <= rank <= 5:
            raise self.error(f"takes 1 to 5 coordinates, not {rank}")
        if mode.startswith("im2col") and rank < 3:
            raise self.error(f"takes 3 to 5 coordinates in mode {mode}, not {rank}")

    def dimensions(self, coordinates: Sequence[SSAValue]) -> int:
        """Rank of the tensor: rows that are gathered are dimension 1 of two."""
        return 2 if self.text("mode") in BLACKWELL_MODES else len(coordinates)

    def box(self, out: Writer, tensor_map: SSAValue, coordinates: Sequence[SSAValue]) -> str:
        """`[map, {x, y}]`."""
        position = ", ".join([out.name(coordinate) for coordinate in coordinates])
        return f"[{out.register(tensor_map)}, {{{position}}}]"


@irdl_op_definition
class TensorLoadOp(TensorOp):
    """A box from global into shared memory; its bytes complete on the barrier.

    `mode` is tile, tile::gather4 (x and four rows) or im2col (with its b16 `offsets`); `multicast`
    is a mask (b16) of blocks; `cta_group` 2 lets the barrier be the even block's.
    """

    name = "ptx.tensor_load"

    destination: fields.Operand = fields.operand(REG)
    map: fields.Operand = fields.operand(REG)
    barrier: fields.Operand = fields.operand(REG)
    coordinates: fields.Operands = fields.operands(REG)
    offsets: fields.Operands = fields.operands(REG, default=(), kw_only=True)
    multicast: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)
    policy: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)
    to: fields.String = fields.prop(StringAttr, default="shared::cluster", kw_only=True)
    cta_group: fields.OptInt = fields.opt_prop(CTA_GROUP, default=None, kw_only=True)
    offset: fields.OptInt = fields.opt_prop(offset_by(128), default=0, kw_only=True)
    barrier_offset: fields.OptInt = fields.opt_prop(
        number_among(INTEGER, multiples_of(8), "needs a barrier_offset that is a multiple of 8"),
        default=0,
        kw_only=True,
    )

    def check(self) -> None:
        check_keyword(self, "destination", self.text("to"), TENSOR_TARGETS)
        self.check_box(self.map, self.coordinates, TENSOR_LOADS)
        check_address(self, "the destination", self.destination, "shared")
        check_address(self, "the barrier", self.barrier, "shared")
        check_registers(
            self,
            ("the mask", self.multicast, "b16"),
            *(("an offset", offset, "b16") for offset in self.offsets),
        )
        if self.multicast is not None and self.text("to") == "shared::cta":
            raise self.error("multicasts to shared::cluster only")
        self._check_offsets(len(self.coordinates) - 2 if self.text("mode") == "im2col" else 0)

    def _check_offsets(self, wanted: int) -> None:
        if len(self.offsets) != wanted:
            raise self.error(f"takes {wanted} offsets in this mode, not {len(self.offsets)}")

    def emit(self, out: Writer) -> None:
        coordinates, multicast, policy = self.coordinates, self.multicast, self.policy
        group = self.number("cta_group")
        # ptxas takes `cta_group` after the barrier's qualifier.
        parts = (
            f"cp.async.bulk.tensor.{self.dimensions(coordinates)}d",
            self.text("to"),
            "global",
            self.text("mode"),
            BARRIER,
            "" if multicast is None else "multicast::cluster",
            f"cta_group::{group}" if group else "",
            "" if policy is None else "L2::cache_hint",
        )
        operands = [
            address(out, self._operands[0], self.number("offset")),
            self.box(out, self._operands[1], coordinates),
            address(out, self._operands[2], self.number("barrier_offset")),
        ]
        if offsets := self.offsets:
            operands.append(f"{{{', '.join([out.register(value) for value in offsets])}}}")
        operands += [out.register(mask) for mask in (multicast, policy) if mask is not None]
        head = ".".join(part for part in parts if part)
        out.line(f"{self.guard_text(out)}{head} {', '.join(operands)}")


class FromSharedOp(TensorOp):
    """Base: a box from shared to global memory, in a bulk group.

    `mode` is tile, tile::scatter4 (x and four rows) or im2col_no_offs.
    """

    map: fields.Operand = fields.operand(REG)
    source: fields.Operand = fields.operand(REG)
    coordinates: fields.Operands = fields.operands(REG)
    policy: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)
    offset: fields.OptInt = fields.opt_prop(offset_by(128), default=0, kw_only=True)

    def check(self) -> None:
        self.check_box(self.map, self.coordinates, TENSOR_STORES)
        check_address(self, "the source", self.source, "shared")

    def write(self, out: Writer, mnemonic: str, operation: str) -> None:
        """Write the instruction."""
        coordinates, policy = self.coordinates, self.policy
        parts = (
            f"{mnemonic}.{self.dimensions(coordinates)}d.global.shared::cta",
            operation,
            self.text("mode"),
            GROUP,
            "" if policy is None else "L2::cache_hint",
        )
        head = ".".join(part for part in parts if part)
        location = address(out, self._operands[1], self.number("offset"))
        tail = "" if policy is None else f", {out.register(policy)}"
        box = self.box(out, self._operands[0], coordinates)
        out.line(f"{self.guard_text(out)}{head} {box}, {location}{tail}")


@irdl_op_definition
class TensorStoreOp(FromSharedOp):
    """A box from shared to global memory."""

    name = "ptx.tensor_store"

    def emit(self, out: Writer) -> None:
        self.write(out, "cp.async.bulk.tensor", "")


@irdl_op_definition
class TensorReduceOp(FromSharedOp):
    """A box of shared memory combined with one of global memory.

    `operation` is add, min, max, inc, dec, and, or, xor; the map knows the type.
    """

    name = "ptx.tensor_reduce"

    operation: fields.String = fields.prop(keyword("operation", TENSOR_REDUCTIONS))

    def check(self) -> None:
        super().check()

    def emit(self, out: Writer) -> None:
        self.write(out, "cp.reduce.async.bulk.tensor", self.text("operation"))


@irdl_op_definition
class TensorPrefetchOp(TensorOp):
    """A box of global memory into the L2 cache."""

    name = "ptx.tensor_prefetch"

    map: fields.Operand = fields.operand(REG)
    coordinates: fields.Operands = fields.operands(REG)
    policy: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)

    def check(self) -> None:
        self.check_box(self.map, self.coordinates, TENSOR_PREFETCHES)

    def emit(self, out: Writer) -> None:
        coordinates, policy = self.coordinates, self.policy
        hint = "" if policy is None else ".L2::cache_hint"
        tail = "" if policy is None else f", {out.register(policy)}"
        rank = self.dimensions(coordinates)
        head = f"cp.async.bulk.prefetch.tensor.{rank}d.L2.global.{self.text('mode')}{hint}"
        box = self.box(out, self._operands[0], coordinates)
        out.line(f"{self.guard_text(out)}{head} {box}{tail}")


@irdl_op_definition
class PrefetchTensormapOp(GuardedOp):
    """`prefetch.tensormap`: the map itself, into the cache of maps."""

    name = "ptx.prefetch_tensormap"

    map: fields.Operand = fields.operand(REG)

    def check(self) -> None:
        check_registers(self, ("the address of the map", self.map, "b64"))

    def emit(self, out: Writer) -> None:
        location = address(out, self._operands[0], 0)
        out.line(f"{self.guard_text(out)}prefetch.tensormap {location}")
