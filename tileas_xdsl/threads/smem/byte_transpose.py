"""Transpose a tile of bytes from shared memory to shared memory, as pairs of bytes.

wgmma reads 8-bit operands K-major only, and matrices of ldmatrix and stmatrix have 16-bit elements.
A warp moves blocks of 32 rows and 16 columns of the source:

    ldmatrix.x4.trans   lane 4 r + q gets the columns 2 r, 2 r + 1 of two rows, four times:
                        a = rows 4 q, 4 q + 1;  b = rows 4 q + 2, 4 q + 3 (and 16 rows on)
    prmt x 4            column 2 r of rows 4 q .. 4 q + 3, and column 2 r + 1 of them
    stmatrix.x4         16 bytes of each column, which is a row of the result

Lanes give the addresses of rows, so they may come in any order.  With the one above, the rows of a
matrix would be 0, 1, 4, 5, 8, ..: two of them in the same banks, as swizzles repeat after 8 rows.
Instead lanes q >= 2 get `b` first, and lanes r >= 4 write the odd column first: matrices have the
rows 0, 1, 4, 5, 10, 11, 14, 15 and the columns 0, 2, 4, 6, 9, 11, 13, 15, without bank conflicts.

Where the rows come in the order of sums (`depth_order.py`), a is rows 2 q, 2 q + 1 and b 8 rows on.
"""

from __future__ import annotations

from math import gcd

from xdsl.dialects.builtin import VectorType, i32
from xdsl.ir import SSAValue

from tileas_xdsl.dialects.cute_nvgpu import LdsmOp, PrmtOp, StsmOp
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    divide,
    i32_constant,
    is_less,
    modulo,
    multiply,
    xor,
)
from tileas_xdsl.threads.codegen.lowered_values import SharedTile
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.structured_control_flow import predicated
from tileas_xdsl.threads.codegen.thread_ids import lane_id, warp_id
from tileas_xdsl.threads.registers.vector_values import element, joined
from tileas_xdsl.threads.smem.stmatrix_epilogue import SwizzledRow

BLOCK_ROWS = 32
BLOCK_COLUMNS = 16
"""Rows and columns of the source, in bytes, that a warp transposes at once."""

EVEN_BYTES = 0x6420
"""Selects the bytes 0 and 2 of two words; its digits plus 1 select the bytes 1 and 3."""

NEXT_BYTE = 0x1111
OTHER_WORD = 0x4444
"""What turns a selector into that of the odd bytes, and of the words exchanged."""

MATRIX = 8
WORDS = VectorType(i32, [4])


def has_whole_blocks(shape: tuple[int, ...], bits: int) -> bool:
    """Whether a tile of rows of `bits`-bit elements consists of whole blocks."""
    if len(shape) != 2 or bits != 8:
        return False
    return shape[0] % BLOCK_ROWS == 0 and shape[1] % BLOCK_COLUMNS == 0


def transpose_bytes(e: ThreadBuilder, source: SharedTile, target: SharedTile) -> None:
    """Write the transpose of a tile of bytes; the caller synchronises before and behind."""
    across = gcd(e.agent.warps, source.layout.panel // BLOCK_COLUMNS)
    along = gcd(e.agent.warps // across, target.layout.panel // BLOCK_ROWS)
    used = across * along
    if used == e.agent.warps:
        _blocks(e, source, target, (along, across))
        return
    with predicated(e, is_less(e, warp_id(e), i32_constant(e, used))):
        _blocks(e, source, target, (along, across))


def _blocks(
    e: ThreadBuilder, source: SharedTile, target: SharedTile, warps: tuple[int, int]
) -> None:
    """All pieces of a warp, where so many warps are along the rows and across the columns."""
    (along, across), (rows, columns) = warps, (source.height, source.layout.columns)
    lane, warp = lane_id(e), warp_id(e)
    row = multiply(e, modulo(e, divide(e, warp, across), along), BLOCK_ROWS)
    column = multiply(e, modulo(e, warp, across), BLOCK_COLUMNS)
    first = _selector(e, lane)
    selectors = first, xor(e, first, i32_constant(e, NEXT_BYTE))
    from_row = _source_row(e, lane, of_sums=target.is_in_order_of_sums)
    loads = SwizzledRow(e, source, add(e, row, from_row), column, 16)
    from_column, from_row = _target_place(e, lane)
    stores = SwizzledRow(e, target, add(e, column, from_column), add(e, row, from_row), 16)
    for down in range(0, rows, BLOCK_ROWS * along):
        for right in range(0, columns, BLOCK_COLUMNS * across):
            pointer, distance = loads.at(down, right)
            loaded = e.insert(LdsmOp(advance(e, pointer, distance), WORDS, 4, True)).result
            words = _transposed_words(e, loaded, selectors)
            pointer, distance = stores.at(right, down)
            e.insert(StsmOp(advance(e, pointer, distance), words, 4, False))


def _transposed_words(
    e: ThreadBuilder, loaded: SSAValue, selectors: tuple[SSAValue, SSAValue]
) -> SSAValue:
    a, b, c, d = (element(e, loaded, k) for k in range(4))
    made = [e.insert(PrmtOp(*pair, by)).result for pair in ((a, b), (c, d)) for by in selectors]
    return joined(e, made)


def _selector(e: ThreadBuilder, lane: SSAValue) -> SSAValue:
    """The bytes of the column that a lane writes first, whose rows it may have exchanged."""
    odd = multiply(e, divide(e, lane, 16), NEXT_BYTE)
    exchanged = multiply(e, modulo(e, divide(e, lane, 2), 2), OTHER_WORD)
    return xor(e, xor(e, i32_constant(e, EVEN_BYTES), odd), exchanged)


def _source_row(e: ThreadBuilder, lane: SSAValue, *, of_sums: bool) -> SSAValue:
    """The row of which a lane gives the address: row r of matrix m, with r = 2 q + i.

    It is 16 (m / 2) + 4 q + i + 2 (m % 2), where `b` is matrix 0 for q >= 2; in the order of sums
    16 (m / 2) + 2 q + i + 8 (m % 2).
    """
    matrix, r = divide(e, lane, MATRIX), modulo(e, lane, MATRIX)
    pair, within = divide(e, r, 2), modulo(e, r, 2)
    half = xor(e, modulo(e, matrix, 2), divide(e, pair, 2))
    in_pair, apart = (2, 8) if of_sums else (4, 2)
    row = add(e, multiply(e, pair, in_pair), add(e, within, multiply(e, half, apart)))
    return add(e, row, multiply(e, divide(e, matrix, 2), 16))


def _target_place(e: ThreadBuilder, lane: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The column, and the first of its 16 rows, of which a lane gives the address.

    Row r of matrix m is column 2 r + (m % 2), the other one of the two for r >= 4.
    """
    matrix, r = divide(e, lane, MATRIX), modulo(e, lane, MATRIX)
    odd = xor(e, modulo(e, matrix, 2), divide(e, r, 4))
    return add(e, multiply(e, r, 2), odd), multiply(e, divide(e, matrix, 2), 16)
