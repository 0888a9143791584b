"""Checks of layout encodings of tile types, made when a tile is converted to one.

An encoding must be a layout of the tile: it has the tile's extents, and no two elements share a
place (a byte of shared memory, a register of a thread, a column of a tensor memory lane).  Register
layouts may hold an element several times, counted by a last mode.  A slice keeps the encoding of
its tile, so that what a value has may be the layout of a larger tile; what it gets may not.
"""

from __future__ import annotations

from math import prod

from xdsl.ir import Attribute, Operation

from tileas_xdsl.dialects.nv_tileas.attributes import (
    BlockedEncoding,
    DotOperandEncoding,
    LinearEncoding,
    SharedEncoding,
)
from tileas_xdsl.dialects.nv_tileas.spaces import Tile
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.layout import Layout, LayoutError, table
from tileas_xdsl.layout.axes import terms_of
from tileas_xdsl.layout.int_tuple import product_each
from tileas_xdsl.layout.tables import flat_table, is_injective

_GOOD: dict[tuple[int, bool], Attribute] = {}
"""Types whose encoding is right, by identity and `of_slice`: looking one up costs nothing."""

_MAX_GOOD = 4096


def check_encoding(op: Operation, type_: Attribute, *, of_slice: bool = False) -> None:
    """Raise a fault at `op` unless the encoding of a tile type is a layout of such a tile.

    With `of_slice`, it may be a layout of a tile that this one is a part of.
    """
    key = id(type_), of_slice
    if key in _GOOD:
        return
    tile = as_tile(type_)
    problem = None if tile is None else encoding_problem(tile, of_slice=of_slice)
    if tile is not None and problem is not None:
        raise fault(op, f"{tile.encoding} is no layout of a {_extents(tile)} tile: {problem}")
    if len(_GOOD) >= _MAX_GOOD:
        _GOOD.clear()
    _GOOD[key] = type_


def encoding_problem(type_: Tile, *, of_slice: bool) -> str | None:
    """What is wrong with the encoding of a tile; None for a right one, and where there is none."""
    match type_.encoding:
        case SharedEncoding() as shared:
            layout, extra = shared.data.layout, 0
        case BlockedEncoding() | DotOperandEncoding() | LinearEncoding() as placed:
            layout, extra = placed.data, 1
        case _:
            return None
    whole, shape = product_each(layout.shape), type_.get_shape()
    rank = len(shape)
    if not rank <= len(whole) <= rank + extra or not _fits(shape, whole, of_slice):
        return f"it maps {'x'.join(map(str, whole)) or 'a scalar'}"
    return _problem(layout, whole[:rank])


def _fits(shape: tuple[int, ...], whole: tuple[int, ...], of_slice: bool) -> bool:
    pairs = zip(shape, whole, strict=False)
    return all(n == m or (of_slice and n < m) for n, m in pairs)


def _problem(layout: Layout, shape: tuple[int, ...]) -> str | None:
    for extent, stride in layout.leaves():
        if extent > 1 and any(k < 0 for _, k in terms_of(stride)):
            return f"stride {stride} is negative"
    try:
        return None if is_injective(layout) else _collision(layout, shape)
    except LayoutError as error:
        return str(error)


def _collision(layout: Layout, shape: tuple[int, ...]) -> str | None:
    """Return two elements with one location; replicas of an element may share theirs."""
    holder: dict[int, int] = {}
    for index, key in enumerate(flat_table(layout).tolist()):
        element = index % prod(shape)
        other = holder.setdefault(key, element)
        if other != element:
            first, second = _coordinate(other, shape), _coordinate(element, shape)
            return f"elements {first} and {second} are both at {_location(layout, index)}"
    return None


def _coordinate(index: int, shape: tuple[int, ...]) -> list[int]:
    """The coordinate of a colexicographic index."""
    coordinate: list[int] = []
    for extent in shape:
        index, digit = divmod(index, extent)
        coordinate.append(digit)
    return coordinate


def _location(layout: Layout, index: int) -> str:
    """Return where a layout puts an element: an offset, or one number per axis."""
    axes = layout.axes()
    if not any(axes):
        return f"offset {table(layout)[index]}"
    return ", ".join(f"{axis} {table(layout, axis)[index]}" for axis in axes)


def _extents(type_: Tile) -> str:
    return "x".join(map(str, type_.get_shape())) or "scalar"
