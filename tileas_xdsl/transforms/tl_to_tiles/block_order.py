"""In which order the blocks of a product go over its tiles, so that they share what L2 has.

Blocks that run at once, some hundred that follow each other along x, read all columns of B for few
rows of A.  In panels of 8 rows they read about as many rows as columns:

    x, y        0,0 1,0 2,0 3,0 | 0,1 ...      ->      0,0 0,1 .. 0,7 | 1,0 1,1 .. 1,7 | 2,0 ...

Which block computes which tile does not matter to a program: blocks are independent.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tileas_xdsl.transforms.tl_to_tiles.raising import INDEX, Raising

PANEL = 8
"""Rows of tiles that blocks go over before they go on to the next columns."""


def in_panels(
    state: Raising, x: SSAValue, y: SSAValue, columns: SSAValue | int, rows: SSAValue | int
) -> tuple[SSAValue, SSAValue]:
    """Return the tile of block `x, y` of a grid of `columns` by `rows`; its own in a small grid.

    The last panel has the rows that are left.
    """
    if columns == 1 or (isinstance(rows, int) and rows <= PANEL):
        return x, y
    x, y, across = state.i32(x), state.i32(y), _number(state, columns)
    along = state.insert(arith.MuliOp(y, across)).result
    number = state.insert(arith.AddiOp(along, x)).result
    height = state.constant(PANEL, i32)
    size = state.insert(arith.MuliOp(height, across)).result
    panel = state.insert(arith.DivUIOp(number, size)).result
    inside = state.insert(arith.RemUIOp(number, size)).result
    first = state.insert(arith.MuliOp(panel, height)).result
    if not isinstance(rows, int) or rows % PANEL:
        left = state.insert(arith.SubiOp(_number(state, rows), first)).result
        height = state.insert(arith.MinUIOp(left, height)).result
    row = state.insert(arith.RemUIOp(inside, height)).result
    row = state.insert(arith.AddiOp(first, row)).result
    column = state.insert(arith.DivUIOp(inside, height)).result
    return _index(state, column), _index(state, row)


def _number(state: Raising, extent: SSAValue | int) -> SSAValue:
    return state.constant(extent, i32) if isinstance(extent, int) else state.i32(extent)


def _index(state: Raising, value: SSAValue) -> SSAValue:
    return state.insert(arith.IndexCastOp(value, INDEX)).result
