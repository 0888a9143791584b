"""What types become: tiles are tensors, those of rank 0 scalars; tensor views are arrays."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import (
    Float4E2M1FNType,
    Float8E4M3FNType,
    IntegerType,
    TensorType,
    i8,
)
from xdsl.ir import Attribute

from tileas_xdsl.dialects.cuda_tile.types.tile_types import PtrType, TileType, TokenType
from tileas_xdsl.dialects.cuda_tile.types.view_types import TensorViewType
from tileas_xdsl.dialects.nv_tileaa import types as aa
from tileas_xdsl.dialects.nv_tileaa.memory.views import array_type

GLOBAL = 1
"""The address space of global memory, as LLVM numbers them for NVPTX."""


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
    """The type of the value that takes the place of one of `cuda_tile`."""
    match type_:
        case TileType():
            element = element_type(type_.element_type)
            return TensorType(element, type_.get_shape()) if type_.rank else element
        case TokenType():
            return aa.AAMemTokenType()
        case TensorViewType():
            return array_type(type_.element_type, type_.get_shape(), type_.get_strides())
        case _:
            return type_
