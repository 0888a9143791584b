"""Tensors in global memory, and tiles of them that views select."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cuda_tile.enums import PaddingValue, PaddingValueAttr, Signedness
from tileas_xdsl.dialects.cuda_tile.memory import atomics, tensor_views, views
from tileas_xdsl.dialects.cuda_tile.types.tile_types import element_of
from tileas_xdsl.dialects.cuda_tile.types.view_types import (
    GatherScatterViewType,
    PartitionViewType,
    StridedViewType,
    TensorViewType,
    TileView,
)
from tileas_xdsl.interpreters.cuda_tile.block import Block
from tileas_xdsl.interpreters.cuda_tile.faults import Undefined
from tileas_xdsl.interpreters.cuda_tile.numerics.conversions import padding_of
from tileas_xdsl.interpreters.cuda_tile.numerics.elements import (
    Array,
    stored_bits,
    width_of,
)
from tileas_xdsl.interpreters.cuda_tile.numerics.integers import read, wrap
from tileas_xdsl.interpreters.cuda_tile.semantics.memory import TOKEN, updated
from tileas_xdsl.interpreters.cuda_tile.semantics.registry import Pure, Stateful
from tileas_xdsl.layout.integers import ceil_div


@dataclass(frozen=True)
class Tensor:
    """An array: an address in bits, extents and strides in elements."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    element: Attribute


@dataclass(frozen=True)
class View:
    """A tensor as tiles."""

    tensor: Tensor
    type: TileView


def _unsigned(value: Array, type_: Attribute) -> Array:
    """Integers read as unsigned, as numbers that do not wrap around."""
    return read(value, width_of(type_), Signedness.UNSIGNED).astype(object)


def _index(value: Array, type_: Attribute) -> Array:
    """An index: unsigned, but in 32 bits and more coordinates may lie before the first.

    So a tile that begins before the array has the elements that are in it, as it would if unsigned
    coordinates wrapped around, and as tensor maps have it.
    """
    width = width_of(type_)
    signedness = Signedness.UNSIGNED if width < 32 else Signedness.SIGNED
    return read(value, width, signedness).astype(object)


def _tensor(block: Block, op: tensor_views.MakeTensorViewOp) -> Sequence[Any]:
    type_ = op.result.type
    assert isinstance(type_, TensorViewType)
    shape = _numbers(block, type_.get_shape(), op.dynamic_shape)
    strides = _numbers(block, type_.get_strides(), op.dynamic_strides)
    address = int(block.value(op.base))
    return (Tensor(address, shape, strides, type_.element_type),)


def _numbers(block: Block, known: Sequence[int], given: Sequence[Any]) -> tuple[int, ...]:
    """Extents or strides: those that the type leaves open are operands."""
    values = (int(_unsigned(block.value(value), value.type)) for value in given)
    return tuple(next(values) if number == DYNAMIC_INDEX else number for number in known)


def _view(op: Any, tensor: Tensor) -> View:
    return View(tensor, op.result.type)


def _plain(values: Any) -> tuple[int, ...]:
    return tuple(value.data for value in values)


def _map_of(type_: TileView) -> tuple[int, ...]:
    """By dimension of a tile, the dimension of the tensor that it runs along."""
    if isinstance(type_, PartitionViewType | StridedViewType):
        return _plain(type_.dim_map)
    return tuple(range(type_.index_rank))


def _steps(type_: TileView) -> tuple[int, ...]:
    """By dimension, the elements from one index to the next; those of a gather count elements."""
    match type_:
        case StridedViewType():
            return _plain(type_.traversal_strides)
        case GatherScatterViewType():
            return (1,) * type_.index_rank
        case _:
            return type_.get_tile_shape()


@dataclass(frozen=True)
class _Selected:
    """The elements of a tile: their addresses, and which of them are in bounds."""

    addresses: Array
    inside: Array


def _selected(block: Block, view: View, op: Any) -> _Selected:
    """The tile at an index.

    Dimension `d` of the tile begins at `index[d] * step[d]` of dimension `map[d]` of the tensor.
    Coordinates are those of the mathematics: they do not wrap around.
    """
    tensor, tile = view.tensor, view.type.get_tile_shape()
    inside = np.ones(tile, bool)
    offsets = np.zeros(tile, np.int64)
    sparse = view.type.sparse_dim.data if isinstance(view.type, GatherScatterViewType) else None
    along = zip(op.index, _map_of(view.type), _steps(view.type), strict=True)
    for axis, (index, dim, step) in enumerate(along):
        begin = _index(block.value(index), index.type)
        own = (
            np.zeros(tile[axis], object) if axis == sparse else np.arange(tile[axis]).astype(object)
        )
        indices = begin * step + own
        fits = ((indices >= 0) & (indices < tensor.shape[dim])).astype(bool)
        _check_promise(op, axis, fits)
        shape = tuple(-1 if n == axis else 1 for n in range(len(tile)))
        inside = inside & fits.reshape(shape)
        distances = np.where(fits, indices * tensor.strides[dim], 0).astype(np.int64)
        offsets = offsets + distances.reshape(shape)
    steps = (offsets * stored_bits(tensor.element)).astype(np.uint64)
    return _Selected(np.uint64(tensor.address) + steps, inside)


def _check_promise(op: Any, axis: int, fits: Array) -> None:
    """Raise where an access is promised to be in bounds and is not."""
    flags = op.properties.get("inbounds")
    if flags is not None and flags.get_values()[axis] and not fits.all():
        raise Undefined(f"is promised to be in bounds along dimension {axis} and is not")


_PADDINGS: Mapping[PaddingValue, float] = {
    PaddingValue.ZERO: 0.0,
    PaddingValue.NEG_ZERO: -0.0,
    PaddingValue.NAN: float("nan"),
    PaddingValue.POS_INF: float("inf"),
    PaddingValue.NEG_INF: float("-inf"),
}


def _loaded(block: Block, op: views.LoadViewTkoOp) -> Sequence[Any]:
    """Out of bounds it is the padding of the view; without one nothing is specified: zeros."""
    view: View = block.value(op.view)
    element, padding = view.tensor.element, view.type.padding_value
    number = _PADDINGS[padding.data] if isinstance(padding, PaddingValueAttr) else 0.0
    selected = _selected(block, view, op)
    found = np.full(selected.inside.shape, padding_of(number, element))
    found[selected.inside] = block.memory.load(selected.addresses[selected.inside], element)
    return found, TOKEN


def _stored(block: Block, op: views.StoreViewTkoOp) -> Sequence[Any]:
    """Elements out of bounds are not stored."""
    view: View = block.value(op.view)
    selected, values = _selected(block, view, op), block.value(op.tile)
    inside = selected.inside
    block.memory.store(selected.addresses[inside], values[inside], view.tensor.element)
    return (TOKEN,)


def _updated(block: Block, op: atomics.AtomicRedViewTkoOp) -> Sequence[Any]:
    """Elements out of bounds are left alone."""
    view: View = block.value(op.view)
    selected, values = _selected(block, view, op), block.value(op.value)
    inside, element = selected.inside, view.tensor.element
    updated(block, selected.addresses[inside], values[inside], op.mode.data, element)
    return (TOKEN,)


def _extents(block: Block, op: views.GetTensorShapeOp) -> Sequence[Any]:
    tensor: Tensor = block.value(op.src)
    return _results(op, tensor.shape)


def _index_space(block: Block, op: views.GetIndexSpaceShapeOp) -> Sequence[Any]:
    """Tiles whose first element is in bounds; along a gathered dimension its elements."""
    view: View = block.value(op.src)
    pairs = zip(_map_of(view.type), _steps(view.type), strict=True)
    return _results(op, [ceil_div(view.tensor.shape[dim], step) for dim, step in pairs])


def _results(op: Any, numbers: Sequence[int]) -> Sequence[Any]:
    found: list[Array] = []
    for number, result in zip(numbers, op.results, strict=True):
        width = width_of(element_of(result.type))
        if number >> width:
            raise Undefined(f"has an extent of {number}, which has more than {width} bits")
        found.append(wrap(np.asarray(number, object), width))
    return found


VIEWS: Mapping[type[Any], Pure] = {
    views.MakePartitionViewOp: _view,
    views.MakeStridedViewOp: _view,
    views.MakeGatherScatterViewOp: _view,
}

VIEW_ACCESSES: Mapping[type[Any], Stateful] = {
    tensor_views.MakeTensorViewOp: _tensor,
    views.LoadViewTkoOp: _loaded,
    views.StoreViewTkoOp: _stored,
    views.GetTensorShapeOp: _extents,
    views.GetIndexSpaceShapeOp: _index_space,
    atomics.AtomicRedViewTkoOp: _updated,
}
