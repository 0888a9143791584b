"""Tiles in shared memory that are read as their transposes.

`tensor<64x128xf16, #nv_tileas.shared<(64,128),(1,64)>>` is a tile of 64 x 128 whose columns are the
rows of memory: a view of 128 rows of 64 elements.
"""

from __future__ import annotations

from xdsl.ir import Attribute

from tileas_xdsl.dialects.nv_tileas.attributes import SharedEncoding
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile


def is_transposed(type_: Attribute) -> bool:
    """Whether a type is a matrix in shared memory, column after column, with no gaps or swizzle."""
    tile = as_tile(type_)
    if tile is None or not isinstance(tile.encoding, SharedEncoding):
        return False
    memory, shape = tile.encoding.data, tuple(tile.get_shape())
    if memory.swizzle is not None or len(shape) != 2:
        return False
    rows, columns = shape
    return memory.layout.leaves() == ((rows, 1), (columns, rows))
