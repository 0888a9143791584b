"""Slices of an array that a tile of indices picks: gather/scatter views become tiles of pointers.

    %w = make_gather_scatter_view %v : gather_scatter_view<tile=(8x64), sparse_dim=0>
    %t, %k = load_view_tko weak %w[%rows, %first]

reads `v[rows[i], first + j]`.  Every element gets its pointer, and a mask says which of them the
array has, in the words that a front end has for a gather by indices, so that what is known of those
(runs of neighbours, copies ahead of a loop, rows by TMA) holds for slices too:

    %p = nv_tileaa.addptr %base, %rows * %stride + %columns     %columns = %first + (0, 1, ...)
    %m = %rows < %height and %columns < %width                  as unsigned: negative is outside
    %t, %k = nv_tileaa.load %p mask %m other 0.0 after %token
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType, i1, i64
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.dialects.cuda_tile.enums import PaddingValue, PaddingValueAttr
from tileas_xdsl.dialects.cuda_tile.types.view_types import GatherScatterViewType
from tileas_xdsl.dialects.interned import integer_attr, tensor_of
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of
from tileas_xdsl.dialects.nv_tileaa.compute import shapes
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import AddPtrOp
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp
from tileas_xdsl.dialects.xdsl_ops import binary_op, cast_op, comparison, constant_op
from tileas_xdsl.transforms.cudatile_to_tileaa.converter import Converter

_NUMBERS: Mapping[PaddingValue, float] = {
    PaddingValue.ZERO: 0.0,
    PaddingValue.NEG_ZERO: -0.0,
    PaddingValue.NAN: math.nan,
    PaddingValue.POS_INF: math.inf,
    PaddingValue.NEG_INF: -math.inf,
}


def pointers_and_mask(
    c: Converter, view: GatherScatterViewType, array: SSAValue, index: Sequence[SSAValue]
) -> tuple[SSAValue, SSAValue]:
    """Return the tile of pointers to the elements, and the mask of those inside the array.

    `index` are a tile of positions along the sparse dimension, first positions along others.
    """
    made, shape = array.owner, view.get_tile_shape()
    assert isinstance(made, MakeMemrefOp)  # What control flow chooses are pointers and extents.
    offsets, inside = list[SSAValue](), list[SSAValue]()
    for axis, position in enumerate(index):
        counted = made.extent(axis)
        wide = not isinstance(counted, int) and counted.type == i64
        extent, stride = _as_i64(c, counted), _as_i64(c, made.stride(axis))
        here = _coordinates(c, position, axis, shape, wide)
        inside.append(c.by_element(i1, [here, c.splat(extent, shape)], partial(_below, c)))
        offsets.append(c.insert(binary_op(arith.MuliOp, here, c.splat(stride, shape))).result)
    offset, mask = _combined(c, arith.AddiOp, offsets), _combined(c, arith.AndIOp, inside)
    return c.insert(AddPtrOp(c.splat(made.pointer, shape), offset)).result, mask


def _combined(
    c: Converter, kind: type[arith.AddiOp | arith.AndIOp], tiles: Sequence[SSAValue]
) -> SSAValue:
    found, *others = tiles
    for tile in others:
        found = c.insert(binary_op(kind, found, tile)).result
    return found


def _below(c: Converter, coordinate: SSAValue, extent: SSAValue) -> SSAValue:
    return c.insert(comparison(coordinate, extent, "ult")).result


def padding_tile(c: Converter, view: GatherScatterViewType) -> SSAValue | None:
    """Return the elements that the array does not have, None if the view says nothing of them."""
    padding, element = view.padding_value, view.tensor_view.element_type
    if not isinstance(padding, PaddingValueAttr):
        return None
    return c.splat(
        c.insert(constant_op(_number(padding.data, element))).result, view.get_tile_shape()
    )


def _number(padding: PaddingValue, element: Attribute) -> IntegerAttr | FloatAttr[Any]:
    if isinstance(element, IntegerType):
        return integer_attr(0, cast("IntegerType", element))
    return FloatAttr(_NUMBERS[padding], cast(Any, element))


def _coordinates(
    c: Converter, position: SSAValue, axis: int, shape: Sequence[int], wide: bool
) -> SSAValue:
    """Return the coordinate along an axis of each element, as i64.

    Sums of i32 that wrap around are behind the end of what fewer than 2^31 elements reach.
    """
    if not shape_of(position.type):
        position = _as_i64(c, position) if wide else position
        range_type = tensor_of(position.type, (shape[axis],))
        steps = c.insert(shapes.MakeRangeOp(0, shape[axis], range_type)).result
        first = c.splat(position, (shape[axis],))
        position = c.insert(binary_op(arith.AddiOp, first, steps)).result
    for other in range(len(shape)):
        if other != axis:
            position = c.insert(shapes.ExpandDimsOp(position, other)).result
    if element_of(position.type) != i64:
        position = c.by_element(i64, [position], partial(_as_i64, c))
    if shape_of(position.type) == tuple(shape):
        return position
    return c.insert(shapes.BroadcastOp(position, shape)).result


def _as_i64(c: Converter, number: SSAValue | int) -> SSAValue:
    if isinstance(number, int):
        return c.insert(constant_op(integer_attr(number, i64))).result
    return number if number.type == i64 else c.insert(cast_op(arith.ExtSIOp, number, i64)).result
