"""Loads and stores of single elements, through pointers or at coordinates.

`load` and `store` access the targets of a tile of pointers, or the elements of a view at given
coordinates; acquire and release are allowed only here.  `gather_load` and `scatter_store` take a
tile of coordinates for dimensions that are not contiguous.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    opt_result_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.enums import (
    MemScope,
    MemSemantic,
)
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
    Padding,
    Value,
    atom_attribute,
    delivered,
    flags_attribute,
    ordering_properties,
    padding_attribute,
    token_type,
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


class LoadBase(AccessOp):
    """Base of the synchronous and the asynchronous load."""

    base = operand_def()
    coords = var_operand_def()
    mask = opt_operand_def()
    token = opt_operand_def()
    result = result_def()
    out_token = opt_result_def()

    padding_value = opt_prop_def()

    assembly_format = (
        f"$base {_COORDINATES} {_MASK} attr-dict"
        " `:` type($base) `->` type($result) (`,` type($out_token)^)?"
    )

    def __init__(
        self,
        base: Value,
        coords: Sequence[Value] = (),
        *,
        atom: AtomAttr | str,
        result_type: Attribute | None = None,
        mask: Value | None = None,
        token: Value | None = None,
        semantic: MemSemantic | str | None = None,
        scope: MemScope | str | None = None,
        padding: Padding | None = None,
    ) -> None:
        type_ = SSAValue.get(base).type
        super().__init__(
            operands=[base, coords, mask, token],
            result_types=[
                self.result_type_of(result_type or accessed_type(type_)),
                token_type(token),
            ],
            properties={
                "atom": atom_attribute(atom),
                **ordering_properties(semantic, scope),
                "padding_value": padding_attribute(padding, accessed_element(type_)),
            },
        )

    @staticmethod
    def result_type_of(value: Attribute) -> Attribute:
        """The type of the result that stands for `value`."""
        return value

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

    traits = traits_def(MemoryConsistency())

    @staticmethod
    def result_type_of(value: Attribute) -> Attribute:
        return delivered(value)

    def loaded_type(self) -> Attribute:
        return delivered_by(self, self.result.type)


class StoreBase(AccessOp):
    """Base of the synchronous and the asynchronous store."""

    ASYNCHRONOUS: ClassVar[bool] = False

    base = operand_def()
    value = operand_def()
    coords = var_operand_def()
    mask = opt_operand_def()
    token = opt_operand_def()

    def __init__(
        self,
        value: Value,
        base: Value,
        coords: Sequence[Value] = (),
        *,
        atom: AtomAttr | str,
        mask: Value | None = None,
        token: Value | None = None,
        semantic: MemSemantic | str | None = None,
        scope: MemScope | str | None = None,
    ) -> None:
        completion = [AsyncTokenType()] if self.ASYNCHRONOUS else []
        super().__init__(
            operands=[base, value, coords, mask, token],
            result_types=[*completion, token_type(token)],
            properties={
                "atom": atom_attribute(atom),
                **ordering_properties(semantic, scope),
            },
        )

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

    out_token = opt_result_def()

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

    ASYNCHRONOUS: ClassVar[bool] = True

    result = result_def(AsyncTokenType)
    out_token = opt_result_def()

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

    view = operand_def()
    coords = var_operand_def()
    mask = opt_operand_def()
    token = opt_operand_def()
    result = result_def()
    out_token = opt_result_def()

    padding_value = opt_prop_def()

    traits = traits_def(MemoryConsistency(), MemoryReadEffect())
    assembly_format = (
        f"$view {_COORDINATES} {_MASK} attr-dict"
        " `:` type($view) `->` type($result) (`,` type($out_token)^)?"
    )

    def __init__(
        self,
        view: Value,
        coords: Sequence[Value],
        result_type: Attribute,
        *,
        atom: AtomAttr | str,
        mask: Value | None = None,
        token: Value | None = None,
        semantic: MemSemantic | str | None = None,
        scope: MemScope | str | None = None,
        in_bounds: Sequence[bool] | None = None,
        padding: Padding | None = None,
    ) -> None:
        element = accessed_element(SSAValue.get(view).type)
        super().__init__(
            operands=[view, coords, mask, token],
            result_types=[result_type, token_type(token)],
            properties={
                "atom": atom_attribute(atom),
                **ordering_properties(semantic, scope),
                "in_bounds": flags_attribute(in_bounds),
                "padding_value": padding_attribute(padding, element),
            },
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

    view = operand_def()
    value = operand_def()
    coords = var_operand_def()
    mask = opt_operand_def()
    token = opt_operand_def()
    out_token = opt_result_def()

    traits = traits_def(MemoryConsistency(), MemoryWriteEffect())
    assembly_format = (
        f"$value `,` $view {_COORDINATES} {_MASK} attr-dict"
        " `:` type($value) `,` type($view) (`->` type($out_token)^)?"
    )

    def __init__(
        self,
        value: Value,
        view: Value,
        coords: Sequence[Value],
        *,
        atom: AtomAttr | str,
        mask: Value | None = None,
        token: Value | None = None,
        semantic: MemSemantic | str | None = None,
        scope: MemScope | str | None = None,
        in_bounds: Sequence[bool] | None = None,
    ) -> None:
        super().__init__(
            operands=[view, value, coords, mask, token],
            result_types=[token_type(token)],
            properties={
                "atom": atom_attribute(atom),
                **ordering_properties(semantic, scope),
                "in_bounds": flags_attribute(in_bounds),
            },
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
