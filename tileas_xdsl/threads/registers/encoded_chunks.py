"""The pieces of a tile whose registers an encoding spreads, found in the table of its fragment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from tileas_xdsl.analysis.register_tiles import ACCESS_BYTES, EncodedLayout
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add
from tileas_xdsl.threads.index.per_thread_tables import Flags, Table, holds, tabulated
from tileas_xdsl.threads.registers.access_chunk import Piece


@dataclass(frozen=True, eq=False)
class Strip:
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


def encoded_pieces(
    e: ThreadBuilder, layout: EncodedLayout, bits: int, *, stored: bool
) -> Iterator[Piece]:
    """The pieces of a thread; of those that are stored only what no thread before it has."""
    lines: dict[tuple[SSAValue, int, SSAValue], int] = {}
    digits = layout.thread_digits
    for strip in strips(layout, bits):
        flags = strip.first if stored else strip.present
        if not flags.any():
            continue
        row, down = tabulated(e, strip.row, digits)
        column, right = tabulated(e, strip.column, digits)
        if right < 0:
            column, right = add(e, column, right), 0
        yield Piece(
            0,
            strip.register,
            strip.count,
            add(e, row, down) if len(layout.shape) > 1 else None,
            column,
            right,
            1,
            lines.setdefault((row, down, column), len(lines)),
            holds(e, flags, digits),
        )


@lru_cache(maxsize=256)
def strips(layout: EncodedLayout, bits: int) -> tuple[Strip, ...]:
    """The strips of a layout for elements of `bits`, as wide as one access."""
    held = layout.fragment.held
    row, column = _coordinates(held, layout.shape)
    count = 1
    while _fits(row, column, layout, 2 * count) and 2 * count * bits <= 8 * ACCESS_BYTES:
        count *= 2
    first = _first_holders(held)
    return tuple(
        Strip(
            register,
            count,
            row[:, register],
            column[:, register],
            held[:, register] >= 0,
            np.logical_or.reduce(first[:, register : register + count], axis=1),
        )
        for register in range(0, held.shape[1], count)
    )


def _coordinates(held: Table, shape: tuple[int, ...]) -> tuple[Table, Table]:
    """Row and column of each register, -1 for an empty one; rows count all leading dimensions."""
    empty, left = held < 0, np.maximum(held, 0)
    row = np.zeros_like(held)
    for axis, extent in enumerate(shape[:-1]):
        left, index = np.divmod(left, extent)
        row += index * prod(shape[axis + 1 : -1])
    return np.where(empty, -1, row), np.where(empty, -1, left)


def _fits(row: Table, column: Table, layout: EncodedLayout, count: int) -> bool:
    """Whether all groups of `count` registers are aligned, adjacent elements, or empty."""
    rows, columns = prod(layout.shape[:-1]), (layout.shape or (1,))[-1]
    if row.shape[1] % count or (rows > 1 and columns % count):
        return False
    lines, places = (t.reshape(len(t), -1, count) for t in (row, column))
    steps = np.where(places[:, :, :1] < 0, 0, np.arange(count, dtype=np.int64))
    return bool(
        (lines == lines[:, :, :1]).all()
        and (places == places[:, :, :1] + steps).all()
        and (np.maximum(places[:, :, 0], 0) % count == 0).all()
    )


def _first_holders(held: Table) -> Flags:
    """`(threads, values)`: whether no register before this one holds the same element."""
    elements, first = np.unique(held, return_index=True)
    result = np.zeros(held.size, dtype=np.bool_)
    result[first[elements >= 0]] = True
    return result.reshape(held.shape)
