"""Tiled memory: tiles of a view are loaded, stored or updated, ordered by tokens.

Coordinates count tiles of the view along each dimension; offsets, if any, count elements on top of
that.  An operation that takes a token is ordered after it and gives a token for what comes later.

A `rotated` access is of the tile at the coordinates, in another order along the last dimension:
element `p` of a row is column `(p + offset) mod width` of the tile, and `rotated = 16` promises
that column `offset` of each row, in or out of bounds, has an address that is a multiple of 16:

    columns of the tile      0 1 2 3 4 5 6 7
    offset -3                5 6 7 0 1 2 3 4

Tiles that are parts of a row may be rotated together: with `row_width = 16` that tile ends with the
last three columns of 16, and the next one begins with column 5.

Each of several rows may be rotated by an offset of its own, 0 or fewer columns less than `modulus`:
it differs from that of the row before by the offset of the dimension of rows, modulo `modulus`.

    offset[-3, -2] {modulus = 8}      row 0: -2      row 1: -5      row 2: 0      row 3: -3
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Attribute
from xdsl.irdl import traits_def
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.nv_tileas.enums import RmwModeAttr
from tileas_xdsl.dialects.nv_tileas.interfaces import MemoryConsistency
from tileas_xdsl.dialects.nv_tileas.memory.arguments import (
    Mode,
    OptPadding,
    delivered,
    mode_attribute,
    padding_attribute,
    tile_type,
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
    check_modulus,
    check_offsets,
    check_rotation,
    check_row_width,
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


class RotatedOp(ViewAccessOp):
    """Base of accesses that may rotate the rows of a tile."""

    rotated: fields.OptInt = fields.opt_prop(IntegerAttr.constr(i32), default=None, kw_only=True)
    """Bytes that divide the address of the first element of a rotated row; 1 where unknown."""
    row_width: fields.OptInt = fields.opt_prop(IntegerAttr.constr(i32), default=None, kw_only=True)
    """Columns that are rotated together, where tiles are parts of a row; None for those of one."""
    modulus: fields.OptInt = fields.opt_prop(IntegerAttr.constr(i32), default=None, kw_only=True)
    """More columns than any row is rotated by, where each has its own offset; else None."""


class TiledLoadBase(RotatedOp):
    """Base of the synchronous and the asynchronous tiled load."""

    LAST_SEGMENT_MAY_LACK: ClassVar[bool] = True

    view: fields.Operand = fields.operand()
    coords: fields.Operands = fields.operands()
    offsets: fields.Operands = fields.operands(default=(), kw_only=True)
    token: fields.OptOperand = fields.opt_operand(default=None, kw_only=True)
    mask: fields.OptOperand = fields.opt_operand(default=None, kw_only=True)
    result: fields.ComputedResult[Attribute] = fields.typed_result(
        type=tile_type, default=None, kw_only=True, alias="result_type"
    )
    out_token: fields.OptResult = fields.opt_typed_result(type=fields.type_of("token"))

    padding_value: OptPadding = fields.opt_prop(
        default=None, kw_only=True, convert=padding_attribute, alias="padding", of="view"
    )

    assembly_format = (
        f"$view {_COORDINATES} {_MASK} {_AFTER} attr-dict"
        " `:` type($view) `->` type($result) (`,` type($out_token)^)?"
    )

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
        check_rotation(self, self.rotated, self.offsets, tile, self.mask)
        check_row_width(self, self.row_width, self.rotated, tile)
        check_modulus(self, self.modulus, self.rotated, tile)
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


KEPT = "nv_tileas.kept_in_shared_memory"
"""On an asynchronous load whose tile stays in shared memory until it is waited for, or is read in
parts: loads of the same number have the same memory."""

KEPT_EXTENDED = "nv_tileas.kept_extended"
"""On a load of a line that is kept: the type that all its readers extend its elements to, in which
they are kept."""

KEPT_AS_READ = "nv_tileas.kept_as_read"
"""On a load of a line that is kept, rotated as the rows are that are combined with it: each thread
keeps the elements that it reads."""


@memory_op
class AsyncTiledLoadOp(TiledLoadBase):
    """Starts to read a tile of a view; `async.wait` on the result delivers it."""

    name = "nv_tileas.async.tiled_load"

    result: fields.ComputedResult[Attribute] = fields.typed_result(
        type=tile_type, default=None, kw_only=True, convert=delivered, alias="result_type"
    )

    traits = traits_def(MemoryConsistency())

    def loaded_type(self) -> Attribute:
        return delivered_by(self, self.result.type)


@memory_op
class TiledStoreOp(RotatedOp):
    """Writes a tile of a view; nothing is written out of bounds.

    `operandSegmentSizes` is `{view, value, coords, offsets, token}`; without a token, four of them
    will do.
    """

    name = "nv_tileas.tiled_store"

    LAST_SEGMENT_MAY_LACK: ClassVar[bool] = True

    value: fields.Operand = fields.operand(position=1)
    view: fields.Operand = fields.operand()
    coords: fields.Operands = fields.operands()
    offsets: fields.Operands = fields.operands(default=(), kw_only=True)
    token: fields.OptOperand = fields.opt_operand(default=None, kw_only=True)
    out_token: fields.OptResult = fields.opt_typed_result(type=fields.type_of("token"))

    padding_value: OptPadding = fields.opt_prop(
        default=None, kw_only=True, convert=padding_attribute, alias="padding", of="view"
    )

    traits = traits_def(MemoryConsistency(), MemoryWriteEffect())

    assembly_format = (
        f"$value `,` $view {_COORDINATES} {_AFTER} attr-dict"
        " `:` type($value) `,` type($view) (`->` type($out_token)^)?"
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
        check_rotation(self, self.rotated, self.offsets, tile)
        check_row_width(self, self.row_width, self.rotated, tile)
        check_modulus(self, self.modulus, self.rotated, tile)
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

    rmw_mode: Mode = fields.prop(RmwModeAttr, convert=mode_attribute, alias="mode")
    value: fields.Operand = fields.operand(position=1)
    view: fields.Operand = fields.operand()
    coords: fields.Operands = fields.operands()
    token: fields.OptOperand = fields.opt_operand(default=None, kw_only=True)
    offsets: fields.Operands = fields.operands(default=(), kw_only=True)
    result: fields.Result[Attribute] = fields.typed_result(type=fields.type_of("value"))
    out_token: fields.OptResult = fields.opt_typed_result(type=fields.type_of("token"))

    traits = traits_def(MemoryConsistency(), MemoryReadEffect(), MemoryWriteEffect())

    assembly_format = (
        f"$rmw_mode $value `,` $view {_COORDINATES} {_AFTER} attr-dict"
        " `:` type($value) `,` type($view) `->` type($result) (`,` type($out_token)^)?"
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
