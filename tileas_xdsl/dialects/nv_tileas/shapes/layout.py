"""Layout and shape operations: the same elements in another layout, shape or memory space."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from xdsl.dialects.builtin import (
    FixedBitwidthType,
    IndexType,
    IntegerAttr,
    MemRefType,
    TensorType,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import base, traits_def
from xdsl.traits import AlwaysSpeculatable, Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.nv_tileaa.types import AATiledViewType
from tileas_xdsl.dialects.nv_tileas.compute.region_checks import check_yield
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.interfaces import TileStructure
from tileas_xdsl.dialects.nv_tileas.memory.effects import TileReadEffect
from tileas_xdsl.dialects.nv_tileas.spaces import TILE, Tile, element_of, shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.syntax.directives import Coordinates
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op
from tileas_xdsl.dialects.nv_tileas.syntax.type_directives import SourceOrBoth, SourceToResult
from tileas_xdsl.dialects.nv_tileas.tile_operands import TileOperand
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType

_TILE_OR_VIEW = TILE | base(MemRefType[Attribute]) | base(TiledViewType) | base(AATiledViewType)


def _i64(value: int) -> IntegerAttr:
    return IntegerAttr(value, i64)


def _expanded(given: Mapping[str, Any]) -> Tile:
    """Return the type with the dimension, not laid out."""
    type_ = SSAValue.get(given["source"], type=TensorType[Attribute]).type
    shape, axis = type_.get_shape(), given["axis"]
    return TensorType(type_.element_type, (*shape[:axis], 1, *shape[axis:]))


@tileas_op
class ConvertLayoutOp(TileasOp):
    """The same tile in another layout, maybe in another memory: data may have to move."""

    name = "nv_tileas.convert_layout"

    source: TileOperand = fields.operand(TILE)
    result: fields.Result[Tile] = fields.typed_result(TILE, alias="result_type")

    traits = traits_def(AlwaysSpeculatable(), TileReadEffect())
    custom_directives = (SourceToResult,)

    assembly_format = "$source attr-dict `:` custom<SourceToResult>(type($source), type($result))"

    def verify_(self) -> None:
        _check_same_tile(self, self.source.type, self.result.type)


@tileas_op
class ViewOp(TileasOp):
    """View a buffer under another type; the memory is the same.

    The view begins at element `[%i, %j]` of the source, or `offset` elements (a single index means
    the same) after its first element.
    """

    name = "nv_tileas.view"

    source: fields.Operand = fields.operand(_TILE_OR_VIEW)
    result: fields.Result[Attribute] = fields.typed_result(_TILE_OR_VIEW, alias="result_type")
    indices: fields.Operands = fields.operands(default=())
    offset: fields.OptInt = fields.opt_prop(IntegerAttr, default=None, convert=_i64)

    traits = traits_def(Pure(), TileStructure())
    custom_directives = (Coordinates, SourceOrBoth)

    assembly_format = (
        "$source `` custom<Coordinates>($indices, type($indices)) attr-dict "
        "`:` custom<SourceOrBoth>(type($source), type($result))"
    )

    @property
    def is_whole(self) -> bool:
        """Whether the view begins where its source does."""
        return not self.indices and (self.offset is None or self.offset.value.data == 0)

    def verify_(self) -> None:
        _check_view_offset(self)
        source, result = self.source.type, self.result.type
        if element_of(source) != element_of(result):
            raise op_error(
                self, f"a view of {element_of(source)} elements shows no {element_of(result)}"
            )
        _check_same_space(self, "a view does not move data", source, result)
        if space_of(source) is Space.GMEM and isinstance(result, TensorType):
            raise op_error(self, "global memory is shown by a view, not by a tile: load it")
        _check_view_fits(self)


@tileas_op
class ExpandDimsOp(TileasOp):
    """A tile with a dimension of extent one more, before dimension `axis` of the source."""

    name = "nv_tileas.expand_dims"

    source: TileOperand = fields.operand(TILE)
    axis: fields.Int = fields.prop(IntegerAttr.constr(i32))
    result: fields.ComputedResult[Tile] = fields.typed_result(
        TILE, type=_expanded, default=None, alias="result_type"
    )

    traits = traits_def(AlwaysSpeculatable(), TileReadEffect(), TileStructure())
    custom_directives = (SourceToResult,)

    assembly_format = "$source attr-dict `:` custom<SourceToResult>(type($source), type($result))"

    def verify_(self) -> None:
        source, result, axis = self.source.type, self.result.type, self.axis.value.data
        shape = source.get_shape()
        if not 0 <= axis <= len(shape):
            raise op_error(self, f"the new axis of a rank {len(shape)} tile is not {axis}")
        wanted = TensorType(source.element_type, (*shape[:axis], 1, *shape[axis:]))
        if wanted != TensorType(result.element_type, result.get_shape()):
            raise op_error(self, f"gives {wanted}, not {result}")
        _check_same_space(self, "a new dimension does not move data", source, result)


@tileas_op
class ReinterpretOp(TileasOp):
    """The same bits read as other elements: another element type, another shape.

    `reinterpret_byte` marks a view as bytes that later rewrites must not undo.
    """

    name = "nv_tileas.reinterpret"

    source: fields.Operand = fields.operand(_TILE_OR_VIEW)
    result: fields.Result[Attribute] = fields.typed_result(_TILE_OR_VIEW, alias="result_type")
    reinterpret_byte: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)

    traits = traits_def(Pure(), TileStructure())
    custom_directives = (SourceToResult,)

    assembly_format = "$source attr-dict `:` custom<SourceToResult>(type($source), type($result))"

    def verify_(self) -> None:
        source, result = self.source.type, self.result.type
        there, here = _bits(source), _bits(result)
        if there is not None and here is not None and there != here:
            raise op_error(self, f"{source} has {there} bits, {result} has {here}")
        _check_same_space(self, "reading bits anew does not move them", source, result)


@tileas_op
class ShuffleOp(TileasOp):
    """The same tile in another register layout, through exchanges between threads."""

    name = "nv_tileas.shuffle"

    source: TileOperand = fields.operand(TILE)
    result: fields.Result[Tile] = fields.typed_result(TILE, alias="result_type")

    traits = traits_def(AlwaysSpeculatable(), TileReadEffect())
    custom_directives = (SourceToResult,)

    assembly_format = "$source attr-dict `:` custom<SourceToResult>(type($source), type($result))"

    def verify_(self) -> None:
        _check_same_tile(self, self.source.type, self.result.type)
        for type_ in (self.source.type, self.result.type):
            space = space_of(type_)
            if space not in (None, Space.RMEM):
                raise op_error(self, f"exchanges registers between threads, not tiles in {space}")


@tileas_op
class GenerateOp(TileasOp):
    """A tile whose elements the body computes from their coordinates, one `index` a dimension."""

    name = "nv_tileas.generate"

    result: fields.Result[Tile] = fields.typed_result(TILE, alias="result_type")
    body: fields.Body = fields.body(single_block=True)

    traits = traits_def(AlwaysSpeculatable(), TileReadEffect())

    assembly_format = "attr-dict `:` type($result) $body"

    def verify_(self) -> None:
        type_ = self.result.type
        wanted = (IndexType(),) * len(type_.get_shape())
        if (given := tuple(self.body.block.arg_types)) != wanted:
            listed = ", ".join(map(str, given))
            raise op_error(
                self,
                f"the body takes one index for each of {len(wanted)} dimensions, not ({listed})",
            )
        check_yield(self, self.body, (type_.element_type,))


def _check_same_tile(op: Operation, source: Tile, result: Tile) -> None:
    if source.element_type != result.element_type:
        raise op_error(
            op, f"keeps the element type, {source.element_type}, but gives {result.element_type}"
        )
    if source.get_shape() != result.get_shape():
        raise op_error(op, f"keeps the shape of {source}, but gives {result}")


def _check_same_space(op: Operation, why: str, source: Attribute, result: Attribute) -> None:
    there, here = space_of(source), space_of(result)
    if there is not None and here is not None and there is not here:
        raise op_error(op, f"{why}: the source is in {there.value}, the result in {here.value}")


def _check_view_offset(view: ViewOp) -> None:
    rank = len(shape_of(view.source.type) or ())
    if view.offset is not None and view.indices:
        raise op_error(view, "begins at an offset or at indices, not both")
    if view.offset is not None and view.offset.value.data < 0:
        raise op_error(view, f"the offset is at least 0, not {view.offset.value.data}")
    if len(view.indices) not in (0, 1, rank):
        raise op_error(
            view, f"has {len(view.indices)} indices; a source of rank {rank} takes {rank}, or one"
        )
    for index in view.indices:
        if not isinstance(index.type, IndexType):
            raise op_error(view, f"begins at indices of type index, not {index.type}")


def _check_view_fits(view: ViewOp) -> None:
    """No more elements than the source has.  An offset may pass its end: to the next slot.

    A tile of an array in global memory may reach past its end; loads and stores check bounds.
    """
    if space_of(view.result.type) is Space.GMEM:
        return
    there, here = _elements(view.source.type), _elements(view.result.type)
    if there is not None and here is not None and here > there:
        raise op_error(view, f"shows {here} elements of a buffer of {there}")


def _elements(type_: Attribute) -> int | None:
    shape = shape_of(type_) or ()
    return None if any(n < 0 for n in shape) else prod(shape)


def _bits(type_: Attribute) -> int | None:
    count, element = _elements(type_), element_of(type_)
    if count is None or not isinstance(element, FixedBitwidthType):
        return None
    return count * element.bitwidth
