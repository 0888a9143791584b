"""Register layouts of plain tiles: which threads of an agent have which elements.

A tile is a matrix of rows of the last dimension, or one line.  A layout depends on the shape of the
tile and on the agent alone, so that tiles of one shape agree whatever their elements are; all
extents are powers of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

LANES = 32

ACCESS_BYTES = 16
"""The widest access of a thread to memory."""


@dataclass(frozen=True)
class PlainLayout:
    """What the layouts have in common: pieces of adjacent elements, one behind another.

    Warps and lanes beyond those counted here have elements of other ones, or anything.
    """

    shape: tuple[int, ...]
    warps: int
    """Warps that have different elements, the first ones of the agent."""
    lanes: int
    """Lanes of a warp that have different elements."""
    vector: int
    """Adjacent elements in a piece."""
    group: int = 1
    """Warps next to one another that share rows."""

    @property
    def groups(self) -> int:
        """Groups of warps that have different rows."""
        return self.warps // self.group

    @property
    def rows(self) -> int:
        """Rows of the tile."""
        return 1

    @property
    def columns(self) -> int:
        """Elements of a row."""
        return prod(self.shape)

    @property
    def blocks(self) -> int:
        """Rows that a thread has something of: a vector of registers for each."""
        return 1

    @property
    def stride(self) -> int:
        """Columns from one piece of a thread to its next one."""
        return self.warps * self.lanes * self.vector

    @property
    def pieces(self) -> int:
        """Pieces of a row that a thread has."""
        return self.columns // self.stride

    @property
    def registers(self) -> int:
        """Elements of a row that a thread has."""
        return self.pieces * self.vector


@dataclass(frozen=True)
class FlatLayout(PlainLayout):
    """A line over all threads: piece `q` of thread `t` is piece `q * threads + t` of the line."""


@dataclass(frozen=True)
class ColumnLayout(PlainLayout):
    """The values of rows, as a reduction leaves them: all lanes of a group have those of its rows.

    Register `k` of group `g` is element `g + groups * k`.
    """

    @property
    def stride(self) -> int:
        """Rows from one of a thread to its next one."""
        return self.groups


@dataclass(frozen=True)
class RowsLayout(PlainLayout):
    """Rows for groups of warps: group `g` has rows `g + groups * k`, in turns of all its lanes."""

    @property
    def rows(self) -> int:
        """All leading dimensions together."""
        return prod(self.shape[:-1])

    @property
    def columns(self) -> int:
        """The extent of the last dimension."""
        return self.shape[-1]

    @property
    def blocks(self) -> int:
        """Rows of a group."""
        return self.rows // self.groups

    @property
    def stride(self) -> int:
        """Columns that the pieces of a group's lanes take."""
        return self.group * self.lanes * self.vector


def flat_layout(shape: tuple[int, ...], warps: int, widest: int) -> FlatLayout:
    """The layout of a line for an agent of `warps`; elements of `widest` bytes fill an access."""
    size, warps = prod(shape), power_below(warps)
    vector = min(max(size // (LANES * warps), 1), ACCESS_BYTES // widest)
    threads = min(LANES * warps, size // vector)
    return FlatLayout(shape, max(threads // LANES, 1), min(threads, LANES), vector)


def rows_layout(shape: tuple[int, ...], warps: int, widest: int) -> RowsLayout:
    """The layout of a matrix for an agent of `warps`; elements of `widest` bytes fill an access.

    Warps for which there are no rows help others, as long as all lanes have whole accesses.
    """
    rows, columns, warps = prod(shape[:-1]), shape[-1], power_below(warps)
    vector = min(max(columns // LANES, 1), ACCESS_BYTES // widest)
    groups = min(warps, rows)
    group = min(warps // groups, max(columns // (LANES * vector), 1))
    return RowsLayout(shape, groups * group, min(LANES, columns // vector), vector, group)


def column_layout(rows: RowsLayout) -> ColumnLayout:
    """The layout of one value for each row of a matrix."""
    return ColumnLayout(rows.shape[:-1], rows.warps, 1, 1, rows.group)


def power_below(number: int) -> int:
    """The largest power of two that is not above a number."""
    return 1 << (number.bit_length() - 1)
