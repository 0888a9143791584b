"""Matrices of 8x8 elements between registers of a warp and shared memory; cache hints."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr, UnitAttr, f32
from xdsl.ir import SSAValue
from xdsl.irdl import opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.ptx.base import (
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
)
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.guarded import GuardedOp
from tileas_xdsl.dialects.ptx.types import RegType, reg
from tileas_xdsl.target.isa.tables.memory.keywords import (
    MATRIX_LOADS,
    MATRIX_LOADS_BLACKWELL,
    MATRIX_STORES_BLACKWELL,
    POLICIES,
)


def _matrices(given: Mapping[str, Any]) -> RegType:
    return reg("b32", given["matrices"] * (2 if given["shape"] == "m16n16" else 1))


@irdl_op_definition
class LdmatrixOp(PtxOp):
    """`ldmatrix`: 1, 2 or 4 matrices; lane l gives the address of row l % 8 of matrix l / 8."""

    name = "ptx.ldmatrix"

    address: fields.Operand = fields.operand(REG)
    shape: fields.String = fields.prop(StringAttr, default="m8n8", kw_only=True)
    type: fields.String = fields.prop(StringAttr, default="b16", kw_only=True)
    matrices: fields.Int = fields.prop(IntegerAttr)
    trans: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)
    offset: fields.OptInt = fields.opt_prop(IntegerAttr, default=0, kw_only=True)
    result: fields.Result[RegType] = fields.typed_result(REG, type=_matrices, init=False)

    def check(self) -> None:
        _check_matrices(self, MATRIX_LOADS_BLACKWELL, self.result)

    def emit(self, out: Writer) -> None:
        head = _matrix_head(self, "ldmatrix")
        location = address(out, self._operands[0], self.number("offset"))
        out.line(f"{head} {{{', '.join(out.names(self.results[0]))}}}, {location}")


@irdl_op_definition
class StmatrixOp(PtxOp):
    """`stmatrix`: 1, 2 or 4 matrices, one per register of the value."""

    name = "ptx.stmatrix"

    address: fields.Operand = fields.operand(REG)
    value: fields.Operand = fields.operand(REG)
    trans: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)
    offset: fields.OptInt = fields.opt_prop(IntegerAttr, default=0, kw_only=True)
    shape: fields.String = fields.prop(StringAttr, default="m8n8", kw_only=True)
    type: fields.String = fields.prop(StringAttr, default="b16", kw_only=True)

    def check(self) -> None:
        _check_matrices(self, MATRIX_STORES_BLACKWELL, self.value)

    def emit(self, out: Writer) -> None:
        location = address(out, self._operands[0], self.number("offset"))
        names = out.registers(self._operands[1])
        out.line(f"{_matrix_head(self, 'stmatrix')} {location}, {{{', '.join(names)}}}")


def _check_matrices(
    op: LdmatrixOp | StmatrixOp,
    others: Mapping[tuple[str, str], tuple[int, ...]],
    registers: SSAValue,
) -> None:
    shape, type = op.text("shape"), op.text("type")
    counts = {**MATRIX_LOADS, **others}.get((shape, type))
    if counts is None:
        raise op.error(f"has no matrices of {shape} and {type}")
    each = 2 if shape == "m16n16" else 1
    matrices = op.number("matrices") or count_of(registers)
    if matrices not in counts:
        known = ", ".join(map(str, counts))
        raise op.error(f"moves {known} matrices of {shape} at once, not {matrices}")
    if type == "b8" and not op.flag("trans"):
        raise op.error("transposes matrices of bytes: it needs trans")
    check_address(op, "the address", op.address, "shared")
    check_kind(op, "its registers", registers, "b32")
    check_count(op, "its registers", registers, matrices * each)


def _matrix_head(op: LdmatrixOp | StmatrixOp, mnemonic: str) -> str:
    matrices = op.number("matrices") or count_of(op.operands[1])
    trans = ".trans" * op.flag("trans")
    space = "shared::cta" if mnemonic == "stmatrix" else "shared"
    return (
        f"{mnemonic}.sync.aligned.{op.text('shape')}.x{matrices}{trans}.{space}.{op.text('type')}"
    )


@irdl_op_definition
class PrefetchOp(GuardedOp):
    """`prefetch`: the line of an address into a cache."""

    name = "ptx.prefetch"

    address: fields.Operand = fields.operand(REG)
    level: fields.String = fields.prop(StringAttr, default="L2")
    space: fields.String = fields.prop(StringAttr, default="global", kw_only=True)
    offset: fields.OptInt = fields.opt_prop(IntegerAttr, default=0, kw_only=True)

    def check(self) -> None:
        check_keyword(self, "space", self.text("space"), ("global", "local", "generic"))
        levels = ("L1", "L2", "L2::evict_last", "L2::evict_normal")
        check_keyword(self, "level", self.text("level"), levels)
        check_address(self, "the address", self.address, self.text("space"))

    def emit(self, out: Writer) -> None:
        space = "" if self.text("space") == "generic" else f".{self.text('space')}"
        location = address(out, self._operands[0], self.number("offset"))
        out.line(f"{self.guard_text(out)}prefetch{space}.{self.text('level')} {location}")


@irdl_op_definition
class CreatepolicyOp(PtxOp):
    """`createpolicy.fractional`: how the L2 cache treats a fraction of what is accessed."""

    name = "ptx.createpolicy"

    primary = prop_def(keyword("primary policy", POLICIES))
    secondary = opt_prop_def(StringAttr)
    fraction = prop_def(FloatAttr)
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(
        self, primary: str, *, secondary: str | None = None, fraction: float = 1.0
    ) -> None:
        """`primary` is evict_first, evict_last, evict_normal or evict_unchanged."""
        self.fill(
            (),
            (reg("b64"),),
            primary=primary,
            secondary=secondary,
            fraction=FloatAttr(fraction, f32),
        )

    def check(self) -> None:
        seconds = ("", "evict_first", "evict_unchanged")
        check_keyword(self, "secondary policy", self.text("secondary"), seconds)
        if not 0 < self.fraction.value.data <= 1:
            raise self.error(f"treats a fraction in (0, 1], not {self.fraction.value.data}")

    def emit(self, out: Writer) -> None:
        second = self.text("secondary")
        head = (
            f"createpolicy.fractional.L2::{self.text('primary')}{second and f'.L2::{second}'}.b64"
        )
        bits = struct.unpack("<I", struct.pack("<f", self.fraction.value.data))[0]
        out.line(f"{head} {out.name(self.results[0])}, 0f{bits:08X}")
