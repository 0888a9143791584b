"""Tensor memory of sm_100a: addresses, accumulators, and what tcgen05.ld and .st move.

Tensor memory has 128 lanes of 512 columns of 32 bits; a cell's address is `lane << 16 | column`.
Warp w of a warpgroup reaches lanes 32w to 32w+31.  Layouts map to the axes `lane` and `column`.
Sources: PTX ISA 9.7.16; CUTLASS include/cute/atom/mma_traits_sm100_frag.hpp and
copy_traits_sm100.hpp.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.axes import E, coefficient_of
from tileas_xdsl.layout.layout import Layout, make_layout
from tileas_xdsl.layout.operations.simplify import coalesce
from tileas_xdsl.target.bits import whole
from tileas_xdsl.target.errors import TargetError

LANE = "lane"
COLUMN = "column"
LANES = 128
COLUMNS = 512
LANE_STEP = 1 << 16
"""What one lane adds to an address."""

MAX_N = 256
N_STEP = 8
"""N of an instruction is a multiple of `N_STEP` for each CTA that takes part, up to `MAX_N`."""

_LANE, _COLUMN = E(LANE), E(COLUMN)


def counted(layout: Layout, lane_step: int) -> Layout:
    """`layout` with each lane counted as `lane_step`: one integer instead of lane and column.

    `LANE_STEP` gives addresses, the number of columns gives CuTe's linear form.
    """

    def leaf(d: Any) -> Any:
        if isinstance(d, tuple):
            return tuple(leaf(x) for x in d)  # pyright: ignore[reportUnknownVariableType]
        return coefficient_of(d, LANE) * lane_step + coefficient_of(d, COLUMN)

    return Layout(layout.shape, leaf(layout.stride))


# Accumulators


@dataclass(frozen=True, slots=True)
class Accumulator:
    """The tensor-memory layout of an accumulator of M rows in each of `ctas` CTAs."""

    ctas: int
    m: int
    rows: tuple[int, ...]
    """The digits of the rows that one CTA holds."""
    row_strides: tuple[Any, ...]
    splits: int
    """The number of column ranges into which N is split, stacked along the lanes."""
    note: str


_ACCUMULATORS = (
    Accumulator(1, 128, (128,), (_LANE,), 1, "all lanes"),
    Accumulator(1, 64, (16, 4), (_LANE, 32 * _LANE), 1, "lanes 0 to 15 of each 32"),
    Accumulator(2, 256, (128,), (_LANE,), 1, "all lanes"),
    Accumulator(2, 128, (64,), (_LANE,), 2, "N in two halves, 64 lanes each"),
    Accumulator(2, 64, (32,), (_LANE,), 4, "N in four quarters, 32 lanes each; CUTLASS only"),
)

ACCUMULATORS: Mapping[tuple[int, int], Accumulator] = {(a.ctas, a.m): a for a in _ACCUMULATORS}
"""Accumulators by the number of CTAs and M of the instruction."""

SPARSE_PAIR = Accumulator(2, 128, (16, 4), (_LANE, 32 * _LANE), 1, "lanes 0 to 15 of each 32")
"""The accumulator of a sparse product of M 128 by a pair of CTAs.

Source: PTX ISA 9.7.16.10.5, data path layout C.
"""

WEIGHT_STATIONARY: Mapping[int, Accumulator] = {
    128: Accumulator(1, 128, (128,), (_LANE,), 1, "all lanes"),
    64: Accumulator(1, 64, (64,), (_LANE,), 2, "N in two halves, 64 lanes each"),
    32: Accumulator(1, 32, (32,), (_LANE,), 4, "N in four quarters, 32 lanes each"),
}
"""Accumulators of `tcgen05.mma.ws` by M.

Sources: PTX ISA 9.7.16.10.5, data path layouts D, E and G; CUTLASS atom/mma_traits_sm100_frag.hpp,
tmem_frg_ws.
"""


def accumulator(m: int, n: int, ctas: int = 1, *, sparse: bool = False) -> Layout:
    """`(row, column)` of the part of D that one CTA holds, to lane and column.

    `m` and `n` are those of the instruction.  Elements are 32 bits wide.
    """
    m, n, ctas = whole(m, "M"), whole(n, "N"), whole(ctas, "the number of CTAs")
    entry = ACCUMULATORS.get((ctas, m))
    if sparse and (ctas, m) == (SPARSE_PAIR.ctas, SPARSE_PAIR.m):
        entry = SPARSE_PAIR
    if entry is None:
        known = ", ".join(f"M {a.m} with {a.ctas} CTA{'s' * (a.ctas > 1)}" for a in _ACCUMULATORS)
        raise TargetError(f"no accumulator has M {m} with {ctas} CTAs; known: {known}")
    step = N_STEP * ctas
    if n not in range(step, MAX_N + 1, step):
        raise TargetError(f"N {n} is not a multiple of {step} in {step}..{MAX_N}")
    return _layout(entry, n)


def weight_stationary_accumulator(m: int, n: int) -> Layout:
    """`(row, column)` of D of `tcgen05.mma.ws`, to lane and column."""
    entry = WEIGHT_STATIONARY.get(m)
    if entry is None:
        known = ", ".join(map(str, sorted(WEIGHT_STATIONARY)))
        raise TargetError(f"no weight-stationary accumulator has M {m}; known: {known}")
    if n % entry.splits:
        raise TargetError(f"N {n} does not split into {entry.splits} ranges of columns")
    return _layout(entry, n)


def _layout(entry: Accumulator, n: int) -> Layout:
    rows = coalesce(Layout(entry.rows, entry.row_strides))
    below = LANES // entry.splits * _LANE
    columns = coalesce(Layout((n // entry.splits, entry.splits), (_COLUMN, below)))
    return make_layout(rows, columns)


# Loads and stores


@dataclass(frozen=True, slots=True)
class MoveShape:
    """A `.shape` of tcgen05.ld and .st, for the 32 threads of a warp.

    `threads` and `values` are the digits `(extent, stride)` of one repetition; each further one, up
    to `max_repetitions`, is `columns` to the right.
    """

    name: str
    lanes: int
    columns: int
    threads: tuple[tuple[int, Any], ...]
    values: tuple[tuple[int, Any], ...]
    max_repetitions: int


MOVE_SHAPES: Mapping[str, MoveShape] = {
    shape.name: shape
    for shape in (
        MoveShape("32x32b", 32, 1, ((32, _LANE),), (), 128),
        MoveShape("16x64b", 16, 2, ((2, 8 * _LANE), (2, _COLUMN), (8, _LANE)), (), 128),
        MoveShape("16x128b", 16, 4, ((4, _COLUMN), (8, _LANE)), ((2, 8 * _LANE),), 64),
        MoveShape(
            "16x256b", 16, 8, ((4, 2 * _COLUMN), (8, _LANE)), ((2, _COLUMN), (2, 8 * _LANE)), 32
        ),
        MoveShape("16x32bx2", 16, 1, ((16, _LANE),), (), 128),
    )
}
"""The shapes by name.  16x32bx2 gives its upper 16 threads a second run of columns."""


def move_registers(
    shape: str, repetitions: int = 1, half_offset: int | None = None, *, packed: bool = False
) -> Layout:
    """`(thread, register)` of tcgen05.ld.shape.xN or .st, to lane and column from the address.

    `half_offset` is the immediate of 16x32bx2: how many columns on the second half starts (default:
    where the first ends).  Registers are 32 bits wide.  If `packed` (`.pack::16b`, `.unpack::16b`),
    `(thread, half register)`: the halves are the lower 16 bits of two adjacent columns, so that
    every shape reaches twice as many columns (CUTLASS copy_traits_sm100.hpp, the `_16b` copies).
    """
    entry = _move_shape(shape, repetitions)
    widen = 2 if packed else 1
    threads = [_widened(digit, widen) for digit in entry.threads]
    if shape == "16x32bx2":
        reach = widen * entry.columns * repetitions
        threads.append((2, _second_half(shape, reach, half_offset) * _COLUMN))
    elif half_offset is not None:
        raise TargetError(f"tcgen05.ld.{shape} has no second half, so no offset of {half_offset}")
    values = [*entry.values, (repetitions, entry.columns * _COLUMN)]
    halves = [(2, _COLUMN)] if packed else []
    values = halves + [_widened(digit, widen) for digit in values]
    return make_layout(coalesce(_mode(threads)), coalesce(_mode(values)))


def _widened(digit: tuple[int, Any], factor: int) -> tuple[int, Any]:
    """Return a digit whose columns are `factor` apart for each column before."""
    extent, stride = digit
    return (extent, factor * stride if coefficient_of(stride, COLUMN) else stride)


def _second_half(shape: str, reach: int, half_offset: int | None) -> int:
    """Return where the second half starts, each half of which reaches so many columns."""
    if half_offset is None:
        return reach
    what = f"tcgen05.ld.{shape}: the offset of the second half"
    last = COLUMNS - reach
    if not 0 <= whole(half_offset, what) <= last:
        raise TargetError(f"{what} is {half_offset}, not in 0..{last}")
    return half_offset


def _mode(digits: Sequence[tuple[int, Any]]) -> Layout:
    return Layout(tuple(s for s, _ in digits), tuple(d for _, d in digits))


def _move_shape(shape: str, repetitions: int) -> MoveShape:
    entry = MOVE_SHAPES.get(shape)
    if entry is None:
        raise TargetError(f"tcgen05.ld has no shape {shape}; known: {', '.join(MOVE_SHAPES)}")
    repetitions = whole(repetitions, f"tcgen05.ld.{shape}: the number of repetitions")
    if repetitions not in range(1, entry.max_repetitions + 1) or repetitions & (repetitions - 1):
        raise TargetError(
            f"tcgen05.ld.{shape} repeats a power of two up to {entry.max_repetitions} times, "
            f"not {repetitions}"
        )
    return entry
