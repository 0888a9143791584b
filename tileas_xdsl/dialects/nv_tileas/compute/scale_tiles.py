"""Tiles of block scales, seen as matrices although memory holds them in atoms.

    tensor<128x8xf8E8M0FNU, #nv_tileas.shared<((32,4),(4,2)),((16,4),(1,512))>>

holds the scales of 128 rows, 8 for each: two atoms of 512 bytes (`target.block_scales.SCALE_ATOM`),
one row of atoms after another.  Scales of B are K/v x N, with the modes swapped.  A view with such
a type maps its coordinates to element indices of the tile that it is a view of.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.attributes import SharedEncoding
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import is_transposed
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.layout.int_tuple import product_each
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.tables import table
from tileas_xdsl.target.mma.block_scales import ATOM_ROWS, ATOM_SCALES, atoms_layout

_SCALE_BITS = 8


@dataclass(frozen=True, slots=True)
class ScaleTile:
    """Scales in whole atoms."""

    rows: int
    """Rows of A, or columns of B."""
    scales: int
    """Scales of each of them."""
    is_of_b: bool
    """Whether the tile is scales x rows."""

    @property
    def row_atoms(self) -> int:
        """How many atoms there are along the rows."""
        return self.rows // ATOM_ROWS

    @property
    def k_atoms(self) -> int:
        """How many atoms there are along K."""
        return self.scales // ATOM_SCALES


def scale_tile(type_: Attribute) -> ScaleTile | None:
    """The scales that a type shows; None where it is of any other tile, or laid out otherwise."""
    tile = as_tile(type_)
    if tile is None or not isinstance(tile.encoding, SharedEncoding):
        return None
    memory, shape = tile.encoding.data, tuple(tile.get_shape())
    if memory.swizzle is not None or len(shape) != 2 or product_each(memory.shape) != shape:
        return None
    if getattr(tile.element_type, "bitwidth", 0) != _SCALE_BITS:
        return None
    return _recognised(memory.layout, shape[0], shape[1])


@lru_cache(maxsize=256)
def _recognised(layout: Layout, first: int, second: int) -> ScaleTile | None:
    for rows, scales, is_of_b in ((first, second, False), (second, first, True)):
        if rows % ATOM_ROWS or scales % ATOM_SCALES or not rows or not scales:
            continue
        wanted = _numbers(atoms_layout(rows, scales), (rows, scales))
        found = _numbers(layout, (first, second))
        if np.array_equal(found, wanted.T if is_of_b else wanted):
            return ScaleTile(rows, scales, is_of_b)
    return None


def scale_numbers(type_: Attribute) -> NDArray[np.int64] | None:
    """Return, by coordinate, the index of the element shown; None for a tile without scales."""
    found = scale_tile(type_)
    if found is None:
        return None
    numbers = _numbers(atoms_layout(found.rows, found.scales), (found.rows, found.scales))
    return numbers.T if found.is_of_b else numbers


def is_rearranged(type_: Attribute) -> bool:
    """Whether a view with this type shows elements in another order: a transpose, or scales."""
    return is_transposed(type_) or scale_tile(type_) is not None


def _numbers(layout: Layout, shape: tuple[int, int]) -> NDArray[np.int64]:
    """`(rows, columns)` offsets of a layout."""
    return np.asarray(table(layout)).reshape(shape[::-1]).T
