"""Vectorised accesses of a register layout: registers that hold adjacent elements of a row.

For values 0, 1, 2, 3 of every thread at columns c, c + 1, c + 8, c + 9 with an even c, chunks of
two elements are the widest that all threads can access at once: columns c and c + 8.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.registers.register_layout import Flags, RegisterLayout
from tileas_xdsl.layout.tables import Table


@dataclass(frozen=True, eq=False)
class AccessChunk:
    """Registers next to one another that hold adjacent elements of a row in every thread."""

    register: int
    count: int
    row: Table
    """`(threads,)`: the row of the first one, -1 where there is none."""
    column: Table
    present: Flags
    """The threads that have it."""
    first: Flags
    """Those before which no thread has it."""


@lru_cache(maxsize=256)
def access_chunks(layout: RegisterLayout, most: int) -> tuple[AccessChunk, ...]:
    """The chunks of all registers, as wide as a power of two up to `most` elements allows."""
    held = layout.held
    row, column = coordinates(held, layout.shape)
    count = 1
    while 2 * count <= most and _fits(row, column, layout.shape, 2 * count):
        count *= 2
    first = layout.first_held
    return tuple(
        AccessChunk(
            register,
            count,
            row[:, register],
            column[:, register],
            held[:, register] >= 0,
            np.logical_or.reduce(first[:, register : register + count], axis=1),
        )
        for register in range(0, held.shape[1], count)
    )


def coordinates(held: Table, shape: tuple[int, ...]) -> tuple[Table, Table]:
    """Row and column of each register, -1 for an empty one; rows count all leading dimensions."""
    empty, left = held < 0, np.maximum(held, 0)
    row = np.zeros_like(held)
    for axis, extent in enumerate(shape[:-1]):
        left, index = np.divmod(left, extent)
        row += index * prod(shape[axis + 1 : -1])
    return np.where(empty, -1, row), np.where(empty, -1, left)


def _fits(row: Table, column: Table, shape: tuple[int, ...], count: int) -> bool:
    """Whether all groups of `count` registers are aligned, adjacent elements, or empty."""
    rows, columns = prod(shape[:-1]), (shape or (1,))[-1]
    if row.shape[1] % count or (rows > 1 and columns % count):
        return False
    lines, elements = (t.reshape(len(t), -1, count) for t in (row, column))
    steps = np.where(elements[:, :, :1] < 0, 0, np.arange(count, dtype=np.int64))
    return bool(
        (lines == lines[:, :, :1]).all()
        and (elements == elements[:, :, :1] + steps).all()
        and (np.maximum(elements[:, :, 0], 0) % count == 0).all()
    )
