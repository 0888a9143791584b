"""Whether a sub-view keeps the layout of its buffer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import FixedBitwidthType, TensorType
from xdsl.ir import Attribute

from tileas_xdsl.dialects.nv_tileas.attributes import LayoutAttr, LinearEncoding, SharedEncoding
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import product_each
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.layout.tables import Table

AnyLayout: TypeAlias = MemoryLayout | Layout


def layout_of(type_: Attribute) -> AnyLayout | None:
    """Return the layout of a buffer in shared or tensor memory; None if its type has none."""
    match type_:
        case TensorType(encoding=SharedEncoding() | LinearEncoding() as encoding):
            return encoding.data
        case TiledViewType(layout=LayoutAttr(data=MemoryLayout() as layout)):
            return layout
        case _:
            return None


def shows_in_place(whole: Attribute, part: Attribute, offset: int | None) -> bool:
    """Whether a view as `part`, `offset` elements after the beginning of `whole`, finds its own.

    Elements are counted row-major; an offset that is not known is that of some slot, which begins
    a multiple of the part's size after the beginning.  A type without a layout takes any.
    """
    outer, inner = layout_of(whole), layout_of(part)
    if outer is None or inner is None:
        return True
    if outer == inner and shape_of(whole) == shape_of(part) and offset == 0:
        return True
    element = element_of(whole)
    if not isinstance(outer, MemoryLayout) or not isinstance(inner, MemoryLayout):
        return outer == inner
    if not isinstance(element, FixedBitwidthType):
        return False
    # Types may differ and still place each element at one address; so addresses are compared,
    # element by element, and not layouts.
    there, here = _addresses(outer, whole, element), _addresses(inner, part, element)
    if there is None or here is None:
        return False
    return all(_agree(there, here, start) for start in _starts(offset, len(there), len(here)))


def _addresses(layout: MemoryLayout, type_: Attribute, element: FixedBitwidthType) -> Table | None:
    """The bit address of every element of a tile, row-major; None if it is no layout of it."""
    shape = shape_of(type_)
    if tuple(product_each(layout.shape)) != shape:
        return None
    try:
        addresses = layout.bit_addresses(element.bitwidth)
    except LayoutError:
        return None
    return addresses.reshape(shape, order="F").reshape(-1)


def _starts(offset: int | None, there: int, here: int) -> Sequence[int]:
    return range(0, there - here + 1, here) if offset is None else [offset % there]


def _agree(there: Table, here: Table, start: int) -> bool:
    found = there[start : start + len(here)]
    return len(found) == len(here) and bool(np.all(found - found[0] == here - here[0]))
