"""Register fragments of `tcgen05.ld` and `tcgen05.st`.

A warp reaches the 32 lanes of its quarter alone.  Tiles of 128 rows have a lane for each, those of
64 rows have 16 lanes of each quarter, or, of a pair of CTAs, two lanes for each: the second half of
the columns is below the first (PTX ISA, data path layout B).  More than four warps share columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.axes import E
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.operations.digits import Digit, layout_of_modes
from tileas_xdsl.layout.registers.register_layout import THREAD, VALUE, RegisterLayout
from tileas_xdsl.layout.tables import flat_table
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.isa.tables.matrix.tensor_cores import TMEM_MAX_REGISTERS, TMEM_REGISTERS
from tileas_xdsl.target.mma.warp_tiles import accumulator_layout
from tileas_xdsl.target.tensor_memory import (
    ACCUMULATORS,
    LANE_STEP,
    MOVE_SHAPES,
    accumulator,
    counted,
)

GROUP_THREADS = 4 * WARP
"""Four warps reach all lanes."""

STEP = 8
"""Columns are shared, and moved, in as many at least."""


@dataclass(frozen=True)
class TmemTransfer:
    """How `tcgen05.ld`/`st` of one shape move a tile."""

    rows: int
    shape: str
    halves: int = 1
    """Ranges of columns that stand below one another, each in lanes of its own."""

    @property
    def lanes(self) -> int:
        """Lanes of a warp that one instruction moves."""
        return MOVE_SHAPES[self.shape].lanes

    @property
    def parts(self) -> int:
        """Instructions for the lanes of a warp that hold rows."""
        return self.rows * self.halves // 4 // self.lanes

    def cycles(self, columns: int) -> float:
        """Cycles of tensor memory for each row of a tile of so many columns.

        A cycle moves 32 bits of each lane of an instruction: those of 16 lanes leave half of a
        quarter idle (CUTLASS, `sm100_get_tmem_load_op`: 32 lanes "have higher throughput").
        """
        return columns / self.halves / self.lanes

    def layout(self, columns: int, groups: int) -> RegisterLayout | None:
        """The registers of an agent of warpgroups; None where they cannot share the columns."""
        if groups < 1 or columns % (STEP * groups * self.halves):
            return None
        if self.shape == "16x256b" and self.parts == 1 and groups == 1:
            return accumulator_layout(self.rows, columns, 1)
        share, shape = columns // (groups * self.halves), MOVE_SHAPES[self.shape]
        count = share // shape.columns * TMEM_REGISTERS[self.shape]
        down, across = _DIGITS[self.shape]
        inner = TMEM_REGISTERS[self.shape]
        rows = [*down, (self.parts, E(VALUE, count)), (4 // self.halves, E(THREAD, WARP))]
        last = (share // shape.columns, E(VALUE, inner))
        beside = (groups, E(THREAD, GROUP_THREADS))
        below = (self.halves, E(THREAD, GROUP_THREADS // self.halves))
        layout = layout_of_modes(rows, [*across, last, beside, below])
        return RegisterLayout(layout, (self.rows, columns), GROUP_THREADS * groups)

    def instructions(
        self, columns: int, most: int = TMEM_MAX_REGISTERS
    ) -> Sequence[tuple[int, int, int]]:
        """Lane, column and repetitions of each instruction that moves so many columns.

        Each moves at most so many registers of a thread.
        """
        shape, registers = MOVE_SHAPES[self.shape], TMEM_REGISTERS[self.shape]
        found: list[tuple[int, int, int]] = []
        for part in range(self.parts):
            first = 0
            while first < columns:
                count = min((columns - first) // shape.columns, most // registers)
                count = 1 << (count.bit_length() - 1)
                found.append((part * self.lanes, first, count))
                first += count * shape.columns
        return found


_DIGITS: Mapping[str, tuple[list[Digit], list[Digit]]] = {
    "32x32b": ([(32, E(THREAD))], []),
    "16x128b": ([(8, E(THREAD, 4)), (2, E(VALUE))], [(4, E(THREAD))]),
    "16x256b": ([(8, E(THREAD, 4)), (2, E(VALUE, 2))], [(2, E(VALUE)), (4, E(THREAD))]),
}
"""The digits of rows, and of columns, that one repetition of an instruction moves."""

MOVES = (
    TmemTransfer(128, "32x32b"),
    TmemTransfer(64, "16x256b"),
    TmemTransfer(128, "16x256b"),
    TmemTransfer(128, "16x128b"),
    TmemTransfer(64, "16x128b"),
)
"""By the rows of a tile the first one is the usual one; 16x128b moves what stmatrix does.

With 16x256b four threads have 8 adjacent columns of a row: a sector of 32 bytes.
"""


def loaded_layout(rows: int, columns: int, groups: int, halves: int) -> RegisterLayout | None:
    """Return the register layout that tensor memory is loaded to; None where an agent cannot."""
    return next((layout for _, layout in moves_of(rows, columns, groups, halves)), None)


def moves_of(
    rows: int, columns: int, groups: int, halves: int = 1
) -> Iterator[tuple[TmemTransfer, RegisterLayout]]:
    """The ways to move a tile, and the registers that each leaves it in.

    `halves` ranges of its columns stand below one another: it has as many lanes for each row.
    """
    for known in MOVES:
        if known.rows != rows * halves:
            continue
        move = replace(known, rows=rows, halves=halves)
        layout = move.layout(columns, groups)
        if layout is not None:
            yield move, layout


def move_to(
    rows: int, columns: int, groups: int, wanted: RegisterLayout | None, halves: int
) -> tuple[TmemTransfer, RegisterLayout] | None:
    """The way that leaves a tile in the registers of a layout, else the usual one."""
    known = list(moves_of(rows, columns, groups, halves))
    for move, layout in known:
        if wanted is not None and layout.has_same_map(wanted):
            return move, layout
    return known[0] if known else None


def halves_of_layout(layout: Layout, shape: Sequence[int]) -> int | None:
    """Return how many ranges of columns an accumulator's tensor-memory layout has in its lanes.

    None where a tile is laid out otherwise than MMAs of one CTA, or of two, leave it.
    """
    if len(shape) != 2:
        return None
    rows, columns = shape
    table = flat_table(counted(layout, LANE_STEP))
    for ctas in (1, 2):
        with suppress(TargetError):
            usual = accumulator(ctas * rows, columns, ctas)
            if np.array_equal(table, flat_table(counted(usual, LANE_STEP))):
                return ACCUMULATORS[ctas, ctas * rows].splits
    return None
