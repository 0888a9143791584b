"""Views that keep the rows of a tile: leading dimensions are dropped, added, merged or split.

`view %x : tensor<1x1x64x128xf16> -> tensor<64x128xf16>` shows 64 rows of 128 elements either way.
A tile in shared memory is panels of rows, so such a view is the same memory in the same order.
"""

from __future__ import annotations

from math import prod

from xdsl.ir import Operation

from tileas_xdsl.dialects.nv_tileas.compute.scale_tiles import is_rearranged
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import Tile
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile


def keeps_rows(op: Operation) -> bool:
    """Return whether a view of a whole tile has as many rows, of as many elements each."""
    if not isinstance(op, ViewOp) or not op.is_whole or is_rearranged(op.result.type):
        return False
    source, result = as_tile(op.source.type), as_tile(op.result.type)
    return source is not None and result is not None and _rows(source) == _rows(result)


def _rows(tile: Tile) -> tuple[int, int]:
    shape = tile.get_shape()
    return prod(shape[:-1]), prod(shape[-1:])
