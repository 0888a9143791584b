"""Register layouts that tiles get by themselves: which threads of an agent have which elements.

A plain tile is a matrix of rows of the last dimension, or one line.  A layout depends on the shape
of the tile and on the agent alone, so that tiles of one shape agree whatever their elements are;
all extents are powers of two.  Accumulators of wgmma lie as the instruction leaves them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TypeAlias

from tileas_xdsl.layout.axes import E, Offset, terms_of
from tileas_xdsl.layout.compose import composition
from tileas_xdsl.layout.fragment import THREAD, VALUE, Fragment
from tileas_xdsl.layout.int_tuple import product_each
from tileas_xdsl.layout.layout import Layout, make_layout
from tileas_xdsl.layout.simplify import coalesce, from_modes, merged

LANES = 32

QUAD = 4
"""Lanes that have a row of accumulators together."""

WORD_BYTES, HALF_WORD_BYTES = 4, 2

ACCESS_BYTES = 16
"""The widest access of a thread to memory."""


CROWDED = 32
"""Registers of a thread from which on lanes do not all have the same short rows."""


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
    vector = min(max(size // (LANES * warps), 1), ACCESS_BYTES // widest, (shape or (1,))[-1])
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


def plain_layout(shape: tuple[int, ...], warps: int, widest: int) -> FlatLayout | RowsLayout:
    """The layout of a tile: by rows, or as a line where rows are short and there are many."""
    if len(shape) < 2:
        return flat_layout(shape, warps, widest)
    rows = rows_layout(shape, warps, widest)
    is_crowded = rows.lanes < LANES and rows.blocks * rows.registers > CROWDED
    return flat_layout(shape, warps, widest) if is_crowded else rows


def column_layout(rows: RowsLayout) -> ColumnLayout:
    """The layout of one value for each row of a matrix."""
    return ColumnLayout(rows.shape[:-1], rows.warps, 1, 1, rows.group)


def power_below(number: int) -> int:
    """The largest power of two that is not above a number."""
    return 1 << (number.bit_length() - 1)


@dataclass(frozen=True)
class AccumulatorLayout:
    """How wgmma spreads M x N accumulators over the warpgroups of an agent.

    Each warpgroup has `blocks` times 64 rows; register `i` of a thread is column
    `8 * (i // 4) + 2 * (lane % 4) + i % 2` of row `lane // 4 + 8 * (i // 2 % 2)` of its warp's 16.
    """

    m: int
    n: int
    groups: int

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the tile."""
        return (self.m, self.n)

    @property
    def blocks(self) -> int:
        """Products of 64 rows that each warpgroup computes."""
        return self.m // (64 * self.groups)

    @property
    def registers(self) -> int:
        """Registers of a thread for each block."""
        return self.n // 2


@dataclass(frozen=True)
class EncodedLayout:
    """Registers as an encoding says: `layout` maps a tile of `shape` to an agent of `threads`.

    All elements of a thread are one vector, filled up so that registers of 32 bits are full.
    """

    shape: tuple[int, ...]
    layout: Layout
    threads: int

    @cached_property
    def fragment(self) -> Fragment:
        """The registers as tables."""
        return Fragment(self.layout, self.shape, self.threads)

    @property
    def blocks(self) -> int:
        """Vectors of registers."""
        return 1

    @property
    def registers(self) -> int:
        """Elements of the vector of a thread."""
        values = self.fragment.values
        return values if values <= HALF_WORD_BYTES else -(-values // WORD_BYTES) * WORD_BYTES

    @cached_property
    def thread_digits(self) -> tuple[tuple[int, int], ...]:
        """Step and extent of the digits of a thread's number that count, or must be 0.

        None are known where steps are no multiples of one another.
        """
        leaves = [(dict(terms_of(d)).get(THREAD, 0), s) for s, d in self.layout.leaves()]
        digits: list[tuple[int, int]] = []
        end = 1
        for step, extent in sorted(leaf for leaf in leaves if leaf[0] and leaf[1] > 1):
            if step % end:
                return ()
            if step > end:
                digits.append((end, step // end))
            digits.append((step, extent))
            end = step * extent
        return tuple(digits)


RegisterLayout: TypeAlias = AccumulatorLayout | EncodedLayout | PlainLayout
"""How a tile is spread over the threads of an agent: `blocks` vectors of `registers` elements."""


def encoding_layout(layout: RegisterLayout, agent_threads: int) -> Layout:
    """Tile coordinates, and a replica where several threads hold an element, to their registers.

    The axes are `thread`, counted in the agent, and `value`: the element of the blocks of a thread,
    one block behind another.  Whole repetitions of a layout that leaves warps of the agent free are
    replicas; the warps that are left after them hold nothing.
    """
    if isinstance(layout, EncodedLayout):
        return layout.layout
    if isinstance(layout, AccumulatorLayout):
        return _encoded_accumulators(layout)
    count = layout.vector if not isinstance(layout, ColumnLayout) else layout.registers
    digits: list[Digit] = [(count, E(VALUE))]
    replicas: list[Digit] = []
    match layout:
        case RowsLayout():
            digits += [(layout.lanes, E(THREAD)), (layout.group, E(THREAD, LANES))]
            digits += [(layout.pieces, E(VALUE, layout.vector))]
            digits += [(layout.groups, E(THREAD, LANES * layout.group))]
            digits += [(layout.blocks, E(VALUE, layout.registers))]
            replicas += [(LANES // layout.lanes, E(THREAD, layout.lanes))]
        case ColumnLayout():
            digits.insert(0, (layout.groups, E(THREAD, LANES * layout.group)))
            replicas += [(LANES, E(THREAD)), (layout.group, E(THREAD, LANES))]
        case _:
            digits += [(layout.lanes, E(THREAD)), (layout.warps, E(THREAD, LANES))]
            digits += [(layout.pieces, E(VALUE, layout.vector))]
            replicas += [(LANES // layout.lanes, E(THREAD, layout.lanes))]
    repetitions = max(agent_threads // (LANES * layout.warps), 1)
    replicas += [(repetitions, E(THREAD, LANES * layout.warps))]
    spread = layout_by_digits(digits, layout.shape)
    again = from_modes(merged(replicas))
    return spread if again.size() == 1 else make_layout(*spread, again)


def operand_layout(rows: int, columns: int, bits: int, warps: int) -> Layout | None:
    """A of products from registers (PTX ISA, wgmma and mma): 16 rows for each warp, in turns.

    Register words hold adjacent elements of `bits`; None where whole blocks do not fill the tile.
    """
    word = 32 // bits
    if rows % (16 * warps) or columns % (8 * word):
        return None
    registers = columns // (8 * word) * 4 * word
    down = [(8, E(THREAD, 4)), (2, E(VALUE, word)), (warps, E(THREAD, LANES))]
    down += [(rows // (16 * warps), E(VALUE, registers))]
    across = [(word, E(VALUE)), (4, E(THREAD)), (2, E(VALUE, 2 * word))]
    across += [(columns // (8 * word), E(VALUE, 4 * word))]
    return make_layout(from_modes(merged(down)), from_modes(merged(across)))


Digit: TypeAlias = tuple[int, Offset]
"""Extent and stride of a digit."""


def layout_by_digits(digits: Sequence[Digit], shape: tuple[int, ...]) -> Layout:
    """The layout of a tile by the digits of the row-major position of an element, lowest first."""
    line = from_modes(merged(digits))
    steps = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    modes: list[Layout] = [
        coalesce(composition(line, Layout(extent, step)))
        for extent, step in zip(shape, steps, strict=True)
    ]
    return make_layout(*modes) if modes else Layout((), ())


def _encoded_accumulators(layout: AccumulatorLayout) -> Layout:
    """Rows and columns, each from those of an 8x8 matrix outwards."""
    rows = [(8, E(THREAD, 4)), (2, E(VALUE, 2)), (4, E(THREAD, LANES))]
    rows += [(layout.blocks, E(VALUE, layout.registers)), (layout.groups, E(THREAD, 4 * LANES))]
    columns = [(2, E(VALUE)), (4, E(THREAD)), (layout.n // 8, E(VALUE, 4))]
    return make_layout(from_modes(merged(rows)), from_modes(merged(columns)))


def accumulator_rows(layout: AccumulatorLayout, agent_threads: int) -> EncodedLayout:
    """One value for each row of accumulators, in the four lanes that have parts of it.

    Register `i` is of half `i % 2` of block `i // 2`.
    """
    rows: list[Digit] = [(8, E(THREAD, 4)), (2, E(VALUE)), (4, E(THREAD, LANES))]
    rows += [(layout.blocks, E(VALUE, 2)), (layout.groups, E(THREAD, 4 * LANES))]
    spread = make_layout(from_modes(merged(rows)), Layout(QUAD, E(THREAD)))
    return EncodedLayout((layout.m,), spread, agent_threads)


def is_of_more(layout: Layout, shape: tuple[int, ...]) -> bool:
    """Whether an encoding is that of a larger tile of the same rank, which a slice may keep."""
    whole = product_each(layout.shape)[: len(shape)]
    return (
        whole != shape
        and len(whole) == len(shape)
        and all(n <= m for n, m in zip(shape, whole, strict=True))
    )
