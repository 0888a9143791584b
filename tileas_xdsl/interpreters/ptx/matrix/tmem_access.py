"""Cells (lane, column) of tensor memory that instructions access, and their checks."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np

from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup, Cta
from tileas_xdsl.interpreters.ptx.memory.shared_memory import TENSOR_COLUMNS, TENSOR_LANES
from tileas_xdsl.layout.tables import flat_table
from tileas_xdsl.target.tensor_memory import (
    accumulator,
    counted,
    move_registers,
    weight_stationary_accumulator,
)

CELLS = TENSOR_LANES * TENSOR_COLUMNS


def split(taddr: int) -> tuple[int, int]:
    """Return lane and column of a tensor-memory address."""
    return taddr >> 16, taddr & 0xFFFF


WEIGHT_STATIONARY = "ws"
"""The group of `tcgen05.mma.ws`, whose accumulators are laid out in ways of their own."""

SPARSE_PAIR = "2sp"
"""The group of a pair of CTAs whose A is sparse."""

MAX_TABLES = 64
"""Tables of cells that are kept of each kind; the largest one takes 256 KiB."""

Group: TypeAlias = Literal["1", "2", "2sp", "ws"]
"""CTAs that multiply together: "1", "2", "2sp", or "ws" for one that keeps its weights."""


@lru_cache(maxsize=MAX_TABLES)
def accumulator_cells(m: int, n: int, group: Group) -> Array:
    """Return the cell of each (row, column) of D in one CTA, relative to its first cell."""
    if group == WEIGHT_STATIONARY:
        found = weight_stationary_accumulator(m, n)
    else:
        found = accumulator(m, n, int(group[0]), sparse=group == SPARSE_PAIR)
    layout = counted(found, TENSOR_COLUMNS)
    return np.asarray(flat_table(layout)).reshape(n, -1).T.copy()


@lru_cache(maxsize=MAX_TABLES)
def register_cells(shape: str, repetitions: int, half_offset: int | None, *, packed: bool) -> Array:
    """Return the cell of each (thread, register) of tcgen05.ld/st, relative to its address.

    If `packed`, of each half of a register.
    """
    registers = move_registers(shape, repetitions, half_offset, packed=packed)
    layout = counted(registers, TENSOR_COLUMNS)
    return np.asarray(flat_table(layout)).reshape(-1, 32).T.copy()


def shadow_locations_of(cells: Array) -> Array:
    """Return the shadow-memory locations of cells: columns in groups of 16 lanes."""
    lane, column = np.divmod(cells.ravel(), TENSOR_COLUMNS)
    return np.unique(lane // 16 * TENSOR_COLUMNS + column)


@lru_cache(maxsize=MAX_TABLES)
def accumulator_shadow_locations(m: int, n: int, group: Group, base: int) -> Array:
    """Return the shadow-memory locations of an accumulator that begins at a cell."""
    return shadow_locations_of(accumulator_cells(m, n, group) + base)


@lru_cache(maxsize=MAX_TABLES)
def accumulator_columns(m: int, n: int, group: Group, base: int) -> Array:
    """Return one cell of each column of an accumulator, and its last cell."""
    cells = (accumulator_cells(m, n, group) + base).ravel()
    _, first = np.unique(cells % TENSOR_COLUMNS, return_index=True)
    return np.concatenate([cells[first], [cells.max()]])


def check_cells(f: ConvergenceGroup, cta: Cta, cells: Array, what: str) -> None:
    """Fault on cells outside of tensor memory; report columns that are not allocated."""
    low, high = int(cells.min()), int(cells.max())
    columns = cells % TENSOR_COLUMNS
    if low < 0 or high >= CELLS:
        raise Fault("tensor-memory", f"{what} reaches outside of the 128 lanes of 512 columns")
    free = cta.tensor.owners[columns] == 0
    checker = f.warpgroup.cta.cluster.checker
    if checker is not None and free.any():
        column = int(columns[free].flat[0])
        checker.findings.add(
            "tensor-memory",
            f.pc,
            f"{what} reaches column {column} of {cta.name}, which is not allocated",
            ["hint: tcgen05.alloc gives columns, and tcgen05.dealloc takes them back"],
        )
