"""Tiles made from other tiles by moving elements, and the simplest tiles there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, Float4E2M1FNType, IntegerAttr, i32, i64
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import emit_warning
from tileas_xdsl.dialects.canonicalized import Canonicalized
from tileas_xdsl.dialects.cuda_tile.base import CudaTileOp, cuda_tile_op
from tileas_xdsl.dialects.cuda_tile.constraints import I1_TILE, INT_TILE, SCALAR_I32, TILE
from tileas_xdsl.dialects.cuda_tile.matches import (
    SAME_ELEMENTS,
    same_element,
    same_rank,
    same_shape,
    same_type,
    shape_of,
)
from tileas_xdsl.dialects.cuda_tile.memory.view_checks import quoted
from tileas_xdsl.dialects.cuda_tile.syntax.directives import Indices, SameType2, SameType3, Type
from tileas_xdsl.dialects.cuda_tile.tiles.constants import constant_number
from tileas_xdsl.dialects.cuda_tile.types.scalars import bit_width
from tileas_xdsl.dialects.cuda_tile.types.tile_types import element_of, listed

_SOURCE_RESULT = "attr-dict `:` custom<Type>(type($source)) `->` custom<Type>(type($result))"


@cuda_tile_op
class IotaOp(CudaTileOp):
    """The numbers 0, 1, 2 and so on, read as unsigned."""

    name = "cuda_tile.iota"

    result = result_def(INT_TILE)

    traits = traits_def(Pure())
    custom_directives = (Type,)
    assembly_format = "attr-dict `:` custom<Type>(type($result))"

    def check(self) -> None:
        shape, element = shape_of(self.result.type), element_of(self.result.type)
        if len(shape) != 1:
            raise self.refuse("cuda_tile.iota.rank")
        if shape[0] > 1 << bit_width(element):
            raise self.refuse("cuda_tile.iota.range", count=shape[0], element=quoted(element))


@cuda_tile_op
class BroadcastOp(CudaTileOp):
    """The same elements again along dimensions of extent 1."""

    name = "cuda_tile.broadcast"

    source = operand_def(TILE)
    result = result_def(TILE)

    traits = traits_def(Pure(), Canonicalized("cuda_tile.SHAPE_PATTERNS"))
    custom_directives = (Type,)
    MATCHES: ClassVar = (same_rank("source", "result"), SAME_ELEMENTS)
    assembly_format = f"$source {_SOURCE_RESULT}"

    def check(self) -> None:
        source, result = shape_of(self.source.type), shape_of(self.result.type)
        if any(a not in (1, b) for a, b in zip(source, result, strict=True)):
            raise self.refuse(
                "cuda_tile.broadcast.shape", source=listed(source), result=listed(result)
            )


@cuda_tile_op
class ReshapeOp(CudaTileOp):
    """The same elements, in row-major order, in another shape."""

    name = "cuda_tile.reshape"

    source = operand_def(TILE)
    result = result_def(TILE)

    traits = traits_def(Pure(), Canonicalized("cuda_tile.SHAPE_PATTERNS"))
    custom_directives = (Type,)
    MATCHES: ClassVar = (SAME_ELEMENTS,)
    assembly_format = f"$source {_SOURCE_RESULT}"

    def check(self) -> None:
        if _count(self.source) != _count(self.result):
            raise self.refuse("cuda_tile.reshape.size")


def _count(value: SSAValue) -> int:
    count = 1
    for extent in shape_of(value.type):
        count *= extent
    return count


@cuda_tile_op
class PermuteOp(CudaTileOp):
    """Dimension `i` of the result is dimension `permutation[i]` of the source."""

    name = "cuda_tile.permute"

    source = operand_def(TILE)
    permutation = prop_def(DenseArrayBase.constr(i32))
    result = result_def(TILE)

    traits = traits_def(Pure())
    custom_directives = (Type,)
    MATCHES: ClassVar = (same_element("source", "result"), same_rank("source", "result"))
    assembly_format = f"$source $permutation {_SOURCE_RESULT}"

    def check(self) -> None:
        permutation: Sequence[int] = self.permutation.get_values()
        source, result = shape_of(self.source.type), shape_of(self.result.type)
        rank = len(source)
        if rank < 2:
            raise self.refuse("cuda_tile.permute.rank", rank=rank)
        if len(permutation) != rank:
            raise self.refuse("cuda_tile.permute.size", given=len(permutation), expected=rank)
        if len(set(permutation)) != rank:
            raise self.refuse("cuda_tile.permute.unique")
        for index, origin in enumerate(permutation):
            if not 0 <= origin < rank:
                raise self.refuse("cuda_tile.permute.range", index=index, value=origin, rank=rank)
        for index, origin in enumerate(permutation):
            if result[index] != source[origin]:
                raise self.refuse(
                    "cuda_tile.permute.shape",
                    index=index,
                    expected=source[origin],
                    given=result[index],
                )


class _SliceOp(CudaTileOp):
    """A part of a tile, chosen by its number along each dimension."""

    def check_slices(
        self, whole: Sequence[int], part: Sequence[int], indices: Sequence[SSAValue]
    ) -> None:
        """Each index is a number of a slice; constant ones outside the range are warned of."""
        if len(indices) != len(part):
            raise self.refuse("cuda_tile.slice_index.count", expected=len(part), given=len(indices))
        verb = self.name.removeprefix("cuda_tile.")
        for number, index in enumerate(indices):
            value = constant_number(index)
            if value is None:
                continue
            last = whole[number] // part[number] - 1
            if value < 0:
                text = message(
                    "cuda_tile.slice_index.negative", verb=verb, index=number, value=value
                )
                emit_warning(self, text, prefix=False)
            elif value > last:
                text = message(
                    "cuda_tile.slice_index.outside", verb=verb, index=number, value=value, last=last
                )
                emit_warning(self, text, prefix=False)


@cuda_tile_op
class ExtractOp(_SliceOp):
    """The slice of a tile whose number along each dimension is given."""

    name = "cuda_tile.extract"

    source = operand_def(TILE)
    indices = var_operand_def(SCALAR_I32)
    result = result_def(TILE)

    traits = traits_def(Pure())
    custom_directives = (Indices, Type)
    MATCHES: ClassVar = (same_rank("source", "result"),)
    assembly_format = f"$source custom<Indices>($indices, type($indices)) {_SOURCE_RESULT}"

    def check(self) -> None:
        if element_of(self.source.type) != element_of(self.result.type):
            raise self.refuse("cuda_tile.slice.element")
        whole, part = shape_of(self.source.type), shape_of(self.result.type)
        for index, (extent, piece) in enumerate(zip(whole, part, strict=True)):
            if extent % piece:
                raise self.refuse(
                    "cuda_tile.extract.divides",
                    source_dim=index,
                    source_extent=extent,
                    result_dim=index,
                    result_extent=piece,
                )
        self.check_slices(whole, part, self.indices)


@cuda_tile_op
class InsertOp(_SliceOp):
    """`destination` with one slice replaced by `source`."""

    name = "cuda_tile.insert"

    source = operand_def(TILE)
    destination = operand_def(TILE)
    indices = var_operand_def(SCALAR_I32)
    result = result_def(TILE)

    traits = traits_def(Pure())
    custom_directives = (Indices, SameType2, Type)
    MATCHES: ClassVar = (same_type("destination", "result"),)
    assembly_format = (
        "$source `,` $destination custom<Indices>($indices, type($indices)) attr-dict"
        " `:` custom<Type>(type($source)) `,` custom<SameType2>(type($destination), type($result))"
    )

    def check(self) -> None:
        if element_of(self.source.type) != element_of(self.result.type):
            raise self.refuse("cuda_tile.slice.element")
        part, whole = shape_of(self.source.type), shape_of(self.result.type)
        if len(part) != len(whole):
            raise self.refuse("cuda_tile.slice.rank")
        for index, (piece, extent) in enumerate(zip(part, whole, strict=True)):
            if extent % piece:
                raise self.refuse(
                    "cuda_tile.insert.divides",
                    result_dim=index,
                    result_extent=extent,
                    source_dim=index,
                    source_extent=piece,
                )
        self.check_slices(whole, part, self.indices)


@cuda_tile_op
class CatOp(CudaTileOp):
    """`lhs`, then `rhs`, along dimension `dim`."""

    name = "cuda_tile.cat"

    lhs = operand_def(TILE)
    rhs = operand_def(TILE)
    dim = prop_def(IntegerAttr.constr(i64))
    result = result_def(TILE)

    traits = traits_def(Pure())
    custom_directives = (Type,)
    MATCHES: ClassVar = (same_rank("lhs", "rhs", "result"), same_element("lhs", "rhs", "result"))
    assembly_format = (
        "$lhs `,` $rhs `dim` `=` $dim attr-dict `:` custom<Type>(type($lhs))"
        " `,` custom<Type>(type($rhs)) `->` custom<Type>(type($result))"
    )

    def check(self) -> None:
        lhs, rhs, result = (shape_of(v.type) for v in (self.lhs, self.rhs, self.result))
        dim = self.dim.value.data
        if not 0 <= dim < len(lhs):
            raise self.refuse("cuda_tile.cat.dim", rank=len(lhs), dim=dim)
        if lhs[dim] + rhs[dim] != result[dim]:
            raise self.refuse(
                "cuda_tile.cat.extent", dim=dim, expected=lhs[dim] + rhs[dim], given=result[dim]
            )
        for index in range(len(lhs)):
            if index == dim:
                continue
            if lhs[index] != rhs[index]:
                raise self.refuse(
                    "cuda_tile.cat.operands", dim=index, expected=lhs[index], given=rhs[index]
                )
            if lhs[index] != result[index]:
                raise self.refuse(
                    "cuda_tile.cat.result", dim=index, expected=lhs[index], given=result[index]
                )


@cuda_tile_op
class SelectOp(CudaTileOp):
    """For each element the one value where the condition holds, else the other."""

    name = "cuda_tile.select"

    cond = operand_def(I1_TILE)
    val_if_true = operand_def(TILE)
    val_if_false = operand_def(TILE)
    result = result_def(TILE)

    traits = traits_def(Pure(), Canonicalized("cuda_tile.SELECT_PATTERNS"))
    custom_directives = (SameType3, Type)
    MATCHES: ClassVar = (
        same_type("val_if_true", "val_if_false", "result"),
        same_shape("cond", "val_if_true", "val_if_false", "result"),
    )
    assembly_format = (
        "$cond `,` $val_if_true `,` $val_if_false attr-dict `:` custom<Type>(type($cond))"
        " `,` custom<SameType3>(type($val_if_true), type($val_if_false), type($result))"
    )

    def check(self) -> None:
        if isinstance(element_of(self.result.type), Float4E2M1FNType):
            raise self.refuse("cuda_tile.select.f4")


class _GridOp(CudaTileOp):
    """Three numbers of the grid."""

    traits = traits_def(Pure())
    custom_directives = (SameType3,)


@cuda_tile_op
class GetTileBlockIdOp(_GridOp):
    """Which block of the grid this is."""

    name = "cuda_tile.get_tile_block_id"

    block_id_x = result_def(SCALAR_I32)
    block_id_y = result_def(SCALAR_I32)
    block_id_z = result_def(SCALAR_I32)

    assembly_format = (
        "attr-dict `:` custom<SameType3>(type($block_id_x), type($block_id_y), type($block_id_z))"
    )


@cuda_tile_op
class GetNumTileBlocksOp(_GridOp):
    """How many blocks the grid has along each dimension."""

    name = "cuda_tile.get_num_tile_blocks"

    grid_size_x = result_def(SCALAR_I32)
    grid_size_y = result_def(SCALAR_I32)
    grid_size_z = result_def(SCALAR_I32)

    assembly_format = (
        "attr-dict"
        " `:` custom<SameType3>(type($grid_size_x), type($grid_size_y), type($grid_size_z))"
    )
