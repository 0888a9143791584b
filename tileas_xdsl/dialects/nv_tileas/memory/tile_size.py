"""How large the tile is that a memory operation moves."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr, atom_of
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of

MAX_TILE_ELEMENTS = 0x1000000


def tile_size(view: Attribute, atom: AtomAttr | None) -> tuple[int, ...] | None:
    """The extents of the tile: the box of the atom if it has one, else the shape of the view.

    A box counts from the innermost dimension, a shape ends with it.
    """
    data = atom_of(atom)
    if isinstance(data, TmaAtom) and data.box:
        return tuple(reversed(data.box))
    return shape_of(view)


def size_mismatch(size: tuple[int, ...], shape: tuple[int, ...]) -> str | None:
    """How a tile of `size` differs from a value of `shape`; what is not constant matches."""
    if DYNAMIC_INDEX in size:
        return None
    if prod(size) != prod(shape):
        return message("nv_tileas.tile_size.same_size")
    if size != shape:
        return message("nv_tileas.tile_size.same_shape")
    return None


def size_problem(size: tuple[int, ...]) -> str | None:
    """Why no tile has these extents, None if one may: positive, powers of two, not too many."""
    listed = ", ".join("?" if extent == DYNAMIC_INDEX else str(extent) for extent in size)
    if any(extent <= 0 for extent in size):
        return message("cuda_tile.tile.dimensions_positive", shape=listed)
    if any(extent & (extent - 1) for extent in size):
        return message("cuda_tile.tile.dimensions_powers_of_two", shape=listed)
    if prod(size) > MAX_TILE_ELEMENTS:
        return message("cuda_tile.tile.too_large", limit=MAX_TILE_ELEMENTS)
    return None
