"""The encodings of tile types that stand for chosen layouts."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.analysis.layouts.tile_groups import placed_tile
from tileas_xdsl.dialects.interned import tensor_of
from tileas_xdsl.dialects.nv_tileas.attributes import (
    BlockedEncoding,
    DotOperandEncoding,
    LayoutAttr,
    LinearEncoding,
    SharedEncoding,
)
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType, TiledViewType
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.transforms.assign_layouts.candidates.candidate_lists import Choice, Family

_ENCODINGS = {
    Family.BLOCKED: BlockedEncoding,
    Family.DOT_OPERAND: DotOperandEncoding,
    Family.LINEAR: LinearEncoding,
}


def encoding_of(choice: Choice) -> Attribute:
    """The encoding of tiles that are laid out so."""
    if isinstance(choice.layout, MemoryLayout):
        return SharedEncoding(choice.layout)
    return _ENCODINGS[choice.family](choice.layout)


def retype(value: SSAValue, encoding: Attribute) -> None:
    """Lay out a tile or a view, in place."""
    set_type(value, typed(value.type, encoding))


def typed(type_: Attribute, encoding: Attribute) -> Attribute:
    """The type of the same tile or view, laid out."""
    if isinstance(type_, AsyncTokenType) and type_.delivered is not None:
        return AsyncTokenType(typed(type_.delivered, encoding))
    if isinstance(type_, TiledViewType) and isinstance(encoding, SharedEncoding):
        layout = LayoutAttr(encoding.data)
        return TiledViewType(type_.shape, type_.element_type, type_.residency, layout)
    if (tile := placed_tile(type_)) is not None:
        return tensor_of(tile.element_type, tile.get_shape(), encoding)
    return type_


def set_type(value: SSAValue, type_: Attribute) -> None:
    """Give a value another type, in place."""
    value._type = type_  # pyright: ignore[reportPrivateUsage]
