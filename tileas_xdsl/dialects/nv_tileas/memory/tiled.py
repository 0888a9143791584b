"""Tiled memory: tiles of a view are loaded, stored or updated, ordered by tokens.

Coordinates count tiles of the view along each dimension; offsets, if any, count elements on top of
that.  An operation that takes a token is ordered after it and gives a token for what comes later.
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
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr, LayoutAttr
from tileas_xdsl.dialects.nv_tileas.enums import (
    MemScope,
    MemSemantic,
    RmwMode,
    RmwModeAttr,
)
from tileas_xdsl.dialects.nv_tileas.interfaces import MemoryConsistency
from tileas_xdsl.dialects.nv_tileas.memory.arguments import (
    Padding,
    Value,
    atom_attribute,
    delivered,
    flag_attribute,
    flags_attribute,
    mode_attribute,
    ordering_properties,
    padding_attribute,
    tile_type,
    token_type,
)
from tileas_xdsl.dialects.nv_tileas.memory.atoms import (
    check_atomic_atom,
    check_load_atom,
    check_reduction,
    check_store_atom,
    check_tiled_atom,
    check_tma_padding,
)
from tileas_xdsl.dialects.nv_tileas.memory.checks import (
    check_coordinates,
    check_elements,
    check_mask,
    check_offsets,
    check_same_tile,
    check_tile,
    check_tile_dimensions,
    check_tile_size,
    check_tokens,
    check_view,
    coordinate_count,
    delivered_by,
)
from tileas_xdsl.dialects.nv_tileas.memory.layout_checks import check_layout
from tileas_xdsl.dialects.nv_tileas.memory.ordering_checks import (
    ATOMIC,
    TILED,
    check_atomic,
    check_in_bounds,
    check_load_padding,
    check_ordering,
    check_padding_type,
    check_store_padding,
)
from tileas_xdsl.dialects.nv_tileas.memory.structure import ViewAccessOp, memory_op
from tileas_xdsl.dialects.nv_tileas.memory.tile_size import tile_size
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, space_of

_COORDINATES = (
    "`` custom<Coordinates>($coords, type($coords))"
    " (`offset` `` custom<Coordinates>($offsets, type($offsets))^)?"
    " custom<Ordering>($mem_semantic, $mem_scope)"
)
_MASK = "(`mask` $mask^ `:` type($mask))?"
_AFTER = "(`after` $token^ `:` type($token))?"


class TiledLoadBase(ViewAccessOp):
    """Base of the synchronous and the asynchronous tiled load."""

    LAST_SEGMENT_MAY_LACK: ClassVar[bool] = True

    view = operand_def()
    coords = var_operand_def()
    offsets = var_operand_def()
    token = opt_operand_def()
    mask = opt_operand_def()
    result = result_def()
    out_token = opt_result_def()

    padding_value = opt_prop_def()

    assembly_format = (
        f"$view {_COORDINATES} {_MASK} {_AFTER} attr-dict"
        " `:` type($view) `->` type($result) (`,` type($out_token)^)?"
    )

    def __init__(
        self,
        view: Value,
        coords: Sequence[Value],
        *,
        atom: AtomAttr | str,
        result_type: Attribute | None = None,
        offsets: Sequence[Value] = (),
        token: Value | None = None,
        mask: Value | None = None,
        semantic: MemSemantic | str | None = None,
        scope: MemScope | str | None = None,
        in_bounds: Sequence[bool] | None = None,
        padding: Padding | None = None,
        allow_tma: bool | None = None,
        layout: LayoutAttr | None = None,
    ) -> None:
        super().__init__(
            operands=[view, coords, offsets, token, mask],
            result_types=[
                self.result_type_of(result_type or tile_type(view, atom)),
                token_type(token),
            ],
            properties={
                "atom": atom_attribute(atom),
                **ordering_properties(semantic, scope),
                "in_bounds": flags_attribute(in_bounds),
                "padding_value": padding_attribute(padding, element_of(SSAValue.get(view).type)),
                "allow_tma": flag_attribute(allow_tma),
            },
            attributes={"nv_tileas.layout": layout},
        )

    @staticmethod
    def result_type_of(tile: Attribute) -> Attribute:
        """The type of the result that stands for `tile`."""
        return tile

    def loaded_type(self) -> Attribute:
        """The type of the tile that is read."""
        return self.result.type

    def verify_(self) -> None:
        tile, view = self.loaded_type(), self.view.type
        check_tokens(self, self.token, self.out_token)
        check_view(self, view)
        check_tile(self, tile)
        check_load_atom(self, self.atom, space_of(view), space_of(tile))
        check_tiled_atom(self, self.atom, view)
        check_tile_size(self, view, self.atom, tile)
        check_coordinates(self, self.coords, coordinate_count(view, self.atom))
        check_offsets(self, self.offsets, len(self.coords))
        check_elements(self, view, tile)
        check_tile_dimensions(self, tile_size(view, self.atom))
        check_ordering(self, TILED, self.mem_semantic, self.mem_scope)
        check_in_bounds(self, self.in_bounds, tile)
        check_load_padding(self, self.padding_value, self.in_bounds)
        check_padding_type(self, self.padding_value, element_of(view))
        check_layout(self, self.layout, tile, self.atom)
        check_tma_padding(self, self.atom, self.padding_value)
        check_mask(self, self.mask, tile)


@memory_op
class TiledLoadOp(TiledLoadBase):
    """Reads a tile of a view; what is masked or out of bounds reads as the padding value."""

    name = "nv_tileas.tiled_load"

    traits = traits_def(MemoryConsistency(), MemoryReadEffect())


@memory_op
class AsyncTiledLoadOp(TiledLoadBase):
    """Starts to read a tile of a view; `async.wait` on the result delivers it."""

    name = "nv_tileas.async.tiled_load"

    traits = traits_def(MemoryConsistency())

    @staticmethod
    def result_type_of(tile: Attribute) -> Attribute:
        return delivered(tile)

    def loaded_type(self) -> Attribute:
        return delivered_by(self, self.result.type)


@memory_op
class TiledStoreOp(ViewAccessOp):
    """Writes a tile of a view; nothing is written out of bounds.

    `operandSegmentSizes` is `{view, value, coords, offsets, token}`; without a token, four of them
    will do.
    """

    name = "nv_tileas.tiled_store"

    LAST_SEGMENT_MAY_LACK: ClassVar[bool] = True

    view = operand_def()
    value = operand_def()
    coords = var_operand_def()
    offsets = var_operand_def()
    token = opt_operand_def()
    out_token = opt_result_def()

    padding_value = opt_prop_def()

    traits = traits_def(MemoryConsistency(), MemoryWriteEffect())

    assembly_format = (
        f"$value `,` $view {_COORDINATES} {_AFTER} attr-dict"
        " `:` type($value) `,` type($view) (`->` type($out_token)^)?"
    )

    def __init__(
        self,
        value: Value,
        view: Value,
        coords: Sequence[Value],
        *,
        atom: AtomAttr | str,
        offsets: Sequence[Value] = (),
        token: Value | None = None,
        semantic: MemSemantic | str | None = None,
        scope: MemScope | str | None = None,
        in_bounds: Sequence[bool] | None = None,
        padding: Padding | None = None,
        allow_tma: bool | None = None,
        layout: LayoutAttr | None = None,
    ) -> None:
        super().__init__(
            operands=[view, value, coords, offsets, token],
            result_types=[token_type(token)],
            properties={
                "atom": atom_attribute(atom),
                **ordering_properties(semantic, scope),
                "in_bounds": flags_attribute(in_bounds),
                "padding_value": padding_attribute(padding, element_of(SSAValue.get(view).type)),
                "allow_tma": flag_attribute(allow_tma),
            },
            attributes={"nv_tileas.layout": layout},
        )

    def verify_(self) -> None:
        tile, view = self.value.type, self.view.type
        check_tokens(self, self.token, self.out_token)
        check_view(self, view)
        check_tile(self, tile)
        check_store_atom(self, self.atom, space_of(tile), space_of(view))
        check_tiled_atom(self, self.atom, view)
        check_tile_size(self, view, self.atom, tile)
        check_coordinates(self, self.coords, coordinate_count(view, self.atom))
        check_offsets(self, self.offsets, len(self.coords))
        check_elements(self, view, tile)
        check_tile_dimensions(self, tile_size(view, self.atom))
        check_ordering(self, TILED, self.mem_semantic, self.mem_scope)
        check_in_bounds(self, self.in_bounds, tile)
        check_store_padding(self, self.padding_value, self.in_bounds)
        check_padding_type(self, self.padding_value, element_of(view))
        check_layout(self, self.layout, tile, self.atom)


@memory_op
class TiledAtomicRmwOp(ViewAccessOp):
    """Updates a tile of a view atomically, element by element; the result is the tile before.

    `operandSegmentSizes` is `{view, value, coords, token, offsets}`; without offsets, four of them
    will do.
    """

    name = "nv_tileas.tiled_atomic_rmw"

    LAST_SEGMENT_MAY_LACK: ClassVar[bool] = True

    view = operand_def()
    value = operand_def()
    coords = var_operand_def()
    token = opt_operand_def()
    offsets = var_operand_def()
    result = result_def()
    out_token = opt_result_def()

    rmw_mode = prop_def(RmwModeAttr)

    traits = traits_def(MemoryConsistency(), MemoryReadEffect(), MemoryWriteEffect())

    assembly_format = (
        f"$rmw_mode $value `,` $view {_COORDINATES} {_AFTER} attr-dict"
        " `:` type($value) `,` type($view) `->` type($result) (`,` type($out_token)^)?"
    )

    def __init__(
        self,
        mode: RmwMode | str,
        value: Value,
        view: Value,
        coords: Sequence[Value],
        *,
        atom: AtomAttr | str,
        offsets: Sequence[Value] = (),
        token: Value | None = None,
        semantic: MemSemantic | str | None = None,
        scope: MemScope | str | None = None,
        in_bounds: Sequence[bool] | None = None,
        allow_tma: bool | None = None,
    ) -> None:
        super().__init__(
            operands=[view, value, coords, token, offsets],
            result_types=[SSAValue.get(value).type, token_type(token)],
            properties={
                "rmw_mode": mode_attribute(mode),
                "atom": atom_attribute(atom),
                **ordering_properties(semantic, scope),
                "in_bounds": flags_attribute(in_bounds),
                "allow_tma": flag_attribute(allow_tma),
            },
        )

    def verify_(self) -> None:
        tile, view = self.value.type, self.view.type
        check_tokens(self, self.token, self.out_token)
        check_view(self, view)
        check_tile(self, tile)
        check_same_tile(self, tile, self.result.type)
        check_atomic_atom(self, self.atom, space_of(view))
        check_tiled_atom(self, self.atom, view)
        check_tile_size(self, view, self.atom, tile)
        check_coordinates(self, self.coords, coordinate_count(view, self.atom))
        check_offsets(self, self.offsets, len(self.coords))
        check_elements(self, view, tile)
        check_tile_dimensions(self, tile_size(view, self.atom))
        check_ordering(self, ATOMIC, self.mem_semantic, self.mem_scope)
        check_in_bounds(self, self.in_bounds, tile)
        check_atomic(self, self.rmw_mode.data, element_of(view))
        check_reduction(self, self.atom, self.rmw_mode.data)
        check_layout(self, self.layout, tile, self.atom)
