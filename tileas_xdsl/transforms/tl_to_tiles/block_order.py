"""In which order the blocks of a product go over its tiles, so that they share what L2 has.

Blocks that run at once, some hundred that follow each other along x, read all columns of B for few
rows of A.  In panels of 8 rows they read about as many rows as columns:

    x, y        0,0 1,0 2,0 3,0 | 0,1 ...      ->      0,0 0,1 .. 0,7 | 1,0 1,1 .. 1,7 | 2,0 ...

Which block computes which tile does not matter to a program: blocks are independent.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from tileas_xdsl.transforms.tl_to_tiles.raising import Raising

PANEL = 8
"""Rows of tiles that blocks go over before they go on to the next columns."""


def in_panels(
    state: Raising, x: SSAValue, y: SSAValue, columns: int, rows: int
) -> tuple[SSAValue, SSAValue]:
    """Return the tile of block `x, y` of a grid of `columns` by `rows`; its own in a small grid."""
    height = next(n for n in (PANEL, PANEL // 2, PANEL // 4, 1) if rows % n == 0)
    if height == 1 or columns == 1 or rows == height:
        return x, y
    along = state.insert(arith.MuliOp(y, state.constant(columns))).result
    number = state.insert(arith.AddiOp(along, x)).result
    size = state.constant(height * columns)
    panel = state.insert(arith.DivUIOp(number, size)).result
    inside = state.insert(arith.RemUIOp(number, size)).result
    step = state.constant(height)
    first = state.insert(arith.MuliOp(panel, step)).result
    row = state.insert(arith.RemUIOp(inside, step)).result
    column = state.insert(arith.DivUIOp(inside, step)).result
    return column, state.insert(arith.AddiOp(first, row)).result
