"""Convert Tile IR memory through views: arrays, tiled views of them, and loads and stores of tiles.

    %v = make_tensor_view %p, shape = [%n], strides = [1]     %v = nv_tileaa.make_memref %p, ...
    %w = make_partition_view %v : partition_view<tile=(8)>    %w = nv_tileaa.block_tile %v
    %t, %k = load_view_tko weak %w[%n]                        %t, %k = nv_tileaa.tiled_load %w[%i]
                                                                           after %token

Tile IR has three views, distinguished by what an index counts:

* partition view: tiles that abut; the index counts tiles;
* strided view: tiles at `traversal_strides`; converted to tile 0 and an offset in elements;
* gather/scatter view: one dimension takes a tile of indices; no view remains, each element gets its
  pointer (`indexed_slices`).

Indices are unsigned: those of fewer than 32 bits are extended by zeros. Others are read as signed,
as coordinates that wrap around are: a strided tile that begins in front of an array has the
elements that are in it.

A view may permute dimensions (`dim_map`), which `block_tile` keeps. An access that Tile IR
orders more strongly than weak gets its fences here (`FencedAccess`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import compress
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    i8,
    i16,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.dialects.cuda_tile.enums import PaddingValue, PaddingValueAttr
from tileas_xdsl.dialects.cuda_tile.memory import views as ct
from tileas_xdsl.dialects.cuda_tile.memory.atomics import AtomicRedViewTkoOp
from tileas_xdsl.dialects.cuda_tile.memory.indexed import flags_of
from tileas_xdsl.dialects.cuda_tile.memory.tensor_views import MakeTensorViewOp
from tileas_xdsl.dialects.cuda_tile.types.view_types import (
    GatherScatterViewType,
    PartitionViewType,
    StridedViewType,
    TensorViewType,
    TileView,
)
from tileas_xdsl.dialects.nv_tileaa.base import element_of
from tileas_xdsl.dialects.nv_tileaa.memory import pointer_access, tiled_memory
from tileas_xdsl.dialects.nv_tileaa.memory.views import BlockTileOp, GetDimSizeOp, MakeMemrefOp
from tileas_xdsl.dialects.nv_tileas.enums import SpecialPadding, SpecialPaddingAttr
from tileas_xdsl.dialects.xdsl_ops import cast_op
from tileas_xdsl.transforms.cudatile_to_tileaa.converter import Converter, Rule
from tileas_xdsl.transforms.cudatile_to_tileaa.elementwise.nibbles import check_whole_bytes
from tileas_xdsl.transforms.cudatile_to_tileaa.memory.access_attributes import (
    FencedAccess,
    hinted,
    token_before,
)
from tileas_xdsl.transforms.cudatile_to_tileaa.memory.indexed_slices import (
    padding_tile,
    pointers_and_mask,
)
from tileas_xdsl.transforms.cudatile_to_tileaa.memory.pointers import rmw_mode
from tileas_xdsl.transforms.cudatile_to_tileaa.types import stride_along

_SPECIAL: Mapping[PaddingValue, SpecialPadding] = {
    PaddingValue.NEG_ZERO: SpecialPadding.NEG_ZERO,
    PaddingValue.NAN: SpecialPadding.NAN,
    PaddingValue.POS_INF: SpecialPadding.POS_INF,
    PaddingValue.NEG_INF: SpecialPadding.NEG_INF,
}


def padding_of(view: TileView) -> Attribute | None:
    """Return the value of out-of-bounds elements, None if the view has none."""
    padding, type_ = view.padding_value, view.tensor_view.element_type
    if not isinstance(padding, PaddingValueAttr):
        return None
    if padding.data is not PaddingValue.ZERO:
        return SpecialPaddingAttr(_SPECIAL[padding.data])
    element: Any = type_
    return IntegerAttr(0, element) if isinstance(type_, IntegerType) else FloatAttr(0.0, element)


def make_tensor_view(c: Converter, op: MakeTensorViewOp) -> Sequence[SSAValue]:
    """Convert to an array: a pointer with extents and strides."""
    type_ = op.result.type
    assert isinstance(type_, TensorViewType)
    check_whole_bytes(op, type_.element_type)
    dynamic = [axis for axis, stride in enumerate(type_.get_strides()) if stride == DYNAMIC_INDEX]
    needed = [stride_along(type_, axis) == DYNAMIC_INDEX for axis in dynamic]
    sizes, strides = c.get_all(op.dynamic_shape), c.get_all([*compress(op.dynamic_strides, needed)])
    return [c.insert(MakeMemrefOp(c.get(op.base), sizes, strides, c.type(op.result))).result]


def _view_type(value: SSAValue) -> TileView:
    assert isinstance(value.type, TileView)
    return value.type


def _dims(view: TileView) -> tuple[int, ...]:
    """Return for each dimension of a tile that of the tensor."""
    if isinstance(view, PartitionViewType | StridedViewType):
        return tuple(dim.data for dim in view.dim_map)
    return tuple(range(view.index_rank))


def make_tiles(
    c: Converter, op: ct.MakePartitionViewOp | ct.MakeStridedViewOp
) -> Sequence[SSAValue]:
    """Convert a partition or strided view."""
    view = _view_type(op.result)
    made = BlockTileOp(c.get(op.tensor_view), view.get_tile_shape(), _dims(view))
    return [c.insert(made).result]


def make_gather_scatter(c: Converter, op: ct.MakeGatherScatterViewOp) -> Sequence[SSAValue]:
    """Convert to the array itself; accesses compute the coordinates."""
    return [c.get(op.tensor_view)]


def _extent(c: Converter, array: SSAValue, tensor: TensorViewType, axis: int) -> SSAValue:
    known = tensor.get_shape()[axis]
    if known != DYNAMIC_INDEX:
        return c.index(known)
    return c.insert(GetDimSizeOp(array, axis)).result


def _as_results(c: Converter, op: Any, numbers: Sequence[SSAValue]) -> Sequence[SSAValue]:
    types = [c.type(result) for result in op.results]
    return [
        c.insert(arith.IndexCastOp(number, type_)).result
        for number, type_ in zip(numbers, types, strict=True)
    ]


def tensor_shape(c: Converter, op: ct.GetTensorShapeOp) -> Sequence[SSAValue]:
    """The extents of an array."""
    tensor = op.src.type
    assert isinstance(tensor, TensorViewType)
    array = c.get(op.src)
    extents = [_extent(c, array, tensor, axis) for axis in range(len(tensor.get_shape()))]
    return _as_results(c, op, extents)


def index_space(c: Converter, op: ct.GetIndexSpaceShapeOp) -> Sequence[SSAValue]:
    """Return the number of tiles along each dimension that begin in bounds."""
    view, value = _view_type(op.src), c.get(op.src)
    array = value.owner.source if isinstance(value.owner, BlockTileOp) else value
    counts = list[SSAValue]()
    for dim, step in zip(_dims(view), _steps(view), strict=True):
        extent = _extent(c, array, view.tensor_view, dim)
        counts.append(c.insert(arith.CeilDivUIOp(extent, c.index(step))).result)
    return _as_results(c, op, counts)


def _steps(view: TileView) -> Sequence[int]:
    """Return the distance in elements between consecutive indices, by dimension.

    Gather/scatter views are indexed by elements.
    """
    if isinstance(view, StridedViewType):
        return [step.data for step in view.traversal_strides]
    if isinstance(view, GatherScatterViewType):
        return [1] * view.index_rank
    return view.get_tile_shape()


def _indices(c: Converter, index: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Return the indices in 32 bits or more, which are read as signed from here on."""
    return [_widened(c, value) for value in c.get_all(index)]


def _widened(c: Converter, value: SSAValue) -> SSAValue:
    if element_of(value.type) not in (i8, i16):
        return value
    return c.by_element(i32, [value], partial(_extended, c))


def _extended(c: Converter, value: SSAValue) -> SSAValue:
    return c.insert(cast_op(arith.ExtUIOp, value, i32)).result


def _coordinates_and_offsets(
    c: Converter, view: TileView, index: Sequence[SSAValue]
) -> tuple[Sequence[SSAValue], Sequence[SSAValue]]:
    """Return coordinates that count tiles, and offsets that count elements."""
    indices = [c.as_index(value) for value in _indices(c, index)]
    if not isinstance(view, StridedViewType):
        return indices, ()
    offsets = [
        c.insert(arith.MuliOp(index_value, c.index(step))).result
        for index_value, step in zip(indices, _steps(view), strict=True)
    ]
    return [c.index(0)] * len(indices), offsets


def load(c: Converter, op: ct.LoadViewTkoOp) -> Sequence[SSAValue]:
    """Convert a load of a tile."""
    view, source, token = _view_type(op.view), c.get(op.view), token_before(c, op)
    flags, order, padding = flags_of(op.inbounds), FencedAccess.of(c, op), padding_of(view)
    if isinstance(view, GatherScatterViewType):
        pointers, mask = pointers_and_mask(c, view, source, _indices(c, op.index))
        other = padding_tile(c, view)
        gather = pointer_access.LoadOp(pointers, mask=mask, other=other, token=token, **order.order)
        return order.after(c.insert(hinted(c, op, gather)).results, token is not None)
    coords, offsets = _coordinates_and_offsets(c, view, op.index)
    made = tiled_memory.TiledLoadOp(
        source,
        coords,
        offsets=offsets,
        token=token,
        **order.order,
        in_bounds=flags if any(flags) else None,
        padding=None if all(flags) and flags else padding,
    )
    return order.after(c.insert(hinted(c, op, made)).results, token is not None)


def store(c: Converter, op: ct.StoreViewTkoOp) -> Sequence[SSAValue]:
    """Convert a store of a tile."""
    view, source, order = _view_type(op.view), c.get(op.view), FencedAccess.of(c, op)
    value, flags, token = c.get(op.tile), flags_of(op.inbounds), order.before(token_before(c, op))
    if isinstance(view, GatherScatterViewType):
        pointers, mask = pointers_and_mask(c, view, source, _indices(c, op.index))
        scatter = pointer_access.StoreOp(value, pointers, mask=mask, token=token, **order.order)
        return c.insert(hinted(c, op, scatter)).results
    coords, offsets = _coordinates_and_offsets(c, view, op.index)
    made = tiled_memory.TiledStoreOp(
        value,
        source,
        coords,
        offsets=offsets,
        token=token,
        **order.order,
        in_bounds=flags if any(flags) else None,
    )
    return c.insert(hinted(c, op, made)).results


def update(c: Converter, op: AtomicRedViewTkoOp) -> Sequence[SSAValue]:
    """Convert an atomic reduction to a tile of a view, which returns no old values."""
    view, token = _view_type(op.view), token_before(c, op)
    coords, offsets = _coordinates_and_offsets(c, view, op.index)
    made = tiled_memory.TiledAtomicRmwOp(
        c.get(op.value),
        c.get(op.view),
        coords,
        rmw_mode=rmw_mode(op.mode.data),
        offsets=offsets,
        token=token,
        **FencedAccess.of(c, op).order,
    )
    return c.insert(made).results[1:]


VIEWS: Mapping[type[Operation], Rule] = {
    AtomicRedViewTkoOp: update,
    MakeTensorViewOp: make_tensor_view,
    ct.GetIndexSpaceShapeOp: index_space,
    ct.GetTensorShapeOp: tensor_shape,
    ct.LoadViewTkoOp: load,
    ct.MakeGatherScatterViewOp: make_gather_scatter,
    ct.MakePartitionViewOp: make_tiles,
    ct.MakeStridedViewOp: make_tiles,
    ct.StoreViewTkoOp: store,
}
