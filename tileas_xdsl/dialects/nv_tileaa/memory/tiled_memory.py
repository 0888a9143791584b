"""Tiles of arrays: loaded, stored and updated as a whole, or element by element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeAlias, cast

from xdsl.dialects.builtin import DenseArrayBase, IndexType, TensorType, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError, op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.nv_tileaa.base import (
    ARRAY,
    Array,
    ArrayOperand,
    Shape,
    element_of,
    shape_of,
    type_at,
)
from tileas_xdsl.dialects.nv_tileaa.memory.pointer_access import AccessOp
from tileas_xdsl.dialects.nv_tileaa.types import AATiledViewType
from tileas_xdsl.dialects.nv_tileas.enums import RmwModeAttr
from tileas_xdsl.dialects.nv_tileas.memory import ordering_checks
from tileas_xdsl.dialects.nv_tileas.memory.arguments import (
    Mode,
    OptFlags,
    OptType,
    flags_attribute,
    mode_attribute,
)
from tileas_xdsl.dialects.nv_tileas.memory.ordering_checks import (
    ATOMIC,
    TILED,
    check_in_bounds,
    check_padding_type,
)
from tileas_xdsl.dialects.nv_tileas.syntax.ops import tileas_op

_COORDINATES = (
    "`` custom<Coordinates>($coords, type($coords))"
    " (`offset` `` custom<Coordinates>($offsets, type($offsets))^)?"
    " custom<Ordering>($mem_semantic, $mem_scope)"
)
_AFTER = "(`after` $token^ `:` type($token))?"

_View: TypeAlias = fields.Field[SSAValue[AATiledViewType], fields.Value]


def _miscounted(op: AccessOp, wanted: int, given: int) -> OpError:
    return op_error(op, message("nv_tileas.coords.count", expected=wanted, given=given))


def _tile_of_view(given: Mapping[str, Any]) -> Attribute:
    view = cast(AATiledViewType, type_at(given, "view"))
    return TensorType(view.element_type, view.get_shape())


class TiledOp(AccessOp):
    """An access to a tile: coordinates count tiles, offsets elements on top of that."""

    ORDERING: ClassVar[ordering_checks.Ordering] = TILED

    def check_tile(
        self,
        view: AATiledViewType,
        tile: Attribute,
        coords: Sequence[SSAValue],
        offsets: Sequence[SSAValue],
    ) -> None:
        """The tile is one of the view, and a coordinate is there for each dimension."""
        shape = view.get_shape()
        if (element_of(tile), shape_of(tile)) != (view.element_type, shape):
            raise op_error(self, f"accesses a tile of {view}, but got {tile}")
        if len(coords) != len(shape):
            raise _miscounted(self, len(shape), len(coords))
        if len(offsets) not in (0, len(shape)):
            raise op_error(self, f"expects no offsets or {len(shape)}, but got {len(offsets)}")


@tileas_op
class TiledLoadOp(TiledOp):
    """Load a tile; elements out of bounds are the padding value, or undefined without one."""

    name = "nv_tileaa.tiled_load"

    view: _View = fields.operand(AATiledViewType)
    coords: fields.Operands = fields.operands(IndexType)
    offsets: fields.Operands = fields.operands(IndexType, default=(), kw_only=True)
    in_bounds: OptFlags = fields.opt_prop(
        DenseArrayBase.constr(i1), default=None, kw_only=True, convert=flags_attribute
    )
    padding_value: OptType = fields.opt_prop(default=None, kw_only=True, alias="padding")
    result: fields.Result[Attribute] = fields.typed_result(
        TensorType, type=_tile_of_view, init=False
    )

    traits = traits_def(MemoryReadEffect())
    assembly_format = (
        f"$view {_COORDINATES} {_AFTER} attr-dict"
        " `:` type($view) `->` type($result) (`,` type($out_token)^)?"
    )

    def check_types(self) -> None:
        self.check_tile(self.view.type, self.result.type, self.coords, self.offsets)
        check_in_bounds(self, self.in_bounds, self.result.type)

    def check_values(self) -> None:
        check_padding_type(self, self.padding_value, self.view.type.element_type)


class TileToViewOp(TiledOp):
    """A tile that goes to a view."""

    value: fields.Operand = fields.operand(TensorType, position=1)
    view: _View = fields.operand(AATiledViewType)
    coords: fields.Operands = fields.operands(IndexType)
    offsets: fields.Operands = fields.operands(IndexType, default=(), kw_only=True)

    def check_types(self) -> None:
        self.check_tile(self.view.type, self.value.type, self.coords, self.offsets)


@tileas_op
class TiledStoreOp(TileToViewOp):
    """Writes a tile; nothing is written out of bounds."""

    name = "nv_tileaa.tiled_store"

    in_bounds: OptFlags = fields.opt_prop(
        DenseArrayBase.constr(i1), default=None, kw_only=True, convert=flags_attribute
    )

    traits = traits_def(MemoryWriteEffect())
    assembly_format = (
        f"$value `,` $view {_COORDINATES} {_AFTER} attr-dict"
        " `:` type($value) `,` type($view) (`->` type($out_token)^)?"
    )

    def check_types(self) -> None:
        super().check_types()
        check_in_bounds(self, self.in_bounds, self.value.type)


@tileas_op
class TiledAtomicRmwOp(TileToViewOp):
    """Combines each element of a tile with a value; the result is the tile before."""

    name = "nv_tileaa.tiled_atomic_rmw"

    ORDERING: ClassVar[ordering_checks.Ordering] = ATOMIC

    rmw_mode: Mode = fields.prop(RmwModeAttr, convert=mode_attribute, kw_only=True)
    result: fields.Result[Attribute] = fields.typed_result(
        TensorType, type=fields.type_of("value"), init=False
    )

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        f"$rmw_mode $value `,` $view {_COORDINATES} {_AFTER} attr-dict"
        " `:` type($value) `,` type($view) `->` type($result) (`,` type($out_token)^)?"
    )


def _gathered(shape: Sequence[int], array: Array) -> Attribute:
    return TensorType(array.element_type, shape)


class ScatteredOp(AccessOp):
    """An access to the element of an array that coordinates name, one for each dimension."""

    ORDERING: ClassVar[ordering_checks.Ordering] = TILED

    def check_coordinates(self, array: Array, tile: Attribute, coords: Sequence[SSAValue]) -> None:
        """An index for all elements, or integers in the shape of the tile."""
        rank = len(array.get_shape())
        if array.element_type != element_of(tile):
            raise op_error(self, f"accesses elements of {array}, but got {tile}")
        if len(coords) != rank:
            raise _miscounted(self, rank, len(coords))
        for coordinate in coords:
            if isinstance(coordinate.type, IndexType):
                continue
            if shape_of(coordinate.type) != shape_of(tile):
                raise op_error(self, f"has a coordinate {coordinate.type} for a tile {tile}")


@tileas_op
class GatherLoadOp(ScatteredOp):
    """Scattered elements of an array; what is out of bounds is the padding value."""

    name = "nv_tileaa.gather_load"

    source: ArrayOperand = fields.operand(ARRAY)
    coords: fields.Operands = fields.operands()
    padding_value: OptType = fields.opt_prop(default=None, kw_only=True, alias="padding")
    result: Shape = fields.typed_result(TensorType, convert=_gathered, alias="shape", of="source")

    traits = traits_def(MemoryReadEffect())
    assembly_format = (
        "$source `` custom<Coordinates>($coords, type($coords))"
        f" custom<Ordering>($mem_semantic, $mem_scope) {_AFTER} attr-dict"
        " `:` type($source) `->` type($result) (`,` type($out_token)^)?"
    )

    def check_types(self) -> None:
        self.check_coordinates(self.source.type, self.result.type, self.coords)

    def check_values(self) -> None:
        check_padding_type(self, self.padding_value, self.source.type.element_type)


@tileas_op
class ScatterStoreOp(ScatteredOp):
    """Writes scattered elements of an array; nothing is written out of bounds."""

    name = "nv_tileaa.scatter_store"

    value: fields.Operand = fields.operand(TensorType, position=1)
    source: ArrayOperand = fields.operand(ARRAY)
    coords: fields.Operands = fields.operands()

    traits = traits_def(MemoryWriteEffect())
    assembly_format = (
        "$value `,` $source `` custom<Coordinates>($coords, type($coords))"
        f" custom<Ordering>($mem_semantic, $mem_scope) {_AFTER} attr-dict"
        " `:` type($value) `,` type($source) (`->` type($out_token)^)?"
    )

    def check_types(self) -> None:
        self.check_coordinates(self.source.type, self.value.type, self.coords)
