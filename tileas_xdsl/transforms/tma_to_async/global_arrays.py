"""Arrays in global memory as a tensor map describes them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, NoneAttr, StridedLayoutAttr
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType

STRIDE_BYTES = 16
"""What the bytes between rows are multiples of.  Source: cuTensorMapEncodeTiled."""


def array_of(view: SSAValue) -> SSAValue:
    """The array whose tiles a view shows: coordinates of both count the same tiles."""
    while isinstance(made := view.owner, ViewOp) and _shows_all(made):
        view = made.source
    return view


def _shows_all(view: ViewOp) -> bool:
    source, result = view.source.type, view.result.type
    is_array = isinstance(source, MemRefType | TiledViewType)
    same_rank = len(shape_of(source) or ()) == len(shape_of(result) or ())
    is_plain = isinstance(result, TiledViewType) and isinstance(result.layout, NoneAttr)
    return is_array and is_plain and same_rank and view.is_whole


def stride_problem(type_: Attribute, bits: int) -> str | None:
    """Why no tensor map describes an array of this type, None if one may, as far as is known.

    Rows are adjacent elements, and begin at multiples of 16 bytes.
    """
    *outer, inner = _strides(type_) or (1,)
    if inner not in (None, 1):
        return f"TMA moves rows of adjacent elements, but these are {inner} apart"
    for stride in outer:
        if stride is not None and stride * bits % (8 * STRIDE_BYTES):
            text = f"TMA needs multiples of {STRIDE_BYTES} bytes between rows, not"
            return f"{text} {stride * bits / 8:g}"
    return None


def _strides(type_: Attribute) -> Sequence[int | None]:
    """The strides of an array as far as they are constants; nothing where they are not known."""
    if not isinstance(type_, MemRefType):
        return ()
    if isinstance(type_.layout, StridedLayoutAttr):
        return type_.layout.get_strides()
    strides: list[int | None] = [1]
    for extent in reversed(type_.get_shape()[1:]):
        last = strides[0]
        strides.insert(0, None if last is None or extent == DYNAMIC_INDEX else last * extent)
    return strides
