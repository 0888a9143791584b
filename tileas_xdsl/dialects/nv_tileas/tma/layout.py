"""Buffers in shared memory with a layout in their type, as TMA fills them.

One instruction moves a box, and the boxes of a buffer are adjacent: rows at irregular offsets, or
rows that a swizzle splits, would take an instruction each.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.attributes import LayoutAttr, SharedEncoding
from tileas_xdsl.dialects.nv_tileas.enums import SwizzleMode
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import product_each
from tileas_xdsl.layout.memory.elements import element_type
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.tma.tensor_map_rules import BOX_LIMIT
from tileas_xdsl.target.tma.tma_box import TmaBox, tma_box


def check_shared_layout(op: Operation, buffer: Attribute, swizzle: SwizzleMode | None) -> None:
    """TMA can fill the buffer as it is laid out, with the swizzle of the descriptor."""
    layout = shared_layout(buffer)
    if layout is None:
        return
    mode = next(name for name, s in BYTE_SWIZZLES.items() if s == layout.byte_swizzle)
    try:
        fits = _is_filled(layout, shape_of(buffer) or (), bits_of(element_of(buffer)), mode)
    except (TargetError, LayoutError) as error:
        raise op_error(op, message("nv_tileas.tma.smem_layout")) from error
    if not fits:
        raise op_error(op, message("nv_tileas.tma.smem_layout"))
    if swizzle is not None and swizzle.value != mode:
        raise op_error(
            op, f"the descriptor swizzles by {swizzle.value}, but the buffer is laid out by {mode}"
        )


def shared_layout(buffer: Attribute) -> MemoryLayout | None:
    """Return the layout of a buffer; None if its type has none."""
    if isinstance(buffer, TiledViewType) and isinstance(buffer.layout, LayoutAttr):
        return buffer.layout.data
    if isinstance(buffer, TensorType) and isinstance(buffer.encoding, SharedEncoding):
        return buffer.encoding.data
    return None


def _is_filled(layout: MemoryLayout, shape: Sequence[int], bits: int, mode: str) -> bool:
    """Whether the layout is one of the buffer, and boxes of TMA fill it."""
    if layout.elem and element_type(layout.elem).bits != bits:
        return False
    extents = product_each(layout.layout.shape)
    if extents != tuple(shape):
        return False
    return _boxes_fill(tma_box(layout.layout, bits, mode), extents)


def _boxes_fill(found: TmaBox, extents: Sequence[int]) -> bool:
    """Whether boxes go on from the last dimension to the first, each extent as far as it may.

    Rows may be cut into columns of boxes; beyond an extent that is too long for a box, instructions
    begin anew.
    """
    outward = [mode for mode in reversed(range(len(extents))) if extents[mode] > 1]
    reached = dict(zip(found.modes, found.box, strict=True))
    walked = [mode for mode in found.modes if reached[mode] > 1]
    if walked != outward[: len(walked)]:
        return False
    for mode in outward[1:]:
        if reached[mode] != largest_box_extent(extents[mode]):
            return False
        if reached[mode] != extents[mode]:
            break
    return True


def largest_box_extent(extent: int) -> int:
    """The largest extent that a box can have and that divides `extent`."""
    return max(part for part in range(1, min(extent, BOX_LIMIT) + 1) if extent % part == 0)
