"""Atomic updates of memory, and tensor maps that are changed in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.ir import SSAValue

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.constraints import number_among
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.ptx.base import (
    CONSTANT,
    INTEGER,
    REG,
    PtxOp,
    address,
    count_of,
    elementwise,
    keyword,
    kind_of,
    vector,
    vector_suffix,
)
from tileas_xdsl.dialects.ptx.checks import (
    check_address,
    check_count,
    check_keyword,
    check_kind,
    check_registers,
    check_tuples,
    check_type,
)
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.guarded import GuardedOp
from tileas_xdsl.dialects.ptx.types import RegType, reg
from tileas_xdsl.target.isa.kinds import TYPE_KINDS
from tileas_xdsl.target.isa.tables.asynchronous import (
    LITERAL_FIELDS,
    TENSORMAP_FIELDS,
)
from tileas_xdsl.target.isa.tables.memory.keywords import (
    ATOMIC_SEMANTICS,
    ATOMIC_SPACES,
    ATOMIC_VECTORS,
    ATOMICS,
    REDUCTION_SEMANTICS,
    SCOPES,
)


class UpdateOp(GuardedOp):
    """Base: `atom{.semantics}{.scope}{.space}.op{.noftz}{.vec}.type`."""

    address: fields.Operand = fields.operand(REG)
    operation: fields.String = fields.prop(StringAttr)
    value: fields.Operand = fields.operand(REG)
    type: fields.String = fields.prop(StringAttr)
    space: fields.String = fields.prop(keyword("space", ATOMIC_SPACES), default="global")
    semantics: fields.OptString = fields.opt_prop(StringAttr, default=None, kw_only=True)
    scope: fields.OptString = fields.opt_prop(StringAttr, default=None, kw_only=True)
    offset: fields.OptInt = fields.opt_prop(IntegerAttr, default=0, kw_only=True)

    def check_update(self, value: SSAValue, semantics: Sequence[str]) -> None:
        """Operation, type, space, order and value."""
        operation, type, order = self.text("operation"), self.text("type"), self.text("semantics")
        check_keyword(self, "type", type, ATOMICS[operation], f"for {operation}")
        check_keyword(self, "semantics", order, semantics)
        check_keyword(self, "scope", self.text("scope"), SCOPES if order else ("", *SCOPES))
        check_address(self, "the address", self.operands[0], self.text("space"))
        check_type(self, "the value", value, type)
        self._check_vector(count_of(value))

    def _check_vector(self, count: int) -> None:
        type = self.text("type")
        halves = type in ("f16", "bf16", "f16x2", "bf16x2")
        if count == 1 and halves and self.text("operation") in ("min", "max"):
            raise self.error(f"takes vectors of {type} for {self.text('operation')}")
        if count == 1:
            return
        if self.text("space") != "global" or count not in ATOMIC_VECTORS.get(type, ()):
            raise self.error(f"has no vector of {count} {type} in {self.text('space')} memory")

    def update_head(self, mnemonic: str, count: int) -> str:
        """The instruction with its modifiers."""
        space, type = self.text("space"), self.text("type")
        halves = type in ("f16", "bf16", "f16x2", "bf16x2")
        parts = (
            mnemonic,
            self.text("semantics"),
            self.text("scope"),
            "" if space == "generic" else space,
            self.text("operation"),
            "noftz" if halves else "",
        )
        head = ".".join(part for part in parts if part)
        return f"{head}{vector_suffix(count)}.{type}"


def _previous(given: Mapping[str, Any]) -> RegType:
    return reg(TYPE_KINDS[given["type"]], count_of(given["value"]))


@irdl_op_definition
class AtomOp(UpdateOp):
    """`atom`: combines a value with memory and gives what was there.

    `operation` is add, min, max, and, or, xor, exch, inc, dec or cas (with `compare`).
    With a guard the registers get `otherwise` where the predicate does not hold.
    """

    name = "ptx.atom"

    READS_FIRST: ClassVar[bool] = False

    address: fields.Operand = fields.operand(REG)
    value: fields.Operand = fields.operand(REG)
    compare: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)
    otherwise: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)
    result: fields.Result[RegType] = fields.typed_result(REG, type=_previous, init=False)

    def check(self) -> None:
        operation = self.text("operation")
        check_keyword(self, "operation", operation, ATOMICS)
        self.check_update(self.value, ATOMIC_SEMANTICS)
        if (operation == "cas") != (self.compare is not None):
            raise self.error("compares for cas, and only there")
        if self.compare is not None:
            check_type(self, "what it compares with", self.compare, self.text("type"))
            check_count(self, "what it compares with", self.compare, 1)
        check_type(self, "its result", self.result, self.text("type"))
        check_count(self, "its result", self.result, count_of(self.value))
        if (self.guard is None) != (self.otherwise is None):
            raise self.error("needs 'otherwise' where it has a guard, and only there")
        if self.otherwise is not None:
            check_kind(self, "otherwise", self.otherwise, kind_of(self.result))
            check_tuples(self, (self.otherwise,), self.result)

    def emit(self, out: Writer) -> None:
        names = out.names(self._operands[1])
        compare = "" if self.compare is None else f"{out.name(self.compare)}, "
        location = address(out, self._operands[0], self.number("offset"))
        result = vector(out.names(self.results[0]))
        head = self.update_head("atom", len(names))
        if self.otherwise is not None:
            elementwise(out, f"mov.{kind_of(self.results[0])}", self.results[0], self.otherwise)
        guard = self.guard_text(out)
        out.line(f"{guard}{head} {result}, {location}, {compare}{vector(names)}")


@irdl_op_definition
class RedOp(UpdateOp):
    """`red`: combines a value with memory."""

    name = "ptx.red"

    address: fields.Operand = fields.operand(REG)
    value: fields.Operand = fields.operand(REG)

    def check(self) -> None:
        updates = [name for name in ATOMICS if name not in ("exch", "cas")]
        check_keyword(self, "operation", self.text("operation"), updates)
        self.check_update(self.value, REDUCTION_SEMANTICS)

    def emit(self, out: Writer) -> None:
        names = out.names(self._operands[1])
        location = address(out, self._operands[0], self.number("offset"))
        head = self.update_head("red", len(names))
        out.line(f"{self.guard_text(out)}{head} {location}, {vector(names)}")


@irdl_op_definition
class TensormapReplaceOp(GuardedOp):
    """`tensormap.replace.tile`: one field of a tensor map of 128 bytes in memory."""

    name = "ptx.tensormap_replace"

    address: fields.Operand = fields.operand(REG)
    field: fields.String = fields.prop(keyword("field", TENSORMAP_FIELDS))
    value: fields.Operand = fields.operand(REG)
    ordinal: fields.OptInt = fields.opt_prop(
        number_among(INTEGER, range(5), "has ordinals 0 to 4, not {given}"),
        default=None,
        kw_only=True,
    )
    space: fields.String = fields.prop(StringAttr, default="shared::cta", kw_only=True)

    def check(self) -> None:
        check_keyword(self, "space", self.text("space"), ("shared::cta", "global"))
        field = self.text("field")
        if TENSORMAP_FIELDS[field] != ("ordinal" in self.properties):
            raise self.error(
                f"field {field} has {'an' if TENSORMAP_FIELDS[field] else 'no'} ordinal"
            )
        kind = "b64" if field in ("global_address", "global_stride") else "b32"
        check_registers(self, ("the value", self.value, kind))
        owner = self.value.owner
        if field in LITERAL_FIELDS and not (isinstance(owner, PtxOp) and owner.name == CONSTANT):
            raise self.error(f"field {field} takes a ptx.const")
        check_address(self, "the address", self.address, self.text("space"))

    def emit(self, out: Writer) -> None:
        field, space = self.text("field"), self.text("space")
        type = "b64" if field in ("global_address", "global_stride") else "b32"
        location = address(out, self._operands[0], 0)
        ordinal = f"{self.number('ordinal')}, " if "ordinal" in self.properties else ""
        head = f"tensormap.replace.tile.{field}.{space}.b1024.{type}"
        value = out.name(self._operands[1])
        out.line(f"{self.guard_text(out)}{head} {location}, {ordinal}{value}")


@irdl_op_definition
class TensormapCpFenceproxyOp(PtxOp):
    """`tensormap.cp_fenceproxy`: a map from shared to global memory, released to TMA."""

    name = "ptx.tensormap_cp_fenceproxy"

    destination: fields.Operand = fields.operand(REG)
    source: fields.Operand = fields.operand(REG)
    scope: fields.String = fields.prop(keyword("scope", SCOPES), default="gpu")

    def check(self) -> None:
        check_address(self, "the destination", self.destination, "global")
        check_address(self, "the source", self.source, "shared")

    def emit(self, out: Writer) -> None:
        head = (
            "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic"
            f".release.{self.text('scope')}.sync.aligned"
        )
        locations = [address(out, value, 0) for value in self._operands]
        out.line(f"{head} {', '.join(locations)}, 128")
