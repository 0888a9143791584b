"""Loads and stores of every space and width; a long tuple is several instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import InitVar
from typing import Any, ClassVar

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import SSAValue

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.ptx.base import (
    REG,
    address,
    count_of,
    elementwise,
    kind_of,
    vector,
    vector_suffix,
)
from tileas_xdsl.dialects.ptx.checks import (
    check_address,
    check_keyword,
    check_kind,
    check_registers,
    check_tuples,
    check_type,
)
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.guarded import GuardedOp
from tileas_xdsl.dialects.ptx.types import RegType, reg
from tileas_xdsl.target.isa.kinds import BITS, MEMORY_KINDS
from tileas_xdsl.target.isa.tables.memory.keywords import (
    ACCESS_TYPES,
    EVICTIONS,
    LOAD_CACHES,
    LOAD_SEMANTICS,
    LOAD_SPACES,
    PREFETCHES,
    SCOPED,
    SCOPES,
    SPACES,
    STORE_CACHES,
    STORE_SEMANTICS,
    VECTOR_BITS,
    VECTOR_WIDTHS,
)


class AccessOp(GuardedOp):
    """Base of loads and stores: `ld{.semantics}{.scope}{.space}{.cache}{.hints}{.vec}.type`."""

    offset: fields.OptInt = fields.opt_prop(IntegerAttr, default=0, kw_only=True)
    width: fields.OptInt = fields.opt_prop(IntegerAttr, default=None, kw_only=True)
    semantics: fields.OptString = fields.opt_prop(StringAttr, default=None, kw_only=True)
    scope: fields.OptString = fields.opt_prop(StringAttr, default=None, kw_only=True)
    cache: fields.OptString = fields.opt_prop(StringAttr, default=None, kw_only=True)
    eviction: fields.OptString = fields.opt_prop(StringAttr, default=None, kw_only=True)
    prefetch: fields.OptString = fields.opt_prop(StringAttr, default=None, kw_only=True)

    def check_access(
        self, value: SSAValue, spaces: Sequence[str], semantics: Sequence[str]
    ) -> None:
        """What loads and stores have in common."""
        check_keyword(self, "eviction", self.text("eviction"), EVICTIONS)
        type, space = self.text("type"), self.text("space")
        check_keyword(self, "type", type, ACCESS_TYPES)
        check_keyword(self, "space", space, spaces)
        check_keyword(self, "semantics", self.text("semantics"), semantics)
        scoped = self.text("semantics") in SCOPED
        check_keyword(self, "scope", self.text("scope"), SCOPES if scoped else ("",))
        check_address(self, "the address", self.operands[0], space)
        check_type(self, "its registers", value, type)
        check_registers(self, ("the policy", getattr(self, "policy", None), "b64"))
        self._check_width(count_of(value), BITS[type])
        self._check_orders()

    def _check_orders(self) -> None:
        strong = self.text("semantics") not in ("", "weak")
        if strong and (self.text("cache") or self.text("eviction")):
            raise self.error("is weak if it has a cache operator or an eviction")

    def _check_width(self, count: int, bits: int) -> None:
        width, offset = self.vector_width(count), self.number("offset")
        if width not in VECTOR_WIDTHS or width * bits > VECTOR_BITS:
            raise self.error(f"moves 1, 2 or 4 registers at once and up to 16 bytes, not {width}")
        if count % width:
            raise self.error(f"moves {count} registers, which vectors of {width} do not make")
        if offset % (width * bits // 8):
            raise self.error(f"needs an offset that is a multiple of its size, not {offset}")

    def vector_width(self, count: int) -> int:
        """Registers of one instruction: `width`, else as many as make 16 bytes."""
        return self.number("width", min(count, max(1, 128 // BITS[self.text("type")])))

    def access_head(self, mnemonic: str, width: int, *, policy: bool) -> str:
        """The instruction with its modifiers."""
        space = self.text("space")
        eviction = self.text("eviction")
        prefetch = self.text("prefetch")
        parts = (
            mnemonic,
            self.text("semantics"),
            self.text("scope"),
            "" if space == "generic" else space,
            self.text("cache"),
            eviction and f"L1::{eviction}",
            "L2::cache_hint" if policy else "",
            prefetch and f"L2::{prefetch}",
        )
        head = ".".join(part for part in parts if part)
        return f"{head}{vector_suffix(width)}.{self.text('type')}"


def _loaded(given: Mapping[str, Any]) -> RegType:
    return reg(given["kind"] or MEMORY_KINDS[given["type"]], given["count"])


@irdl_op_definition
class LdOp(AccessOp):
    """`ld`: consecutive elements; a tuple longer than a vector takes several instructions.

    `space` is generic, global, shared, shared::cluster, local or const; `semantics` weak, volatile,
    relaxed or acquire (with a `scope`); `cache` ca, cg, cs ...; `eviction` no_allocate, evict_first
    ...; `prefetch` 64B, 128B or 256B; `nc` reads through the cache of constants.  `width` registers
    go into one instruction, 16 bytes by default.  With a guard the registers get `otherwise` where
    the predicate does not hold.
    """

    name = "ptx.ld"

    READS_FIRST: ClassVar[bool] = False
    address: fields.Operand = fields.operand(REG)
    type: fields.String = fields.prop(StringAttr)
    space: fields.String = fields.prop(StringAttr)
    otherwise: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)
    policy: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)
    nc: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)
    count: InitVar[int] = fields.init_var(default=1, kw_only=True)
    kind: InitVar[str | None] = fields.init_var(default=None, kw_only=True)
    result: fields.Result[RegType] = fields.typed_result(REG, type=_loaded, init=False)

    def check(self) -> None:
        self.check_access(self.result, LOAD_SPACES, LOAD_SEMANTICS)
        check_keyword(self, "cache operator", self.text("cache"), LOAD_CACHES)
        check_keyword(self, "prefetch", self.text("prefetch"), PREFETCHES)
        if self.flag("nc") and (self.text("space") != "global" or self.text("semantics")):
            raise self.error("reads global memory weakly through the cache of constants")
        if (self.guard is None) != (self.otherwise is None):
            raise self.error("needs 'otherwise' where it has a guard, and only there")
        if self.otherwise is not None:
            check_kind(self, "otherwise", self.otherwise, kind_of(self.result))
            check_tuples(self, (self.otherwise,), self.result)

    def emit(self, out: Writer) -> None:
        names = out.names(self.results[0])
        width = self.vector_width(len(names))
        policy = self.policy
        head = self.access_head("ld", width, policy=policy is not None)
        if self.flag("nc"):
            head = head.replace("ld.global", "ld.global.nc", 1)
        hint = "" if policy is None else f", {out.register(policy)}"
        guard = self.guard_text(out)
        if self.otherwise is not None:
            elementwise(out, f"mov.{kind_of(self.results[0])}", self.results[0], self.otherwise)
        start, step = self.number("offset"), BITS[self.text("type")] // 8
        for index in range(0, len(names), width):
            location = address(out, self._operands[0], start + index * step)
            out.line(f"{guard}{head} {vector(names[index : index + width])}, {location}{hint}")


@irdl_op_definition
class StOp(AccessOp):
    """`st`: consecutive elements; a tuple longer than a vector takes several instructions.

    `semantics` is weak, volatile, relaxed or release; see `LdOp`.
    """

    name = "ptx.st"

    address: fields.Operand = fields.operand(REG)
    value: fields.Operand = fields.operand(REG)
    type: fields.String = fields.prop(StringAttr)
    space: fields.String = fields.prop(StringAttr)
    policy: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)

    def check(self) -> None:
        self.check_access(self.value, SPACES, STORE_SEMANTICS)
        check_keyword(self, "cache operator", self.text("cache"), STORE_CACHES)

    def emit(self, out: Writer) -> None:
        names = out.names(self._operands[1])
        width = self.vector_width(len(names))
        policy = self.policy
        head = self.access_head("st", width, policy=policy is not None)
        hint = "" if policy is None else f", {out.register(policy)}"
        guard = self.guard_text(out)
        start, step = self.number("offset"), BITS[self.text("type")] // 8
        for index in range(0, len(names), width):
            location = address(out, self._operands[0], start + index * step)
            out.line(f"{guard}{head} {location}, {vector(names[index : index + width])}{hint}")
