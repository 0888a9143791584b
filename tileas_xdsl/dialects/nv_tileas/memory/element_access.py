"""Loads and stores of single elements, through pointers or at coordinates.

`load` and `store` access the targets of a tile of pointers, or the elements of a view at given
coordinates; acquire and release are allowed only here.  `gather_load` and `scatter_store` take a
tile of coordinates for dimensions that are not contiguous.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.nv_tileas.interfaces import MemoryConsistency
from tileas_xdsl.dialects.nv_tileas.memory.access_checks import (
    accessed_element,
    accessed_type,
    check_access,
    check_gather,
    check_scattered_accesses,
    check_single_accesses,
    memory_space_of,
)
from tileas_xdsl.dialects.nv_tileas.memory.arguments import (
    OptPadding,
    delivered,
    padding_attribute,
)
from tileas_xdsl.dialects.nv_tileas.memory.atoms import check_load_atom, check_store_atom
from tileas_xdsl.dialects.nv_tileas.memory.checks import (
    check_mask,
    check_tokens,
    delivered_by,
)
from tileas_xdsl.dialects.nv_tileas.memory.effects import OrderedLoadEffect
from tileas_xdsl.dialects.nv_tileas.memory.layout_checks import check_layout
from tileas_xdsl.dialects.nv_tileas.memory.ordering_checks import (
    LOAD,
    STORE,
    TILED,
    check_in_bounds,
    check_load_padding,
    check_ordering,
    check_padding_type,
)
from tileas_xdsl.dialects.nv_tileas.memory.structure import AccessOp, ViewAccessOp, memory_op
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType

_ORDERING = "custom<Ordering>($mem_semantic, $mem_scope)"
_COORDINATES = f"`` custom<Coordinates>($coords, type($coords)) {_ORDERING}"
_MASK = "(`mask` $mask^ `:` type($mask))? (`after` $token^ `:` type($token))?"


def _accessed_type(given: Mapping[str, Any]) -> Attribute:
    return accessed_type(SSAValue.get(given["base"]).type)


class LoadBase(AccessOp):
    """Base of the synchronous and the asynchronous load."""

    base: fields.Operand = fields.operand()
    coords: fields.Operands = fields.operands(default=())
    mask: fields.OptOperand = fields.opt_operand(default=None, kw_only=True)
    token: fields.OptOperand = fields.opt_operand(default=None, kw_only=True)
    result: fields.ComputedResult[Attribute] = fields.typed_result(
        type=_accessed_type, default=None, kw_only=True, alias="result_type"
    )
    out_token: fields.OptResult = fields.opt_typed_result(type=fields.type_of("token"))

    padding_value: OptPadding = fields.opt_prop(
        default=None, kw_only=True, convert=padding_attribute, alias="padding", of="base"
    )

    assembly_format = (
        f"$base {_COORDINATES} {_MASK} attr-dict"
        " `:` type($base) `->` type($result) (`,` type($out_token)^)?"
    )

    def loaded_type(self) -> Attribute:
        """The type of what is read."""
        return self.result.type

    def verify_(self) -> None:
        value, base = self.loaded_type(), self.base.type
        check_tokens(self, self.token, self.out_token)
        check_load_atom(self, self.atom, memory_space_of(base), space_of(value))
        check_single_accesses(self, self.atom)
        check_access(self, base, self.coords, value)
        check_ordering(self, LOAD, self.mem_semantic, self.mem_scope)
        check_padding_type(self, self.padding_value, accessed_element(base))
        check_mask(self, self.mask, value)
        check_layout(self, self.layout, value, self.atom)


@memory_op
class LoadOp(LoadBase):
    """Reads through pointers or at coordinates of elements; may acquire."""

    name = "nv_tileas.load"

    traits = traits_def(MemoryConsistency(), OrderedLoadEffect())


@memory_op
class AsyncLoadOp(LoadBase):
    """Starts to read through pointers or at coordinates; `async.wait` delivers the value."""

    name = "nv_tileas.async.load"

    result: fields.ComputedResult[Attribute] = fields.typed_result(
        type=_accessed_type, default=None, kw_only=True, convert=delivered, alias="result_type"
    )

    traits = traits_def(MemoryConsistency())

    def loaded_type(self) -> Attribute:
        return delivered_by(self, self.result.type)


class StoreBase(AccessOp):
    """Base of the synchronous and the asynchronous store."""

    value: fields.Operand = fields.operand(position=1)
    base: fields.Operand = fields.operand()
    coords: fields.Operands = fields.operands(default=())
    mask: fields.OptOperand = fields.opt_operand(default=None, kw_only=True)
    token: fields.OptOperand = fields.opt_operand(default=None, kw_only=True)

    def check_store(self, out_token: SSAValue | None) -> None:
        """What both verifiers check."""
        value, base = self.value.type, self.base.type
        check_tokens(self, self.token, out_token)
        check_store_atom(self, self.atom, space_of(value), memory_space_of(base))
        check_single_accesses(self, self.atom)
        check_access(self, base, self.coords, value)
        check_ordering(self, STORE, self.mem_semantic, self.mem_scope)
        check_mask(self, self.mask, value)
        check_layout(self, self.layout, value, self.atom)


@memory_op
class StoreOp(StoreBase):
    """Writes through pointers or at coordinates of elements; may release."""

    name = "nv_tileas.store"

    out_token: fields.OptResult = fields.opt_typed_result(type=fields.type_of("token"))

    traits = traits_def(MemoryConsistency(), MemoryWriteEffect())
    assembly_format = (
        f"$value `,` $base {_COORDINATES} {_MASK} attr-dict"
        " `:` type($value) `,` type($base) (`->` type($out_token)^)?"
    )

    def verify_(self) -> None:
        self.check_store(self.out_token)


@memory_op
class AsyncStoreOp(StoreBase):
    """Start a store through pointers or at coordinates; the token signals completion."""

    name = "nv_tileas.async.store"

    result: fields.Result[AsyncTokenType] = fields.typed_result(
        AsyncTokenType, type=AsyncTokenType()
    )
    out_token: fields.OptResult = fields.opt_typed_result(type=fields.type_of("token"))

    traits = traits_def(MemoryConsistency())
    assembly_format = (
        f"$value `,` $base {_COORDINATES} {_MASK} attr-dict"
        " `:` type($value) `,` type($base) `->` type($result) (`,` type($out_token)^)?"
    )

    def verify_(self) -> None:
        self.check_store(self.out_token)


@memory_op
class GatherLoadOp(ViewAccessOp):
    """Reads a tile whose elements are at scattered coordinates of a view.

    There is a coordinate for each dimension of the view, an `index` for all elements or a tile of
    coordinates with one for each.  What is masked or out of bounds reads as the padding value.
    """

    name = "nv_tileas.gather_load"

    view: fields.Operand = fields.operand()
    coords: fields.Operands = fields.operands()
    mask: fields.OptOperand = fields.opt_operand(default=None, kw_only=True)
    token: fields.OptOperand = fields.opt_operand(default=None, kw_only=True)
    result: fields.Result[Attribute] = fields.typed_result(alias="result_type")
    out_token: fields.OptResult = fields.opt_typed_result(type=fields.type_of("token"))

    padding_value: OptPadding = fields.opt_prop(
        default=None, kw_only=True, convert=padding_attribute, alias="padding", of="view"
    )

    traits = traits_def(MemoryConsistency(), MemoryReadEffect())
    assembly_format = (
        f"$view {_COORDINATES} {_MASK} attr-dict"
        " `:` type($view) `->` type($result) (`,` type($out_token)^)?"
    )

    def verify_(self) -> None:
        tile, view = self.result.type, self.view.type
        check_tokens(self, self.token, self.out_token)
        check_load_atom(self, self.atom, space_of(view), space_of(tile))
        check_scattered_accesses(self, self.atom)
        check_gather(self, view, self.coords, tile)
        check_ordering(self, TILED, self.mem_semantic, self.mem_scope)
        check_in_bounds(self, self.in_bounds, view)
        check_load_padding(self, self.padding_value, self.in_bounds)
        check_padding_type(self, self.padding_value, accessed_element(view))
        check_mask(self, self.mask, tile)
        check_layout(self, self.layout, tile, self.atom)


@memory_op
class ScatterStoreOp(ViewAccessOp):
    """Store the elements of a tile to scattered coordinates of a view; inverse of `gather_load`.

    Out-of-bounds elements are not stored; which of several elements with the same coordinates is
    kept is undefined.
    """

    name = "nv_tileas.scatter_store"

    value: fields.Operand = fields.operand(position=1)
    view: fields.Operand = fields.operand()
    coords: fields.Operands = fields.operands()
    mask: fields.OptOperand = fields.opt_operand(default=None, kw_only=True)
    token: fields.OptOperand = fields.opt_operand(default=None, kw_only=True)
    out_token: fields.OptResult = fields.opt_typed_result(type=fields.type_of("token"))

    traits = traits_def(MemoryConsistency(), MemoryWriteEffect())
    assembly_format = (
        f"$value `,` $view {_COORDINATES} {_MASK} attr-dict"
        " `:` type($value) `,` type($view) (`->` type($out_token)^)?"
    )

    def verify_(self) -> None:
        tile, view = self.value.type, self.view.type
        check_tokens(self, self.token, self.out_token)
        check_store_atom(self, self.atom, space_of(tile), space_of(view))
        check_scattered_accesses(self, self.atom)
        check_gather(self, view, self.coords, tile)
        check_ordering(self, TILED, self.mem_semantic, self.mem_scope)
        check_in_bounds(self, self.in_bounds, view)
        check_mask(self, self.mask, tile)
        check_layout(self, self.layout, tile, self.atom)
