"""Register layouts of whole tiles whose fragments a matrix instruction fixes, over warpgroups.

The fragment of one instruction is a row of `target.register_layouts`; here it is repeated over the
registers of a thread and over the warps of an agent.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd

from tileas_xdsl.layout.axes import E
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.operations.digits import Digit, layout_of_modes
from tileas_xdsl.layout.registers.register_layout import THREAD, VALUE, RegisterLayout
from tileas_xdsl.layout.units import WARP, WORD_BITS

WARPGROUP_THREADS = 4 * WARP

WGMMA_ROWS = 64
"""Rows of one wgmma instruction."""

QUAD = 4
"""Lanes that have a row of accumulators together."""

PAIR = 2
"""Adjacent columns of accumulators in a thread."""


@lru_cache(maxsize=512)
def accumulator_layout(
    m: int, n: int, warpgroups: int, *, in_pairs: bool = False
) -> RegisterLayout:
    """The accumulators of wgmma of an m x n tile: 64 rows for each instruction of a warpgroup.

    Value `i` of a thread is column `8 * (i // 4) + 2 * (lane % 4) + i % 2` of row
    `lane // 4 + 8 * (i // 2 % 2)` of its warp's 16; further instructions have the values after.

    Warpgroups share the rows, and the columns where there are fewer blocks of 64 rows than
    warpgroups: two of them have 64 x 64 each of a tile of 64 x 128.  Rows `in_pairs` are
    `2 * (lane // 4) + i // 2 % 2`.
    """
    by_row, by_column = warpgroup_grid(m, warpgroups)
    instructions, width = m // (WGMMA_ROWS * by_row), n // by_column
    rows = _rows_of_warps(PAIR, in_pairs=in_pairs)
    rows += [(instructions, E(VALUE, width // 2)), (by_row, E(THREAD, WARPGROUP_THREADS))]
    columns: list[Digit] = [(PAIR, E(VALUE)), (QUAD, E(THREAD)), (width // 8, E(VALUE, 4))]
    columns += [(by_column, E(THREAD, WARPGROUP_THREADS * by_row))] * (by_column > 1)
    return RegisterLayout(layout_of_modes(rows, columns), (m, n), WARPGROUP_THREADS * warpgroups)


@lru_cache(maxsize=512)
def fragment_layout(
    m: int, k: int, bits: int, warpgroups: int, *, in_pairs: bool = False
) -> RegisterLayout:
    """The fragments of A of `m` x `k` elements that wgmma reads from registers.

    Of 16 bits they are those of an accumulator with as many columns, whose rows may be `in_pairs`.
    """
    word = WORD_BITS // bits
    by_row, _ = warpgroup_grid(m, warpgroups)
    rows = _rows_of_warps(word, in_pairs=in_pairs)
    rows += [(m // (WGMMA_ROWS * by_row), E(VALUE, k // 2))]
    rows += [(by_row, E(THREAD, WARPGROUP_THREADS))]
    columns: list[Digit] = [(word, E(VALUE)), (QUAD, E(THREAD)), (2, E(VALUE, 2 * word))]
    columns += [(k // (8 * word), E(VALUE, 4 * word))]
    return RegisterLayout(layout_of_modes(rows, columns), (m, k), WARPGROUP_THREADS * warpgroups)


def _rows_of_warps(word: int, *, in_pairs: bool) -> list[Digit]:
    """The 64 rows of an instruction: a lane has two of the 16 of its warp, a word of each."""
    lanes, values, warps = (8, E(THREAD, QUAD)), (2, E(VALUE, word)), (4, E(THREAD, WARP))
    return [values, lanes, warps] if in_pairs else [lanes, values, warps]


@lru_cache(maxsize=512)
def fragment_of_sums(m: int, k: int, warpgroups: int) -> RegisterLayout:
    """Fragments of A of bytes whose depth comes in the order in which lanes have sums.

    Lane q of a row has columns 2 q, 2 q + 1, 8 + 2 q and 9 + 2 q of each 16, as in accumulators;
    these are the four bytes of a register.
    """
    by_row, _ = warpgroup_grid(m, warpgroups)
    rows: list[Digit] = [(8, E(THREAD, QUAD)), (2, E(VALUE, 4)), (4, E(THREAD, WARP))]
    rows += [(m // (WGMMA_ROWS * by_row), E(VALUE, k // 2))]
    rows += [(by_row, E(THREAD, WARPGROUP_THREADS))]
    columns: list[Digit] = [(PAIR, E(VALUE)), (QUAD, E(THREAD)), (2, E(VALUE, 2))]
    columns += [(k // 16, E(VALUE, 8))]
    return RegisterLayout(layout_of_modes(rows, columns), (m, k), WARPGROUP_THREADS * warpgroups)


def warpgroup_grid(m: int, warpgroups: int) -> tuple[int, int]:
    """How many warpgroups share the rows of a tile of `m` rows, and how many its columns."""
    by_row = gcd(m // WGMMA_ROWS, warpgroups)
    return by_row, warpgroups // by_row


def fits_accumulators(m: int, n: int, warpgroups: int) -> bool:
    """Whether whole wgmma instructions of so many warpgroups cover an m x n tile.

    Warpgroups that share its columns have a power of two of them: whole panels of a swizzle, or
    several in one.
    """
    if warpgroups < 1 or m < 1 or n < 1 or m % WGMMA_ROWS:
        return False
    _, by_column = warpgroup_grid(m, warpgroups)
    width, rest = divmod(n, by_column)
    return rest == width % 8 == 0 and (by_column == 1 or width.bit_count() == 1)


def share_of_columns(m: int, n: int, warpgroups: int) -> int:
    """The columns of an m x n tile that each of so many warpgroups has: all, or its share."""
    return n // warpgroup_grid(m, warpgroups)[1]


def columns_of_warpgroup(layout: RegisterLayout) -> int:
    """The columns of accumulators that one warpgroup has."""
    rows, columns = layout.shape
    return share_of_columns(rows, columns, warpgroups_of(layout))


def has_whole_rows(layout: RegisterLayout) -> bool:
    """Whether each warpgroup has whole rows of accumulators."""
    return columns_of_warpgroup(layout) == layout.shape[1]


@lru_cache(maxsize=4096)
def is_accumulator(layout: RegisterLayout, *, in_pairs: bool = False) -> bool:
    """Whether a layout is that of wgmma accumulators over all threads of an agent.

    Rows are in order, or `in_pairs`.
    """
    warpgroups, rest = divmod(layout.threads, WARPGROUP_THREADS)
    if rest or len(layout.shape) != 2 or not fits_accumulators(*layout.shape, warpgroups):
        return False
    return layout == accumulator_layout(*layout.shape, warpgroups, in_pairs=in_pairs)


def warpgroups_of(layout: RegisterLayout) -> int:
    """The warpgroups that hold a tile of accumulators."""
    return layout.threads // WARPGROUP_THREADS


def instructions_of(layout: RegisterLayout) -> int:
    """The wgmma instructions of 64 rows by which each warpgroup computes its accumulators."""
    by_row, _ = warpgroup_grid(layout.shape[0], warpgroups_of(layout))
    return layout.shape[0] // (WGMMA_ROWS * by_row)


def operand_layout(rows: int, columns: int, bits: int, warps: int) -> Layout | None:
    """Return the registers of operand A (PTX ISA, wgmma and mma): 16 rows per warp, cyclic.

    Registers pack adjacent elements of `bits`; None where whole blocks do not fill the tile.
    """
    word = 32 // bits
    if rows % (16 * warps) or columns % (8 * word):
        return None
    registers = columns // (8 * word) * 4 * word
    down: list[Digit] = [(8, E(THREAD, 4)), (2, E(VALUE, word)), (warps, E(THREAD, WARP))]
    down += [(rows // (16 * warps), E(VALUE, registers))]
    across: list[Digit] = [(word, E(VALUE)), (QUAD, E(THREAD)), (2, E(VALUE, 2 * word))]
    across += [(columns // (8 * word), E(VALUE, 4 * word))]
    return layout_of_modes(down, across)
