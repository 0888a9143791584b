"""Tiles in shared memory that are read as their transposes.

`tensor<64x128xf16, #nv_tileas.shared<(64,128),(1,64)>>` is a tile of 64 x 128 whose columns are the
rows of memory: a view of 128 rows of 64 elements.  Rows may be cut into panels, and swizzled.
"""

from __future__ import annotations

from xdsl.ir import Attribute

from tileas_xdsl.dialects.nv_tileas.attributes import SharedEncoding
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.layout.int_tuple import product_each
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.target.mma.canonical import Major


def transposed_encoding(rows: int, columns: int) -> SharedEncoding:
    """Return the encoding of a matrix that is dense in shared memory, column after column."""
    return SharedEncoding(MemoryLayout(Layout((rows, columns), (1, rows))))


def is_dense_transpose(type_: Attribute) -> bool:
    """Whether a type is a matrix of `transposed_encoding`: no panels, and not swizzled."""
    tile = as_tile(type_)
    if tile is None or len(tile.get_shape()) != 2:
        return False
    return tile.encoding == transposed_encoding(*tile.get_shape())


def is_transposed(type_: Attribute) -> bool:
    """Whether a type is a matrix in shared memory, column after column, perhaps in panels."""
    tile = as_tile(type_)
    if tile is None or not isinstance(tile.encoding, SharedEncoding):
        return False
    layout, shape = tile.encoding.data.layout, tuple(tile.get_shape())
    if len(shape) != 2 or product_each(layout.shape) != shape:
        return False
    return _is_column_major(layout, *shape)


def major_of(type_: Attribute, *, of_b: bool) -> Major:
    """Return along which of its dimensions an operand A (M x K) or B (K x N) is contiguous.

    Tiles lie row after row: A is K-major and B MN-major (PTX ISA), unless they are transposed.
    """
    return "k" if is_transposed(type_) == of_b else "mn"


def _is_column_major(layout: Layout, rows: int, columns: int) -> bool:
    """Whether columns are adjacent, each a run of some of the rows; other rows follow in panels."""
    (panel, step), *others = layout[0].leaves()
    if step != 1 or layout[1].leaves() != ((columns, panel),):
        return False
    if not others:
        return True
    (count, step), *deeper = others
    follows = isinstance(step, int) and step >= columns * panel
    return not deeper and count == rows // panel and follows
