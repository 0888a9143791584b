"""What the types of the dialect have in common: shape, element, and where the value lives."""

from __future__ import annotations

from typing import TypeAlias, cast

from xdsl.dialects.builtin import MemRefType, NoneAttr, TensorType
from xdsl.ir import Attribute
from xdsl.irdl import base

from tileas_xdsl.dialects.kinds import Kinds
from tileas_xdsl.dialects.nv_tileaa.types import AAMemTokenType, AATiledViewType
from tileas_xdsl.dialects.nv_tileas.attributes import (
    TENSOR_MEMORY_AXES,
    BlockedEncoding,
    DotOperandEncoding,
    LinearEncoding,
    SharedEncoding,
)
from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType, MemTokenType, TiledViewType

Tile: TypeAlias = TensorType[Attribute]
View: TypeAlias = TiledViewType | AATiledViewType | MemRefType[Attribute]
TILE = base(TensorType[Attribute])
"""The constraint of an operand or result that is a tile."""

ON_CHIP = (Space.SMEM, Space.TMEM)
"""The spaces of buffers, which are allocated for a block."""

MemToken: TypeAlias = MemTokenType | AAMemTokenType
OrderingToken: TypeAlias = MemTokenType | AAMemTokenType | AsyncTokenType


Shaped: TypeAlias = TensorType[Attribute] | MemRefType[Attribute] | TiledViewType | AATiledViewType
"""The type of a tile or of a view."""

_SHAPED = Kinds(TensorType, MemRefType, TiledViewType, AATiledViewType)


def space_of(type_: Attribute) -> Space | None:
    """Return the memory space of values of this type; None if the type leaves it open.

    A tensor without encoding is not laid out yet; a `memref` without memory space is global.
    """
    if not _SHAPED[type(type_)]:
        return None
    match type_:
        case TensorType():  # first, for most are
            return space_of_encoding(type_.encoding)
        case TiledViewType():
            return type_.space
        case MemRefType():
            space = type_.memory_space
            if isinstance(space, SpaceAttr):
                return space.data
            return Space.GMEM if isinstance(space, NoneAttr) else None
        case _:
            return None


def space_of_encoding(encoding: Attribute) -> Space | None:
    """Return the memory space that the encoding of a tile type implies; None if it implies none."""
    match encoding:
        case NoneAttr():
            return None
        case SpaceAttr():
            return encoding.data
        case SharedEncoding():
            return Space.SMEM
        case LinearEncoding() if set(encoding.data.axes()) & TENSOR_MEMORY_AXES:
            return Space.TMEM
        case BlockedEncoding() | DotOperandEncoding() | LinearEncoding():
            return Space.RMEM
        case _:
            return None


def shape_of(type_: Attribute) -> tuple[int, ...] | None:
    """The extents of a tile or view; None for other types."""
    return tuple(cast("Shaped", type_).get_shape()) if _SHAPED[type(type_)] else None


def element_of(type_: Attribute) -> Attribute | None:
    """The element type of a tile or view; None for other types."""
    return cast("Shaped", type_).get_element_type() if _SHAPED[type(type_)] else None


def scalar_type_of(type_: Attribute) -> Attribute:
    """The element type of a tile or view; a scalar, which is a tile of rank 0, is its own."""
    return element_of(type_) or type_
