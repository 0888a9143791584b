"""What types become: tiles are tensors, those of rank 0 scalars; tensor views are arrays."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    Float4E2M1FNType,
    Float8E4M3FNType,
    IntegerType,
    i8,
)
from xdsl.ir import Attribute

from tileas_xdsl.dialects.cuda_tile.types.tile_types import PtrType, TileType, TokenType
from tileas_xdsl.dialects.cuda_tile.types.view_types import TensorViewType
from tileas_xdsl.dialects.element_bits import bits_of
from tileas_xdsl.dialects.interned import tensor_of
from tileas_xdsl.dialects.nv_tileaa import types as aa
from tileas_xdsl.dialects.nv_tileaa.memory.views import array_type

GLOBAL = 1
"""The address space of global memory, as LLVM numbers them for NVPTX."""

_ALIGNED_BITS = 128
"""What strides of tensor maps are multiples of, and the widest access of a thread."""


WIDENED: Mapping[Attribute, Attribute] = {
    IntegerType(4): i8,
    Float4E2M1FNType(): Float8E4M3FNType(),
}
"""What elements of 4 bits become: the smallest that a register or a byte holds alone."""


def element_type(type_: Attribute) -> Attribute:
    """The element of a tile: numbers stay what they are, but for those of 4 bits."""
    if isinstance(type_, PtrType):
        return aa.PtrType(type_.pointee, GLOBAL)
    return WIDENED.get(type_, type_)


def converted_type(type_: Attribute) -> Attribute:
    """Return what a type of `cuda_tile` is converted to."""
    match type_:
        case TileType():
            element = element_type(type_.element_type)
            return tensor_of(element, type_.get_shape()) if type_.rank else element
        case TokenType():
            return aa.AAMemTokenType()
        case TensorViewType():
            strides = [stride_along(type_, axis) for axis in range(len(type_.get_shape()))]
            return array_type(type_.element_type, type_.get_shape(), strides)
        case _:
            return type_


def stride_along(view: TensorViewType, axis: int) -> int:
    """The stride of an array in elements, `DYNAMIC_INDEX` for one that a launch gives.

    No address depends on that of a dimension of extent 1, about which front ends promise nothing,
    and which of an argument may be any number.  It becomes one that vectors and TMA can use:

        tensor_view<1x?x?xf16, strides=[?,?,1]>   memref<1x?x?xf16, strided<[8, ?, 1]>>
    """
    stride, shape = view.get_strides()[axis], view.get_shape()
    if stride != DYNAMIC_INDEX or shape[axis] != 1:
        return stride
    return 1 if axis == len(shape) - 1 else _ALIGNED_BITS // bits_of(view.element_type)
