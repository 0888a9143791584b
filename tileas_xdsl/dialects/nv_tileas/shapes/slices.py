"""Tile storage and slices of tiles.

A slice is `[offsets][sizes][strides]`, each number static or an `index` value.  The asynchronous
forms take and give tokens that carry tiles, so that slicing needs no wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import ClassVar, TypeAlias

from xdsl.dialects.builtin import DenseArrayBase, IndexType, TensorType, i64
from xdsl.dialects.utils.dynamic_index_list import DynamicIndexList
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    VarConstraint,
    base,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import (
    AlwaysSpeculatable,
    EffectInstance,
    MemoryEffect,
    MemoryEffectKind,
    Pure,
)

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.canonicalized import Canonicalized
from tileas_xdsl.dialects.field_init import init_of_groups
from tileas_xdsl.dialects.nv_tileas.interfaces import TileStructure
from tileas_xdsl.dialects.nv_tileas.memory.effects import TileReadEffect
from tileas_xdsl.dialects.nv_tileas.shapes.slice_checks import (
    Extent,
    Slice,
    check_dynamic_count,
    check_slice,
    mixed,
    slice_parts,
)
from tileas_xdsl.dialects.nv_tileas.spaces import TILE, Tile
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op
from tileas_xdsl.dialects.nv_tileas.syntax.type_directives import SourceToResult
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile, tile_operand
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType


class AllocatesResult(MemoryEffect):
    """The result is new storage: unused it may vanish, but two are never merged into one."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        return {EffectInstance(MemoryEffectKind.ALLOC, op.results[0])}


@tileas_op
class AllocTensorOp(TileasOp):
    """Allocate a tile with undefined elements; its type gives the memory space and layout."""

    name = "nv_tileas.alloc_tensor"

    result: fields.Result[TensorType[Attribute]] = fields.typed_result(TILE)

    traits = traits_def(AllocatesResult(), TileStructure())

    assembly_format = "attr-dict `:` type($result)"

    def verify_(self) -> None:
        type_ = self.result.type
        if not type_.has_static_shape():
            raise op_error(self, f"the extents of a new tile are known, unlike those of {type_}")


_PART = (
    "custom<DynamicIndexList>($offsets, $static_offsets) ``"
    "custom<DynamicIndexList>($sizes, $static_sizes) ``"
    "custom<DynamicIndexList>($strides, $static_strides)"
)


@tileas_op
class ExtractSliceOp(TileasOp):
    """A part of a tile."""

    name = "nv_tileas.extract_slice"

    source = tile_operand()
    offsets = var_operand_def(IndexType)
    sizes = var_operand_def(IndexType)
    strides = var_operand_def(IndexType)
    static_offsets = prop_def(DenseArrayBase.constr(i64))
    static_sizes = prop_def(DenseArrayBase.constr(i64))
    static_strides = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TILE)

    traits = traits_def(Pure(), TileStructure(), Canonicalized("nv_tileas.EXTRACT_SLICE_PATTERNS"))
    custom_directives = (DynamicIndexList, SourceToResult)

    assembly_format = (
        f"$source `` {_PART} attr-dict `:` custom<SourceToResult>(type($source), type($result))"
    )

    def __init__(
        self,
        source: SSAValue | Operation,
        offsets: Sequence[Extent],
        sizes: Sequence[Extent],
        strides: Sequence[Extent] | None = None,
        result_type: Attribute | None = None,
    ) -> None:
        """Without `result_type`, the slice keeps the encoding that the tile has."""
        parts = slice_parts(offsets, sizes, strides)
        source = SSAValue.get(source, type=TensorType[Attribute])
        if result_type is None:
            shape = Slice((), tuple(sizes), ()).shape
            result_type = TensorType(source.type.element_type, shape, source.type.encoding)
        init_of_groups(
            self,
            operands=[source, *parts.operands],
            properties=parts.static,
            result_types=[result_type],
        )

    def verify_(self) -> None:
        _check_part(self, self.source.type, self.result.type)


@tileas_op
class InsertSliceOp(TileasOp):
    """A tile in which a part is replaced by `source`; the value `destination` stays as it was."""

    name = "nv_tileas.insert_slice"

    _WHOLE: ClassVar = VarConstraint("WHOLE", TILE)

    source = tile_operand()
    destination = operand_def(_WHOLE)
    offsets = var_operand_def(IndexType)
    sizes = var_operand_def(IndexType)
    strides = var_operand_def(IndexType)
    static_offsets = prop_def(DenseArrayBase.constr(i64))
    static_sizes = prop_def(DenseArrayBase.constr(i64))
    static_strides = prop_def(DenseArrayBase.constr(i64))
    result = result_def(_WHOLE)

    traits = traits_def(AlwaysSpeculatable(), TileReadEffect(), TileStructure())
    custom_directives = (DynamicIndexList,)

    assembly_format = (
        f"$source `into` $destination `` {_PART} "
        "attr-dict `:` type($source) `into` type($destination)"
    )

    def __init__(
        self,
        source: SSAValue | Operation,
        destination: SSAValue | Operation,
        offsets: Sequence[Extent],
        sizes: Sequence[Extent],
        strides: Sequence[Extent] | None = None,
    ) -> None:
        parts = slice_parts(offsets, sizes, strides)
        init_of_groups(
            self,
            operands=[source, destination, *parts.operands],
            properties=parts.static,
            result_types=[SSAValue.get(destination).type],
        )

    def verify_(self) -> None:
        _check_part(self, self.result.type, self.source.type)


@tileas_op
class AsyncExtractSliceOp(TileasOp):
    """A part of the tile that a token will deliver, as a token too."""

    name = "nv_tileas.async.extract_slice"

    source = operand_def(AsyncTokenType)
    offsets = var_operand_def(IndexType)
    sizes = var_operand_def(IndexType)
    strides = var_operand_def(IndexType)
    static_offsets = prop_def(DenseArrayBase.constr(i64))
    static_sizes = prop_def(DenseArrayBase.constr(i64))
    static_strides = prop_def(DenseArrayBase.constr(i64))
    result = result_def(AsyncTokenType)

    traits = traits_def(Pure())
    custom_directives = (DynamicIndexList, SourceToResult)

    assembly_format = (
        f"$source `` {_PART} attr-dict `:` custom<SourceToResult>(type($source), type($result))"
    )

    def __init__(
        self,
        source: SSAValue | Operation,
        offsets: Sequence[Extent],
        sizes: Sequence[Extent],
        strides: Sequence[Extent] | None = None,
        result_type: Attribute | None = None,
    ) -> None:
        """Without `result_type`, the slice keeps the encoding that the tile has."""
        parts = slice_parts(offsets, sizes, strides)
        if result_type is None:
            whole = delivered_tile(SSAValue.get(source).type)
            if whole is None:
                raise ValueError("an asynchronous slice is taken of a token that carries a tile")
            shape = Slice((), tuple(sizes), ()).shape
            result_type = AsyncTokenType(TensorType(whole.element_type, shape, whole.encoding))
        init_of_groups(
            self,
            operands=[source, *parts.operands],
            properties=parts.static,
            result_types=[result_type],
        )

    def verify_(self) -> None:
        whole, piece = delivered_tile(self.source.type), delivered_tile(self.result.type)
        if whole is None or piece is None:
            raise op_error(self, "takes and gives tokens that carry tiles, not bare ones")
        _check_part(self, whole, piece)


@tileas_op
class AsyncInsertSliceOp(TileasOp):
    """A tile with one part replaced, where the part or the tile comes with a token."""

    name = "nv_tileas.async.insert_slice"

    source = operand_def(TILE | base(AsyncTokenType))
    destination = operand_def(TILE | base(AsyncTokenType))
    offsets = var_operand_def(IndexType)
    sizes = var_operand_def(IndexType)
    strides = var_operand_def(IndexType)
    static_offsets = prop_def(DenseArrayBase.constr(i64))
    static_sizes = prop_def(DenseArrayBase.constr(i64))
    static_strides = prop_def(DenseArrayBase.constr(i64))
    result = result_def(AsyncTokenType)

    traits = traits_def(Pure())
    custom_directives = (DynamicIndexList,)

    assembly_format = (
        f"$source `into` $destination `` {_PART} "
        "attr-dict `:` type($source) `into` type($destination) `->` type($result)"
    )

    def __init__(
        self,
        source: SSAValue | Operation,
        destination: SSAValue | Operation,
        offsets: Sequence[Extent],
        sizes: Sequence[Extent],
        strides: Sequence[Extent] | None = None,
    ) -> None:
        parts = slice_parts(offsets, sizes, strides)
        init_of_groups(
            self,
            operands=[source, destination, *parts.operands],
            properties=parts.static,
            result_types=[AsyncTokenType(tile_of(SSAValue.get(destination).type))],
        )

    def verify_(self) -> None:
        types = self.source.type, self.destination.type
        if not any(isinstance(type_, AsyncTokenType) for type_ in types):
            raise op_error(self, "nothing comes with a token; insert_slice does this without one")
        piece, whole = (tile_of(type_) for type_ in types)
        if piece is None or whole is None:
            raise op_error(self, "takes and gives tokens that carry tiles, not bare ones")
        if (result := self.result.type.delivered) != whole:
            raise op_error(self, f"the result carries {whole}, not {result or 'nothing'}")
        _check_part(self, whole, piece)


SlicingOp: TypeAlias = ExtractSliceOp | InsertSliceOp | AsyncExtractSliceOp | AsyncInsertSliceOp
"""The operations that speak of a part of a tile."""


def part_of(op: SlicingOp) -> Slice:
    """The part of the tile that `op` reads or writes, with numbers where they are known."""
    return Slice(
        mixed(op.static_offsets.get_values(), op.offsets),
        mixed(op.static_sizes.get_values(), op.sizes),
        mixed(op.static_strides.get_values(), op.strides),
    )


def _check_part(op: SlicingOp, whole: Tile, piece: Tile) -> None:
    check_dynamic_count(op, "offsets", op.static_offsets.get_values(), op.offsets)
    check_dynamic_count(op, "sizes", op.static_sizes.get_values(), op.sizes)
    check_dynamic_count(op, "strides", op.static_strides.get_values(), op.strides)
    check_slice(op, part_of(op), whole, piece)


def delivered_tile(type_: Attribute) -> Tile | None:
    """The tile that a token of this type carries, None for any other type."""
    return as_tile(type_.delivered) if isinstance(type_, AsyncTokenType) else None


def tile_of(type_: Attribute) -> Tile | None:
    """A tile type itself, or the tile that a token carries."""
    return as_tile(type_) or delivered_tile(type_)
