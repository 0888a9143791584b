"""Memory through pointers and through tiles of arrays, ordered by tokens."""

from __future__ import annotations

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, i1, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    opt_result_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileaa.base import Value, element_of, shape_of, tile_of
from tileas_xdsl.dialects.nv_tileaa.folding import LoadPatterns, StorePatterns
from tileas_xdsl.dialects.nv_tileaa.types import AAMemTokenType, PtrType
from tileas_xdsl.dialects.nv_tileas.enums import (
    MemScopeAttr,
    MemSemanticAttr,
    RmwMode,
    RmwModeAttr,
)
from tileas_xdsl.dialects.nv_tileas.memory.ordering_checks import (
    ATOMIC,
    LOAD,
    STORE,
    check_ordering,
)
from tileas_xdsl.dialects.nv_tileas.syntax.directives import Coordinates, Ordering
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op

Order = tuple[MemSemanticAttr | None, MemScopeAttr | None]
"""Memory order and scope of an access."""

WEAK: Order = (None, None)
TOKEN = AAMemTokenType()

_ORDER = "custom<Ordering>($mem_semantic, $mem_scope)"
_AFTER = "(`after` $token^ `:` type($token))?"
_MASK = f"(`mask` $mask^ `:` type($mask))? {_AFTER}"


def pointee_of(base: Attribute) -> Attribute:
    """What a pointer, or a tile of them, points to; the type itself for anything else."""
    pointer = element_of(base)
    return pointer.pointee if isinstance(pointer, PtrType) else pointer


class AccessOp(TileasOp):
    """An access to memory: its order and scope, its memory tokens, and hints."""

    mem_semantic = opt_prop_def(MemSemanticAttr)
    mem_scope = opt_prop_def(MemScopeAttr)
    latency = opt_prop_def(IntegerAttr.constr(i32))
    allow_tma = opt_prop_def(BoolAttr)

    custom_directives = (Coordinates, Ordering)

    def check_token_pair(self, token: SSAValue | None, out_token: SSAValue | None) -> None:
        """There is a token behind iff there is one before."""
        if (token is None) != (out_token is None):
            raise op_error(self, "gives a token iff it takes one")

    def check_pointers(self, base: Attribute, value: Attribute, mask: SSAValue | None) -> None:
        """A value for each pointer, and a bit for each."""
        if not isinstance(element_of(base), PtrType):
            raise op_error(self, f"expects a pointer or a tile of pointers, but got {base}")
        if tile_of(pointee_of(base), shape_of(base)) != value:
            raise op_error(self, f"accesses a value for each pointer, but got {value} for {base}")
        wanted = tile_of(i1, shape_of(base))
        if mask is not None and mask.type != wanted:
            raise op_error(self, f"expects a mask of type {wanted}, but got {mask.type}")


def order_properties(order: Order) -> dict[str, Attribute | None]:
    """Return the properties for the order and scope of an access."""
    return {"mem_semantic": order[0], "mem_scope": order[1]}


def token_types(token: Value | None) -> list[Attribute]:
    """The type of the token result that goes with a token operand."""
    return [] if token is None else [TOKEN]


@tileas_op
class LoadOp(AccessOp):
    """Load what pointers point to; where the mask is false, `other`, or undefined without it."""

    name = "nv_tileaa.load"

    base = operand_def()
    mask = opt_operand_def()
    other = opt_operand_def()
    token = opt_operand_def(AAMemTokenType)
    result = result_def()
    out_token = opt_result_def(AAMemTokenType)

    traits = traits_def(MemoryReadEffect(), LoadPatterns())
    assembly_format = (
        f"$base {_ORDER} (`mask` $mask^ `:` type($mask))? (`other` $other^ `:` type($other))?"
        f" {_AFTER} attr-dict `:` type($base) `->` type($result) (`,` type($out_token)^)?"
    )

    def __init__(
        self,
        base: Value,
        *,
        mask: Value | None = None,
        other: Value | None = None,
        token: Value | None = None,
        order: Order = WEAK,
    ) -> None:
        type_ = SSAValue.get(base).type
        super().__init__(
            operands=[base, mask, other, token],
            result_types=[tile_of(pointee_of(type_), shape_of(type_)), token_types(token)],
            properties=order_properties(order),
        )

    def verify_(self) -> None:
        self.check_pointers(self.base.type, self.result.type, self.mask)
        self.check_token_pair(self.token, self.out_token)
        check_ordering(self, LOAD, self.mem_semantic, self.mem_scope)
        if self.other is not None and self.other.type != self.result.type:
            raise op_error(self, f"expects {self.result.type} besides, but got {self.other.type}")


@tileas_op
class StoreOp(AccessOp):
    """Writes a value behind each pointer for which the mask holds."""

    name = "nv_tileaa.store"

    base = operand_def()
    value = operand_def()
    mask = opt_operand_def()
    token = opt_operand_def(AAMemTokenType)
    out_token = opt_result_def(AAMemTokenType)

    traits = traits_def(MemoryWriteEffect(), StorePatterns())
    assembly_format = (
        f"$value `,` $base {_ORDER} {_MASK} attr-dict"
        " `:` type($value) `,` type($base) (`->` type($out_token)^)?"
    )

    def __init__(
        self,
        value: Value,
        base: Value,
        *,
        mask: Value | None = None,
        token: Value | None = None,
        order: Order = WEAK,
    ) -> None:
        super().__init__(
            operands=[base, value, mask, token],
            result_types=[token_types(token)],
            properties=order_properties(order),
        )

    def verify_(self) -> None:
        self.check_pointers(self.base.type, self.value.type, self.mask)
        self.check_token_pair(self.token, self.out_token)
        check_ordering(self, STORE, self.mem_semantic, self.mem_scope)


class UpdateOp(AccessOp):
    """An update behind each pointer that no other access can come between."""

    def check_update(self, base: Attribute, value: Attribute, result: Attribute) -> None:
        """The result is what was there before."""
        if value != result:
            raise op_error(self, f"gives what was there, {value}, not {result}")
        check_ordering(self, ATOMIC, self.mem_semantic, self.mem_scope)


@tileas_op
class AtomicRmwOp(UpdateOp):
    """Combines what is behind each pointer with a value; the result is what was there before."""

    name = "nv_tileaa.atomic_rmw"

    base = operand_def()
    value = operand_def()
    mask = opt_operand_def()
    token = opt_operand_def(AAMemTokenType)
    rmw_mode = prop_def(RmwModeAttr)
    result = result_def()
    out_token = opt_result_def(AAMemTokenType)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        f"$rmw_mode $value `,` $base {_ORDER} {_MASK} attr-dict"
        " `:` type($value) `,` type($base) `->` type($result) (`,` type($out_token)^)?"
    )

    def __init__(
        self,
        mode: RmwMode,
        value: Value,
        base: Value,
        *,
        mask: Value | None = None,
        token: Value | None = None,
        order: Order = WEAK,
    ) -> None:
        super().__init__(
            operands=[base, value, mask, token],
            result_types=[SSAValue.get(value).type, token_types(token)],
            properties={"rmw_mode": RmwModeAttr(mode), **order_properties(order)},
        )

    def verify_(self) -> None:
        self.check_pointers(self.base.type, self.value.type, self.mask)
        self.check_token_pair(self.token, self.out_token)
        self.check_update(self.base.type, self.value.type, self.result.type)


@tileas_op
class AtomicCasOp(UpdateOp):
    """Replaces what is behind each pointer if it is as expected; the result is what was there."""

    name = "nv_tileaa.atomic_cas"

    base = operand_def()
    compare = operand_def()
    value = operand_def()
    mask = opt_operand_def()
    token = opt_operand_def(AAMemTokenType)
    result = result_def()
    out_token = opt_result_def(AAMemTokenType)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        f"$compare `,` $value `,` $base {_ORDER} {_MASK} attr-dict `:` type($compare) `,`"
        " type($value) `,` type($base) `->` type($result) (`,` type($out_token)^)?"
    )

    def __init__(
        self,
        compare: Value,
        value: Value,
        base: Value,
        *,
        mask: Value | None = None,
        token: Value | None = None,
        order: Order = WEAK,
    ) -> None:
        super().__init__(
            operands=[base, compare, value, mask, token],
            result_types=[SSAValue.get(value).type, token_types(token)],
            properties=order_properties(order),
        )

    def verify_(self) -> None:
        self.check_pointers(self.base.type, self.value.type, self.mask)
        self.check_token_pair(self.token, self.out_token)
        self.check_update(self.base.type, self.value.type, self.result.type)
        if self.compare.type != self.value.type:
            raise op_error(self, f"compares with {self.value.type}, not {self.compare.type}")
