"""Arrays behind pointers, and tiles of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.nv_tileaa.base import (
    ARRAY,
    COUNT,
    Array,
    ArrayOperand,
    Axes,
    as_array,
    listed,
    numbers,
)
from tileas_xdsl.dialects.nv_tileaa.types import AATiledViewType, PtrType
from tileas_xdsl.dialects.nv_tileas.syntax.directives import Coordinates
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op

_Pointer: TypeAlias = fields.Field[SSAValue[PtrType], fields.Value]


def array_type(element: Attribute, shape: Sequence[int], strides: Sequence[int]) -> Array:
    """The type of an array; `DYNAMIC_INDEX` is an extent or a stride that is not constant."""
    known = [None if stride == DYNAMIC_INDEX else stride for stride in strides]
    return MemRefType(element, shape, StridedLayoutAttr(known))


def strides_of(type_: Array) -> tuple[int, ...]:
    """Return the strides of an array in elements; without a layout, it is row-major."""
    layout = type_.layout
    if isinstance(layout, StridedLayoutAttr):
        return tuple(DYNAMIC_INDEX if s is None else s for s in layout.get_strides())
    strides, step = list[int](), 1
    for extent in reversed(type_.get_shape()):
        strides.append(step)
        step = DYNAMIC_INDEX if DYNAMIC_INDEX in (step, extent) else step * extent
    return tuple(reversed(strides))


@tileas_op
class MakeMemrefOp(TileasOp):
    """An array behind a pointer: an operand for each extent and stride that is not constant.

    `nv_tileaa.make_memref %p, sizes [%m, %n : i32], strides [%s] : !nv_tileaa.ptr<f32, 1>
    -> memref<?x?xf32, strided<[?, 1]>>`.  Integers are read as unsigned, strides count elements.
    """

    name = "nv_tileaa.make_memref"

    pointer: _Pointer = fields.operand(PtrType)
    offset: fields.OptOperand = fields.opt_operand(IndexType, default=None, kw_only=True)
    sizes: fields.Operands = fields.operands(COUNT)
    strides: fields.Operands = fields.operands(COUNT)
    alias_scope: fields.OptInt = fields.opt_prop(
        IntegerAttr.constr(i32), default=None, kw_only=True
    )
    result: fields.Result[Attribute] = fields.typed_result(MemRefType, alias="result_type")

    traits = traits_def(Pure())
    custom_directives = (Coordinates,)
    assembly_format = (
        "$pointer (`offset` $offset^)? `,` `sizes` custom<Coordinates>($sizes, type($sizes))"
        " `,` `strides` custom<Coordinates>($strides, type($strides)) attr-dict"
        " `:` type($pointer) `->` type($result)"
    )

    @property
    def array(self) -> Array:
        """The type of the array."""
        return as_array(self.result)

    def extent(self, axis: int) -> SSAValue | int:
        """The extent along an axis: an operand, or the constant of the type."""
        return _nth(self.array.get_shape(), self.sizes, axis)

    def stride(self, axis: int) -> SSAValue | int:
        """The stride along an axis: an operand, or the constant of the type."""
        return _nth(strides_of(self.array), self.strides, axis)

    def verify_(self) -> None:
        array, pointer = self.array, self.pointer.type
        if pointer.pointee != array.element_type:
            raise op_error(self, f"shows {array.element_type} behind a pointer to {pointer}")
        if isinstance(array.layout, StridedLayoutAttr) and array.layout.get_offset() != 0:
            raise op_error(self, f"begins at its offset; the layout of {array} has none")
        if not isinstance(array.layout, StridedLayoutAttr | NoneAttr):
            raise op_error(self, f"an array has strides, not {array.layout}")
        shape, strides = array.get_shape(), strides_of(array)
        for what, known, given in (
            ("sizes", shape, self.sizes),
            ("strides", strides, self.strides),
        ):
            wanted = sum(n == DYNAMIC_INDEX for n in known)
            if wanted != len(given):
                raise op_error(self, f"expects {wanted} {what} for {array}, but got {len(given)}")


def _nth(known: Sequence[int], given: Sequence[SSAValue], axis: int) -> SSAValue | int:
    if known[axis] != DYNAMIC_INDEX:
        return known[axis]
    return given[sum(n == DYNAMIC_INDEX for n in known[:axis])]


def _tiled(given: Mapping[str, Any]) -> Attribute:
    return AATiledViewType(given["tile_sizes"], as_array(given["source"]).element_type)


@tileas_op
class BlockTileOp(TileasOp):
    """View an array as tiles of `tileSizes`: dimension `i` of a tile runs along `dimGroups[i]`."""

    name = "nv_tileaa.block_tile"

    source: ArrayOperand = fields.operand(ARRAY)
    tile_sizes: Axes = fields.prop(
        DenseArrayBase.constr(i64), prop_name="tileSizes", convert=numbers
    )
    dim_groups: Axes = fields.prop(
        DenseArrayBase.constr(i64), prop_name="dimGroups", convert=numbers
    )
    result: fields.Result[Attribute] = fields.typed_result(AATiledViewType, type=_tiled, init=False)

    traits = traits_def(Pure())
    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    @property
    def dims(self) -> tuple[int, ...]:
        """For each dimension of a tile, that of the array."""
        return self.dim_groups.get_values()

    def verify_(self) -> None:
        sizes: Sequence[int] = self.tile_sizes.get_values()
        dims, rank = self.dims, len(self.source.type.get_shape())
        if not sizes:
            raise op_error(self, message("nv_tileaa.block_tile.no_sizes"))
        if not dims:
            raise op_error(self, message("nv_tileaa.block_tile.no_dims"))
        if len(sizes) != len(dims):
            raise op_error(
                self, message("nv_tileaa.block_tile.ranks", sizes=len(sizes), dims=len(dims))
            )
        if any(size <= 0 for size in sizes):
            raise op_error(self, message("nv_tileaa.block_tile.positive"))
        if len(set(dims)) != len(dims):
            raise op_error(self, message("nv_tileaa.block_tile.repeated_dim", dims=listed(dims)))
        if any(not 0 <= dim < rank for dim in dims) or len(dims) != rank:
            raise op_error(
                self, f"tiles every dimension of {self.source.type}, not ({listed(dims)})"
            )
        wanted = AATiledViewType(sizes, self.source.type.element_type)
        if self.result.type != wanted:
            raise op_error(self, f"gives {wanted}, not {self.result.type}")


@tileas_op
class GetDimSizeOp(TileasOp):
    """The extent of an array along an axis, in elements."""

    name = "nv_tileaa.get_dim_size"

    source: ArrayOperand = fields.operand(ARRAY)
    axis: fields.Int = fields.prop(IntegerAttr.constr(i32))
    result: fields.Result[Attribute] = fields.typed_result(IndexType, type=IndexType(), init=False)

    traits = traits_def(Pure())
    assembly_format = "$source attr-dict `:` type($source)"

    def verify_(self) -> None:
        rank = len(self.source.type.get_shape())
        if not 0 <= self.axis.value.data < rank:
            raise op_error(self, f"an array of rank {rank} has no axis {self.axis.value.data}")
