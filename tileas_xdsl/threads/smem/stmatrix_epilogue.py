"""The epilogue of a matrix product: accumulators from registers to swizzled rows of shared memory.

16-bit elements are stored by `stmatrix.x4`, four 8x8 matrices at once, wider ones in pairs:

    warp w, rows 16 w to 16 w + 15, columns 16 g to 16 g + 15 of the tile
    lane l names the row of matrix l / 8:   row    = 16 w + l % 8 + 8 (l / 8 % 2)
                                            column = 16 g + 8 (l / 16)
    stmatrix.sync.aligned.m8n8.x4 [address(row, column)], {r0, r1, r2, r3}

Swizzles repeat after eight rows, so that the other blocks of rows and the panels of columns are at
constant distances: an address is computed for each column inside of a panel only.
"""

from __future__ import annotations

from dataclasses import field

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import StoreOp
from tileas_xdsl.dialects.cute_nvgpu import StsmOp
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.units import WARPGROUP_WARPS
from tileas_xdsl.target.mma.warp_tiles import (
    columns_of_warpgroup,
    has_whole_rows,
    is_accumulator,
)
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, divide, modulo, multiply, xor
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile, SharedTile
from tileas_xdsl.threads.codegen.pointer_ops import advance, recast
from tileas_xdsl.threads.codegen.thread_ids import lane_id, warp_id
from tileas_xdsl.threads.registers.coordinates import (
    column_of_accumulator,
    row_of_accumulator,
    warpgroup_origin,
)
from tileas_xdsl.threads.registers.vector_values import strip
from tileas_xdsl.threads.smem.shared_tile import row_swizzle
from tileas_xdsl.threads.smem.table_driven_copy import write_by_table

MATRIX = 8
"""Rows and columns of the matrices that stmatrix stores; swizzles repeat after as many rows."""


@dataclass
class SwizzledRow:
    """The row of a tile that a thread begins with, and the column of its first element there."""

    e: ThreadBuilder
    tile: SharedTile
    row: SSAValue
    column: SSAValue
    alignment: int
    """Bytes by which what the thread writes is aligned."""
    is_in_first_panel: bool = True
    """Whether the column is in the first panel for all threads."""
    _places: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    """By the columns that the column is moved inside its panel, the pointer."""

    def at(self, down: int, right: int) -> tuple[SSAValue, int]:
        """The element `down` rows, a multiple of 8, and `right` columns on: pointer, distance.

        The pointer is one to elements of the tile, the distance counts them.
        """
        layout = self.tile.layout
        panel, inside = divmod(right, layout.panel)
        if inside not in self._places:
            self._places[inside] = self._swizzled_pointer(inside)
        rows = self.tile.first_row + down
        return self._places[inside], panel * layout.rows * layout.panel + rows * layout.panel

    def _swizzled_pointer(self, inside: int) -> SSAValue:
        """Return the shared pointer of a chunk `inside` elements behind the column of the lane."""
        e, layout = self.e, self.tile.layout
        size = layout.bits // 8
        column, before = self.column, None
        if not self.is_in_first_panel:
            before = multiply(e, divide(e, column, layout.panel), layout.panel_bytes)
            column = modulo(e, column, layout.panel)
        start = add(e, multiply(e, column, size), inside * size)
        byte = xor(e, start, row_swizzle(e, self.row, layout.swizzle))
        offset = add(e, multiply(e, self.row, layout.row_bytes), byte)
        offset = offset if before is None else add(e, offset, before)
        pointer = advance(e, self.tile.pointer, offset, self.alignment)
        return recast(e, pointer, self.tile.element)


def write_accumulators(e: ThreadBuilder, fragment: RegisterTile, tile: SharedTile) -> None:
    """Write a whole tile; the caller synchronises the threads before and after."""
    layout = fragment.layout
    assert is_accumulator(layout)
    assert isinstance(fragment.element, FixedBitwidthType)
    are_matrices = fragment.element.bitwidth == 16
    step = 2 * MATRIX if are_matrices else MATRIX
    is_cut = tile.layout.panel % step or columns_of_warpgroup(layout) % step
    if is_cut or not tile.layout.is_by_row:
        write_by_table(e, fragment, tile)
    elif are_matrices:
        _write_matrices(e, layout, fragment, tile)
    else:
        _write_pairs(e, layout, fragment, tile)


def _write_matrices(
    e: ThreadBuilder, layout: RegisterLayout, fragment: RegisterTile, tile: SharedTile
) -> None:
    """Four 8x8 matrices an instruction: two of rows by two of columns; lane `l` names a row."""
    matrix = divide(e, lane_id(e), MATRIX)
    in_matrix = add(e, modulo(e, lane_id(e), MATRIX), multiply(e, modulo(e, matrix, 2), MATRIX))
    row = add(e, in_matrix, multiply(e, modulo(e, warp_id(e), WARPGROUP_WARPS), 16))
    column = multiply(e, divide(e, matrix, 2), MATRIX)
    first_row, first_column = warpgroup_origin(e, layout)
    row = row if first_row is None else add(e, row, first_row)
    column = column if first_column is None else add(e, column, first_column)
    start = SwizzledRow(e, tile, row, column, 16, has_whole_rows(layout))
    for block, part in enumerate(fragment.parts):
        for group in range(columns_of_warpgroup(layout) // 16):
            pointer, distance = start.at(64 * block, 16 * group)
            pairs = strip(e, part, 8 * group, 8)
            e.insert(StsmOp(advance(e, pointer, distance), pairs, 4, False))


def _write_pairs(
    e: ThreadBuilder, layout: RegisterLayout, fragment: RegisterTile, tile: SharedTile
) -> None:
    row, column = row_of_accumulator(e, layout), column_of_accumulator(e, layout)
    alignment = 2 * tile.layout.bits // 8
    start = SwizzledRow(e, tile, row, column, alignment, has_whole_rows(layout))
    for block, part in enumerate(fragment.parts):
        for half in range(2):
            for group in range(columns_of_warpgroup(layout) // MATRIX):
                pointer, distance = start.at(64 * block + 8 * half, MATRIX * group)
                pair = strip(e, part, 4 * group + 2 * half, 2)
                e.insert(StoreOp(pair, pointer, offset=distance))
