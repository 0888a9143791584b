"""Memory through pointers and through tiles of arrays, ordered by tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias, TypedDict

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, i1, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.canonicalized import Canonicalized
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of, tile_of, type_at
from tileas_xdsl.dialects.nv_tileaa.types import AAMemTokenType, PtrType
from tileas_xdsl.dialects.nv_tileas.enums import MemScopeAttr, MemSemanticAttr, RmwModeAttr
from tileas_xdsl.dialects.nv_tileas.memory import ordering_checks
from tileas_xdsl.dialects.nv_tileas.memory.arguments import (
    Mode,
    OptFlag,
    flag_attribute,
    mode_attribute,
)
from tileas_xdsl.dialects.nv_tileas.memory.ordering_checks import ATOMIC, LOAD, STORE
from tileas_xdsl.dialects.nv_tileas.syntax.directives import Coordinates, Ordering
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op

_OptSemantic: TypeAlias = fields.Field[MemSemanticAttr | None, MemSemanticAttr | None]
_OptScope: TypeAlias = fields.Field[MemScopeAttr | None, MemScopeAttr | None]

_ORDER = "custom<Ordering>($mem_semantic, $mem_scope)"
_AFTER = "(`after` $token^ `:` type($token))?"
_MASK = f"(`mask` $mask^ `:` type($mask))? {_AFTER}"


class Order(TypedDict, total=False):
    """Memory order and scope, as the constructor of an access takes them; weak without."""

    mem_semantic: MemSemanticAttr
    mem_scope: MemScopeAttr


def pointee_of(base: Attribute) -> Attribute:
    """What a pointer, or a tile of them, points to; the type itself for anything else."""
    pointer = element_of(base)
    return pointer.pointee if isinstance(pointer, PtrType) else pointer


def _loaded(given: Mapping[str, Any]) -> Attribute:
    type_ = type_at(given, "base")
    return tile_of(pointee_of(type_), shape_of(type_))


class TokenOp(TileasOp):
    """An effect that memory tokens order: it gives a token iff it takes one."""

    token: fields.OptOperand = fields.opt_operand(AAMemTokenType, default=None, kw_only=True)
    out_token: fields.OptResult = fields.opt_typed_result(
        AAMemTokenType, type=fields.type_of("token"), init=False
    )

    def check_tokens(self) -> None:
        """There is a token after iff there is one before."""
        if (self.token is None) != (self.out_token is None):
            raise op_error(self, "gives a token iff it takes one")


class AccessOp(TokenOp):
    """An access to memory: its order and scope, its memory tokens, and hints."""

    ORDERING: ClassVar[ordering_checks.Ordering]
    """The memory orders that it may have."""

    mem_semantic: _OptSemantic = fields.opt_prop(MemSemanticAttr, default=None, kw_only=True)
    mem_scope: _OptScope = fields.opt_prop(MemScopeAttr, default=None, kw_only=True)
    latency: fields.OptInt = fields.opt_prop(IntegerAttr.constr(i32), default=None, kw_only=True)
    allow_tma: OptFlag = fields.opt_prop(
        BoolAttr, default=None, kw_only=True, convert=flag_attribute
    )

    custom_directives = (Coordinates, Ordering)

    def check_types(self) -> None:
        """What is checked before tokens and order."""

    def check_values(self) -> None:
        """What is checked behind them."""

    def verify_(self) -> None:
        self.check_types()
        self.check_tokens()
        ordering_checks.check_ordering(self, self.ORDERING, self.mem_semantic, self.mem_scope)
        self.check_values()


class PointerOp(AccessOp):
    """An access to what a pointer, or each pointer of a tile, points to."""

    def check_pointers(self, base: Attribute, value: Attribute, mask: SSAValue | None) -> None:
        """A value for each pointer, and a bit for each."""
        if not isinstance(element_of(base), PtrType):
            raise op_error(self, f"expects a pointer or a tile of pointers, but got {base}")
        if tile_of(pointee_of(base), shape_of(base)) != value:
            raise op_error(self, f"accesses a value for each pointer, but got {value} for {base}")
        wanted = tile_of(i1, shape_of(base))
        if mask is not None and mask.type != wanted:
            raise op_error(self, f"expects a mask of type {wanted}, but got {mask.type}")


@tileas_op
class LoadOp(PointerOp):
    """Load what pointers point to; where the mask is false, `other`, or undefined without it."""

    name = "nv_tileaa.load"

    ORDERING: ClassVar[ordering_checks.Ordering] = LOAD

    base: fields.Operand = fields.operand()
    mask: fields.OptOperand = fields.opt_operand(default=None, kw_only=True)
    other: fields.OptOperand = fields.opt_operand(default=None, kw_only=True)
    result: fields.Result[Attribute] = fields.typed_result(type=_loaded, init=False)

    traits = traits_def(MemoryReadEffect(), Canonicalized("nv_tileaa.LOAD_PATTERNS"))
    assembly_format = (
        f"$base {_ORDER} (`mask` $mask^ `:` type($mask))? (`other` $other^ `:` type($other))?"
        f" {_AFTER} attr-dict `:` type($base) `->` type($result) (`,` type($out_token)^)?"
    )

    def check_types(self) -> None:
        self.check_pointers(self.base.type, self.result.type, self.mask)

    def check_values(self) -> None:
        if self.other is not None and self.other.type != self.result.type:
            raise op_error(self, f"expects {self.result.type} besides, but got {self.other.type}")


class ValueOp(PointerOp):
    """A value for each pointer for which the mask holds."""

    value: fields.Operand = fields.operand(position=1)
    base: fields.Operand = fields.operand()
    mask: fields.OptOperand = fields.opt_operand(default=None, kw_only=True)

    def check_types(self) -> None:
        self.check_pointers(self.base.type, self.value.type, self.mask)


@tileas_op
class StoreOp(ValueOp):
    """Writes a value behind each pointer for which the mask holds."""

    name = "nv_tileaa.store"

    ORDERING: ClassVar[ordering_checks.Ordering] = STORE

    traits = traits_def(MemoryWriteEffect(), Canonicalized("nv_tileaa.STORE_PATTERNS"))
    assembly_format = (
        f"$value `,` $base {_ORDER} {_MASK} attr-dict"
        " `:` type($value) `,` type($base) (`->` type($out_token)^)?"
    )


class UpdateOp(ValueOp):
    """An update behind each pointer that no other access can come between."""

    ORDERING: ClassVar[ordering_checks.Ordering] = ATOMIC

    result: fields.Result[Attribute] = fields.typed_result(type=fields.type_of("value"), init=False)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def check_values(self) -> None:
        given, result = self.value.type, self.result.type
        if given != result:
            raise op_error(self, f"gives what was there, {given}, not {result}")


@tileas_op
class AtomicRmwOp(UpdateOp):
    """Combines what is behind each pointer with a value; the result is what was there before."""

    name = "nv_tileaa.atomic_rmw"

    rmw_mode: Mode = fields.prop(RmwModeAttr, convert=mode_attribute, kw_only=True)

    assembly_format = (
        f"$rmw_mode $value `,` $base {_ORDER} {_MASK} attr-dict"
        " `:` type($value) `,` type($base) `->` type($result) (`,` type($out_token)^)?"
    )


@tileas_op
class AtomicCasOp(UpdateOp):
    """Replaces what is behind each pointer if it is as expected; the result is what was there."""

    name = "nv_tileaa.atomic_cas"

    value: fields.Operand = fields.operand(position=2)
    base: fields.Operand = fields.operand()
    compare: fields.Operand = fields.operand(kw_only=True)

    assembly_format = (
        f"$compare `,` $value `,` $base {_ORDER} {_MASK} attr-dict `:` type($compare) `,`"
        " type($value) `,` type($base) `->` type($result) (`,` type($out_token)^)?"
    )

    def check_values(self) -> None:
        super().check_values()
        if self.compare.type != self.value.type:
            raise op_error(self, f"compares with {self.value.type}, not {self.compare.type}")
