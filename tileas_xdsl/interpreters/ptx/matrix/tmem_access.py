"""Cells of tensor memory: where instructions find them, and the checks of every access."""

from __future__ import annotations

from functools import cache

import numpy as np

from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.execution.state import Cta, Fragment
from tileas_xdsl.interpreters.ptx.memory.shared_memory import TENSOR_COLUMNS, TENSOR_LANES
from tileas_xdsl.layout.tables import flat_table
from tileas_xdsl.target.tensor_memory import accumulator, counted, move_registers

CELLS = TENSOR_LANES * TENSOR_COLUMNS


def address(lane: int, column: int) -> int:
    """A cell as one number."""
    return lane * TENSOR_COLUMNS + column


def split(taddr: int) -> tuple[int, int]:
    """Lane and column of a tensor-memory address."""
    return taddr >> 16, taddr & 0xFFFF


@cache
def accumulator_cells(m: int, n: int, ctas: int) -> Array:
    """The cell of each (row, column) of the part of D that one CTA holds, from cell 0."""
    layout = counted(accumulator(m, n, ctas), TENSOR_COLUMNS)
    return np.asarray(flat_table(layout)).reshape(n, -1).T.copy()


@cache
def register_cells(shape: str, repetitions: int, half_offset: int | None) -> Array:
    """The cell of each (thread, register) of a load or store, from the cell of its address."""
    layout = counted(move_registers(shape, repetitions, half_offset), TENSOR_COLUMNS)
    return np.asarray(flat_table(layout)).reshape(-1, 32).T.copy()


def places_of(cells: Array) -> Array:
    """Cells as the checker remembers them: columns in groups of 16 lanes."""
    lane, column = np.divmod(cells.ravel(), TENSOR_COLUMNS)
    return np.unique(lane // 16 * TENSOR_COLUMNS + column)


@cache
def accumulator_places(m: int, n: int, ctas: int, base: int) -> Array:
    """The places of an accumulator that begins at a cell."""
    return places_of(accumulator_cells(m, n, ctas) + base)


@cache
def accumulator_columns(m: int, n: int, ctas: int, base: int) -> Array:
    """A cell in each column of an accumulator that begins at a cell, and its last one."""
    cells = (accumulator_cells(m, n, ctas) + base).ravel()
    _, first = np.unique(cells % TENSOR_COLUMNS, return_index=True)
    return np.concatenate([cells[first], [cells.max()]])


def check_cells(f: Fragment, cta: Cta, cells: Array, what: str) -> None:
    """Refuse cells outside of tensor memory; tell of columns that nobody allocated."""
    low, high = int(cells.min()), int(cells.max())
    columns = cells % TENSOR_COLUMNS
    if low < 0 or high >= CELLS:
        raise Fault("tensor-memory", f"{what} reaches outside of the 128 lanes of 512 columns")
    free = cta.tensor.owners[columns] == 0
    checker = f.gang.cta.cluster.checker
    if checker is not None and free.any():
        column = int(columns[free].flat[0])
        checker.findings.add(
            "tensor-memory",
            f.pc,
            f"{what} reaches column {column} of {cta.name}, which is not allocated",
            ["hint: tcgen05.alloc gives columns, and tcgen05.dealloc takes them back"],
        )
