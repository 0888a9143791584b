"""Tiles of arrays: loaded, stored and updated as a whole, or element by element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IndexType, TensorType, i1
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

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError, op_error
from tileas_xdsl.dialects.nv_tileaa.base import (
    Array,
    Value,
    array_operand,
    as_array,
    element_of,
    shape_of,
)
from tileas_xdsl.dialects.nv_tileaa.memory.pointer_access import (
    WEAK,
    AccessOp,
    Order,
    order_properties,
    token_types,
)
from tileas_xdsl.dialects.nv_tileaa.types import AAMemTokenType, AATiledViewType
from tileas_xdsl.dialects.nv_tileas.enums import RmwMode, RmwModeAttr
from tileas_xdsl.dialects.nv_tileas.memory.arguments import flags_attribute
from tileas_xdsl.dialects.nv_tileas.memory.ordering_checks import (
    ATOMIC,
    TILED,
    check_in_bounds,
    check_ordering,
    check_padding_type,
)
from tileas_xdsl.dialects.nv_tileas.syntax.ops import tileas_op

_COORDINATES = (
    "`` custom<Coordinates>($coords, type($coords))"
    " (`offset` `` custom<Coordinates>($offsets, type($offsets))^)?"
    " custom<Ordering>($mem_semantic, $mem_scope)"
)
_AFTER = "(`after` $token^ `:` type($token))?"


def view_operand() -> SSAValue[AATiledViewType]:
    """An operand that is a tiled view of an array."""
    return cast(SSAValue[AATiledViewType], operand_def(AATiledViewType))


def _miscounted(op: AccessOp, wanted: int, given: int) -> OpError:
    return op_error(op, message("nv_tileas.coords.count", expected=wanted, given=given))


class TiledOp(AccessOp):
    """An access to a tile: coordinates count tiles, offsets elements on top of that."""

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

    view = view_operand()
    coords = var_operand_def(IndexType)
    offsets = var_operand_def(IndexType)
    token = opt_operand_def(AAMemTokenType)
    in_bounds = opt_prop_def(DenseArrayBase.constr(i1))
    padding_value = opt_prop_def()
    result = result_def(TensorType)
    out_token = opt_result_def(AAMemTokenType)

    traits = traits_def(MemoryReadEffect())
    assembly_format = (
        f"$view {_COORDINATES} {_AFTER} attr-dict"
        " `:` type($view) `->` type($result) (`,` type($out_token)^)?"
    )

    def __init__(
        self,
        view: Value,
        coords: Sequence[Value],
        *,
        offsets: Sequence[Value] = (),
        token: Value | None = None,
        order: Order = WEAK,
        in_bounds: Sequence[bool] | None = None,
        padding: Attribute | None = None,
    ) -> None:
        type_ = SSAValue.get(view).type
        assert isinstance(type_, AATiledViewType)
        super().__init__(
            operands=[view, coords, offsets, token],
            result_types=[TensorType(type_.element_type, type_.get_shape()), token_types(token)],
            properties={
                "in_bounds": flags_attribute(in_bounds),
                "padding_value": padding,
                **order_properties(order),
            },
        )

    def verify_(self) -> None:
        self.check_tile(self.view.type, self.result.type, self.coords, self.offsets)
        check_in_bounds(self, self.in_bounds, self.result.type)
        self.check_token_pair(self.token, self.out_token)
        check_ordering(self, TILED, self.mem_semantic, self.mem_scope)
        check_padding_type(self, self.padding_value, self.view.type.element_type)


@tileas_op
class TiledStoreOp(TiledOp):
    """Writes a tile; nothing is written out of bounds."""

    name = "nv_tileaa.tiled_store"

    view = view_operand()
    value = operand_def(TensorType)
    coords = var_operand_def(IndexType)
    offsets = var_operand_def(IndexType)
    token = opt_operand_def(AAMemTokenType)
    in_bounds = opt_prop_def(DenseArrayBase.constr(i1))
    out_token = opt_result_def(AAMemTokenType)

    traits = traits_def(MemoryWriteEffect())
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
        offsets: Sequence[Value] = (),
        token: Value | None = None,
        order: Order = WEAK,
        in_bounds: Sequence[bool] | None = None,
    ) -> None:
        super().__init__(
            operands=[view, value, coords, offsets, token],
            result_types=[token_types(token)],
            properties={"in_bounds": flags_attribute(in_bounds), **order_properties(order)},
        )

    def verify_(self) -> None:
        self.check_tile(self.view.type, self.value.type, self.coords, self.offsets)
        check_in_bounds(self, self.in_bounds, self.value.type)
        self.check_token_pair(self.token, self.out_token)
        check_ordering(self, TILED, self.mem_semantic, self.mem_scope)


@tileas_op
class TiledAtomicRmwOp(TiledOp):
    """Combines each element of a tile with a value; the result is the tile before."""

    name = "nv_tileaa.tiled_atomic_rmw"

    view = view_operand()
    value = operand_def(TensorType)
    coords = var_operand_def(IndexType)
    offsets = var_operand_def(IndexType)
    token = opt_operand_def(AAMemTokenType)
    rmw_mode = prop_def(RmwModeAttr)
    result = result_def(TensorType)
    out_token = opt_result_def(AAMemTokenType)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        f"$rmw_mode $value `,` $view {_COORDINATES} {_AFTER} attr-dict"
        " `:` type($value) `,` type($view) `->` type($result) (`,` type($out_token)^)?"
    )

    def __init__(
        self,
        mode: RmwMode,
        value: Value,
        view: Value,
        coords: Sequence[Value],
        *,
        offsets: Sequence[Value] = (),
        token: Value | None = None,
        order: Order = WEAK,
    ) -> None:
        super().__init__(
            operands=[view, value, coords, offsets, token],
            result_types=[SSAValue.get(value).type, token_types(token)],
            properties={"rmw_mode": RmwModeAttr(mode), **order_properties(order)},
        )

    def verify_(self) -> None:
        self.check_tile(self.view.type, self.value.type, self.coords, self.offsets)
        self.check_token_pair(self.token, self.out_token)
        check_ordering(self, ATOMIC, self.mem_semantic, self.mem_scope)


class ScatteredOp(AccessOp):
    """An access to the element of an array that coordinates name, one for each dimension."""

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

    source = array_operand()
    coords = var_operand_def()
    token = opt_operand_def(AAMemTokenType)
    padding_value = opt_prop_def()
    result = result_def(TensorType)
    out_token = opt_result_def(AAMemTokenType)

    traits = traits_def(MemoryReadEffect())
    assembly_format = (
        "$source `` custom<Coordinates>($coords, type($coords))"
        f" custom<Ordering>($mem_semantic, $mem_scope) {_AFTER} attr-dict"
        " `:` type($source) `->` type($result) (`,` type($out_token)^)?"
    )

    def __init__(
        self,
        source: Value,
        coords: Sequence[Value],
        shape: Sequence[int],
        *,
        token: Value | None = None,
        order: Order = WEAK,
        padding: Attribute | None = None,
    ) -> None:
        element = as_array(source).element_type
        super().__init__(
            operands=[source, coords, token],
            result_types=[TensorType(element, shape), token_types(token)],
            properties={"padding_value": padding, **order_properties(order)},
        )

    def verify_(self) -> None:
        self.check_coordinates(self.source.type, self.result.type, self.coords)
        self.check_token_pair(self.token, self.out_token)
        check_ordering(self, TILED, self.mem_semantic, self.mem_scope)
        check_padding_type(self, self.padding_value, self.source.type.element_type)


@tileas_op
class ScatterStoreOp(ScatteredOp):
    """Writes scattered elements of an array; nothing is written out of bounds."""

    name = "nv_tileaa.scatter_store"

    source = array_operand()
    value = operand_def(TensorType)
    coords = var_operand_def()
    token = opt_operand_def(AAMemTokenType)
    out_token = opt_result_def(AAMemTokenType)

    traits = traits_def(MemoryWriteEffect())
    assembly_format = (
        "$value `,` $source `` custom<Coordinates>($coords, type($coords))"
        f" custom<Ordering>($mem_semantic, $mem_scope) {_AFTER} attr-dict"
        " `:` type($value) `,` type($source) (`->` type($out_token)^)?"
    )

    def __init__(
        self,
        value: Value,
        source: Value,
        coords: Sequence[Value],
        *,
        token: Value | None = None,
        order: Order = WEAK,
    ) -> None:
        super().__init__(
            operands=[source, value, coords, token],
            result_types=[token_types(token)],
            properties=order_properties(order),
        )

    def verify_(self) -> None:
        self.check_coordinates(self.source.type, self.value.type, self.coords)
        self.check_token_pair(self.token, self.out_token)
        check_ordering(self, TILED, self.mem_semantic, self.mem_scope)
