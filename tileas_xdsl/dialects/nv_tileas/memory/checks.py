"""Steps of the verifiers of tiled memory operations: what is accessed, where, how much of it.

Source of the order: TileAS TMA and Memops Family, skeleton of `verify_tiled_memop`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.tile_size import size_mismatch, size_problem, tile_size
from tileas_xdsl.dialects.nv_tileas.spaces import (
    OrderingToken,
    element_of,
    scalar_type_of,
    shape_of,
    space_of,
)
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType
from tileas_xdsl.layout.integers import is_power_of_two

LEADING_COORDINATES = {"im2col": 1, "im2col_at": 1}
"""Coordinates beside the view's own that a TMA mode takes: the offset of the leading dimension."""


def check_tokens(op: Operation, token: SSAValue | None, out_token: SSAValue | None) -> None:
    """A token is ordered after another one, and there is one after iff there is one before."""
    if token is not None and not isinstance(token.type, OrderingToken):
        raise op_error(op, f"expects a memory token or an asynchronous token, but got {token.type}")
    if (token is None) != (out_token is None):
        taken, given = (0 if value is None else 1 for value in (token, out_token))
        raise op_error(op, f"gives a token iff it takes one, but takes {taken} and gives {given}")
    if token is not None and out_token is not None and token.type != out_token.type:
        raise op_error(op, f"takes a token {token.type}, but gives {out_token.type}")


def check_view(op: Operation, view: Attribute) -> None:
    """What is accessed is in memory: a view, a memref, or a tile in shared or tensor memory."""
    if shape_of(view) is None:
        raise op_error(op, f"expects a tiled view, a memref or a tile in memory, but got {view}")
    space = space_of(view)
    if space is Space.RMEM or (isinstance(view, TensorType) and space is None):
        raise op_error(op, f"expects a place in memory, but {view} is in registers")


def check_tile(op: Operation, tile: Attribute) -> None:
    """Raise unless what is moved is a tile with constant extents."""
    if not isinstance(tile, TensorType) or not tile.has_static_shape():
        raise op_error(op, f"expects a tile with constant extents, but got {tile}")


def check_same_tile(op: Operation, value: Attribute, result: Attribute) -> None:
    """The tile that an update gives is like the one that it takes; layouts may differ."""
    check_tile(op, result)
    if (element_of(value), shape_of(value)) != (element_of(result), shape_of(result)):
        raise op_error(op, f"takes a tile {value}, but gives {result}")


def delivered_by(op: Operation, token: Attribute) -> Attribute:
    """The tile that the token of an asynchronous load delivers."""
    if not isinstance(token, AsyncTokenType) or token.delivered is None:
        raise op_error(op, f"expects a token that delivers a tile, but got {token}")
    return token.delivered


def check_tile_size(op: Operation, view: Attribute, atom: AtomAttr, tile: Attribute) -> None:
    """The size of a tile of the view is that of the value."""
    size, shape = tile_size(view, atom), shape_of(tile)
    assert size is not None
    assert shape is not None
    if (mismatch := size_mismatch(size, shape)) is not None:
        raise op_error(op, mismatch)


def coordinate_count(view: Attribute, atom: AtomAttr) -> int:
    """Return the number of coordinates that locate a tile of `view`."""
    shape = shape_of(view)
    assert shape is not None
    extra = LEADING_COORDINATES.get(atom.data.mode, 0) if isinstance(atom.data, TmaAtom) else 0
    return len(shape) + extra


def check_coordinates(op: Operation, coords: Sequence[SSAValue], count: int) -> None:
    """As many coordinates as needed, each of the index type."""
    if len(coords) != count:
        text = message("nv_tileas.coords.count", expected=count, given=len(coords))
        raise op_error(op, text)
    check_index_types(op, coords)


def check_index_types(op: Operation, coords: Sequence[SSAValue]) -> None:
    """Coordinates have the index type."""
    for coordinate in coords:
        if not isinstance(coordinate.type, IndexType):
            raise op_error(op, message("nv_tileas.coords.index_type", type=coordinate.type))


def check_offsets(op: Operation, offsets: Sequence[SSAValue], count: int) -> None:
    """No offsets, or one for each coordinate."""
    if offsets and len(offsets) != count:
        raise op_error(op, f"expects no offsets or {count}, but got {len(offsets)}")
    check_index_types(op, offsets)


def check_rotation(
    op: Operation,
    rotated: IntegerAttr | None,
    offsets: Sequence[SSAValue],
    tile: Attribute,
    mask: SSAValue | None = None,
) -> None:
    """A rotated tile is in registers, has an offset, and a promise that is a power of two."""
    if rotated is None:
        return
    promise = rotated.value.data
    if promise < 1 or promise & (promise - 1):
        raise op_error(op, f"promises an alignment, a power of two, not {promise}")
    if mask is not None:
        raise op_error(op, "rotates rows, but has a mask of rows that are not rotated")
    if not offsets:
        raise op_error(op, "rotates rows by the offset of the last dimension, but has no offsets")
    if space_of(tile) not in (None, Space.RMEM):
        raise op_error(op, f"rotates rows in registers, not in {tile}")


def check_row_width(
    op: Operation, width: IntegerAttr | None, rotated: IntegerAttr | None, tile: Attribute
) -> None:
    """Rows whose parts are rotated together have a power of two of them."""
    if width is None:
        return
    if rotated is None:
        raise op_error(op, "says how wide rows are that it does not rotate")
    part, whole = (shape_of(tile) or (1,))[-1], width.value.data
    if whole < part or whole % part or not is_power_of_two(whole // part):
        raise op_error(op, f"rotates rows of {whole} columns in parts of {part}")


def check_modulus(
    op: Operation, modulus: IntegerAttr | None, rotated: IntegerAttr | None, tile: Attribute
) -> None:
    """Rows are rotated by less than a power of two of columns, which they have."""
    if modulus is None:
        return
    if rotated is None:
        raise op_error(op, "says by how much rows are rotated at most, but rotates none")
    columns, width = modulus.value.data, (shape_of(tile) or (1,))[-1]
    if not is_power_of_two(columns) or columns > width:
        raise op_error(op, f"rotates rows of {width} columns by less than {columns}")


def check_elements(op: Operation, view: Attribute, tile: Attribute) -> None:
    """Raise unless view and tile have the same element type."""
    first, second = element_of(view), element_of(tile)
    if first != second:
        text = message("nv_tileas.element_types.differ", view=first, tensor=second)
        raise op_error(op, text)


def check_tile_dimensions(op: Operation, size: tuple[int, ...] | None) -> None:
    """Extents are constants, powers of two, and not too many elements."""
    assert size is not None
    if (problem := size_problem(size)) is not None:
        raise op_error(op, problem)


def check_mask(op: Operation, mask: SSAValue | None, tile: Attribute) -> None:
    """A mask has one bit for each element of the tile, or one for a scalar."""
    if mask is None:
        return
    if scalar_type_of(mask.type) != IntegerType(1) or shape_of(mask.type) != shape_of(tile):
        raise op_error(op, f"expects a mask of i1 in the shape of {tile}, but got {mask.type}")
