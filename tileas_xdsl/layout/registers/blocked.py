"""Blocked register layouts: chunks of adjacent elements, dealt to lanes, then to warps.

Triton's blocked layouts (`sizePerThread`, `threadsPerWarp`, `warpsPerCTA`), chosen by the shape of
a tile and the warps that hold it, so that tiles of one shape agree whatever their elements are.
All extents are powers of two.  `Blocked` is the closed form by which threads compute coordinates;
`blocked` derives it from a `RegisterLayout`, and certifies it: the layout that the closed form
stands for is the one that was given.

For a 2x256 tile by 4 warps, chunks of 4: two warps share a row of 64 chunks,

    RegisterLayout  (2,(4,64)):(64@thread,(1@value,1@thread))
    Blocked         vector 4, lanes 32, warps 2 (along a row), row_warps 2 (over rows)

and thread `t` holds row `t // 64`, columns `4 * (t % 64)` to `4 * (t % 64) + 3`.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.axes import E, terms_of
from tileas_xdsl.layout.integers import is_power_of_two, power_of_two_below
from tileas_xdsl.layout.operations.digits import Digit, layout_of_line, with_replicas
from tileas_xdsl.layout.registers.register_layout import THREAD, VALUE, RegisterLayout
from tileas_xdsl.layout.units import WARP

ACCESS_BYTES = 16
"""The widest access of a thread to memory."""

WIDTHS = (1, 2, 4, 8, 16)
"""Bytes of the widest element that a blocked layout may have been made for."""

MAX_REPLICATED_REGISTERS = 32
"""Registers of a thread from which on elements are no longer replicated over threads."""


@dataclass(frozen=True)
class Blocked:
    """The closed form of a blocked layout; a line is a row-major tile seen as one row.

    Element `k` of chunk `q` in the thread of warp `w` and lane `l` is column
    `k + vector * (l % lanes + lanes * (w // copies % warps)) + stride * q` of its line.  Block `b`
    of a thread is row `w // warps % row_warps + row_warps * b`.
    """

    shape: tuple[int, ...]
    vector: int
    """Adjacent elements of a chunk."""
    lanes: int
    """Lanes of a warp that have different chunks."""
    warps: int
    """Warps along a line that have different chunks."""
    row_warps: int = 0
    """Groups of warps that have different rows; 0 where the tile is one line."""
    copies: int = 1
    """Warps next to one another that hold the same."""

    @property
    def is_by_rows(self) -> bool:
        """Whether chunks are of one row each and a thread has as much of all of its rows."""
        return self.row_warps > 0

    @property
    def is_row_values(self) -> bool:
        """Whether all lanes of a warp have the same elements, as reductions of rows leave them."""
        return not self.is_by_rows and self.lanes == 1

    @property
    def crosses_rows(self) -> bool:
        """Whether a thread's chunks are of different rows of a matrix that is dealt as one line."""
        return not self.is_by_rows and len(self.shape) > 1 and not self.is_row_values

    @property
    def columns(self) -> int:
        """Elements of a line."""
        return self.shape[-1] if self.is_by_rows else prod(self.shape)

    @property
    def blocks(self) -> int:
        """Lines that a thread has something of."""
        return prod(self.shape[:-1]) // self.row_warps if self.is_by_rows else 1

    @property
    def stride(self) -> int:
        """Columns from one chunk of a thread to its next one."""
        return self.warps * self.lanes * self.vector

    @property
    def chunks(self) -> int:
        """Chunks of a line that a thread has."""
        return self.columns // self.stride

    @property
    def registers(self) -> int:
        """Elements of a line that a thread has."""
        return self.chunks * self.vector

    @property
    def used_warps(self) -> int:
        """Warps after which elements repeat in those that follow."""
        return max(self.row_warps, 1) * self.warps * self.copies

    def layout(self, agent_warps: int) -> RegisterLayout:
        """The register layout on an agent: repetitions in further whole groups are replicas.

        Warps that are left after those hold nothing.
        """
        digits: list[Digit] = [(self.vector, E(VALUE)), (self.lanes, E(THREAD))]
        digits += [(self.warps, E(THREAD, WARP * self.copies))]
        digits += [(self.chunks, E(VALUE, self.vector))]
        if self.is_by_rows:
            digits += [(self.row_warps, E(THREAD, WARP * self.warps))]
            digits += [(self.blocks, E(VALUE, self.registers))]
        replicas: list[Digit] = [(WARP // self.lanes, E(THREAD, self.lanes))]
        replicas += [(self.copies, E(THREAD, WARP))]
        repetitions = max(agent_warps // self.used_warps, 1)
        replicas += [(repetitions, E(THREAD, WARP * self.used_warps))]
        layout = with_replicas(layout_of_line(digits, self.shape), replicas)
        return RegisterLayout(layout, self.shape, WARP * agent_warps)


@lru_cache(maxsize=1024)
def line_layout(shape: tuple[int, ...], warps: int, widest: int) -> RegisterLayout:
    """A row-major tile dealt as one line; elements of `widest` bytes fill an access."""
    return _line(shape, warps, widest).layout(warps)


@lru_cache(maxsize=1024)
def rows_layout(shape: tuple[int, ...], warps: int, widest: int) -> RegisterLayout:
    """A matrix dealt by rows; elements of `widest` bytes fill an access."""
    return _rows(shape, warps, widest).layout(warps)


@lru_cache(maxsize=1024)
def blocked_layout(shape: tuple[int, ...], warps: int, widest: int) -> RegisterLayout:
    """The blocked layout of a tile: by rows, or as a line where there are many short rows."""
    return _closed_form(shape, warps, widest).layout(warps)


@lru_cache(maxsize=1024)
def row_values_layout(rows: RegisterLayout) -> RegisterLayout:
    """One value for each row of a matrix that is dealt by rows, in all lanes that have the row."""
    warps = rows.threads // WARP
    # One layout may have two closed forms, of which `blocked` prefers the line.
    form = _rows(rows.shape, warps, _widest(rows))
    assert form.layout(warps) == rows, rows
    values = Blocked(rows.shape[:-1], 1, 1, form.row_warps, copies=form.warps)
    return values.layout(warps)


@lru_cache(maxsize=4096)
def blocked(layout: RegisterLayout) -> Blocked | None:
    """The closed form of a layout; None where it is not blocked."""
    warps, rest = divmod(layout.threads, WARP)
    if rest or not warps or any(not is_power_of_two(n) for n in layout.shape):
        return None
    widest = _widest(layout)
    usual = _closed_form(layout.shape, warps, widest)
    by_rows = _rows(layout.shape, warps, widest) if len(layout.shape) > 1 else None
    line = _line(layout.shape, warps, widest)
    for form in (usual, by_rows, line, _row_values(layout)):
        if form is not None and form.layout(warps) == layout:
            return form
    return None


def _line(shape: tuple[int, ...], warps: int, widest: int) -> Blocked:
    size, warps = prod(shape), power_of_two_below(warps)
    vector = min(max(size // (WARP * warps), 1), ACCESS_BYTES // widest, (shape or (1,))[-1])
    threads = min(WARP * warps, size // vector)
    return Blocked(shape, vector, min(threads, WARP), max(threads // WARP, 1))


def _rows(shape: tuple[int, ...], warps: int, widest: int) -> Blocked:
    """Warps for which there are no rows help others, as long as all lanes have whole accesses."""
    rows, columns, warps = prod(shape[:-1]), shape[-1], power_of_two_below(warps)
    vector = min(max(columns // WARP, 1), ACCESS_BYTES // widest)
    row_warps = min(warps, rows)
    along = min(warps // row_warps, max(columns // (WARP * vector), 1))
    return Blocked(shape, vector, min(WARP, columns // vector), along, row_warps)


def _closed_form(shape: tuple[int, ...], warps: int, widest: int) -> Blocked:
    if len(shape) < 2:
        return _line(shape, warps, widest)
    rows = _rows(shape, warps, widest)
    has_register_pressure = (
        rows.lanes < WARP and rows.blocks * rows.registers > MAX_REPLICATED_REGISTERS
    )
    return _line(shape, warps, widest) if has_register_pressure else rows


def _first_digit(layout: RegisterLayout) -> tuple[int, str, int]:
    """Extent, axis and step of the lowest digit of the last coordinate that is wider than one."""
    for mode in reversed(range(len(layout.shape))):
        for extent, stride in layout.layout[mode].leaves():
            terms = terms_of(stride)
            if extent > 1 and terms:
                return extent, *terms[0]
    return 1, VALUE, 1


def _widest(layout: RegisterLayout) -> int:
    """Bytes of the elements of which a chunk is one access."""
    extent, axis, step = _first_digit(layout)
    vector = extent if axis == VALUE and step == 1 else 1
    return max(ACCESS_BYTES // vector, 1)


def _row_values(layout: RegisterLayout) -> Blocked | None:
    """The closed form by which rows would be dealt to whole warps."""
    extent, axis, step = _first_digit(layout)
    if axis == VALUE:
        holding = layout.replicas // WARP
        is_everywhere = holding == layout.threads // WARP
        return Blocked(layout.shape, 1, 1, 1, copies=1 if is_everywhere else max(holding, 1))
    if step % WARP:
        return None
    return Blocked(layout.shape, 1, 1, extent, copies=step // WARP)
