"""Register layouts of row values: where a reduction along the rows of a tile leaves its results.

After a reduction each thread that owns elements of a row has the row's value (the reduction ends
with an all-reduce over these threads). The layout of the values follows from that of the matrix:
digits of the row coordinate stay, with registers renumbered; thread digits of the column become
replicas. An 8x8 matrix, rows over 8 groups of 4 lanes, 2 registers of a row each:

>>> from tileas_xdsl.layout.axes import E
>>> t, v = E("thread"), E("value")
>>> matrix = Layout((8, (2, 4)), (4 * t, (v, t)))
>>> print(row_values(matrix))
(8,4):(4@thread,1@thread)
>>> line_sharers(matrix, 1)
[(4, 1)]

Row `r` is in the four threads `4 * r + 0..3`, in their register 0. `row_values` is of matrices
whose elements are held once each, `line_values` of any tile along any dimension, replicas included.
"""

from __future__ import annotations

from math import prod
from typing import TypeAlias

from tileas_xdsl.layout.axes import E, terms_of
from tileas_xdsl.layout.layout import Layout, make_layout
from tileas_xdsl.layout.operations.digits import Digit
from tileas_xdsl.layout.operations.modes import TRIVIAL
from tileas_xdsl.layout.operations.simplify import from_modes, merged
from tileas_xdsl.layout.registers.register_layout import THREAD, VALUE

MATRIX = 2
"""The rank of a tile that has rows."""

_Leaf: TypeAlias = tuple[int, str, int]
"""Extent, axis and stride of a digit of a coordinate."""


def row_values(layout: Layout, *, keeps_dimension: bool = False) -> Layout | None:
    """Return the layout of one value per row, in all threads that own elements of the row.

    With `keeps_dimension` the values are a matrix of one column. None where elements are held more
    than once, or a stride is along both axes.
    """
    if layout.rank != MATRIX:
        return None
    down, across = _leaves(layout[0]), _leaves(layout[1])
    if down is None or across is None:
        return None
    sharers = _threads(across)
    number = _compact_strides(down)
    modes = [_with_strides(down, number)]
    if keeps_dimension:
        modes.append(TRIVIAL)
    if sharers:
        modes.append(from_modes(merged([(extent, E(THREAD, step)) for extent, step in sharers])))
    return make_layout(*modes)


def line_values(layout: Layout, rank: int, axis: int) -> Layout | None:
    """Return the layout of one value per line along `axis`, in all threads that own elements of it.

    The layout is of a tile of `rank` dimensions, and may have replicas in threads. None where a
    stride is along both axes, or replicas are in registers.
    """
    found = [_leaves(layout[k]) for k in range(layout.rank)]
    modes = [mode for mode in found if mode is not None]
    if len(modes) < len(found) or len(found) > rank + 1:
        return None
    copies = [leaf for mode in modes[rank:] for leaf in mode]
    if any(role == VALUE for _, role, _ in copies):
        return None
    kept = [mode for k, mode in enumerate(modes[:rank]) if k != axis]
    # A thread has one value per line instead of one per element: registers along `axis` go, and the
    # strides of the others close up. Threads along `axis` all hold the value of their line:
    # replicas.
    number = _compact_strides([leaf for mode in kept for leaf in mode])
    lines = [_with_strides(mode, number) for mode in kept]
    sharers = [(extent, E(THREAD, step)) for extent, step in _threads([*modes[axis], *copies])]
    lines += [from_modes(merged(sharers))] if sharers or not lines else []
    return make_layout(*lines)


def registers_held(layout: Layout) -> int:
    """Return how many registers of a thread a layout of digits has."""
    return prod(extent for extent, axis, _ in _leaves(layout) or [] if axis == VALUE)


def neighbours_held(layout: Layout) -> int:
    """Return how many elements, adjacent along the first coordinate, are adjacent in registers."""
    extent, *found = next(iter(_leaves(layout) or []), (1, THREAD, 1))
    return extent if found == [VALUE, 1] else 1


def line_sharers(layout: Layout, axis: int) -> list[tuple[int, int]]:
    """Return extent and stride of the thread digits that a line along `axis` spans."""
    return _threads(_leaves(layout[axis]) or [])


def line_digits(layout: Layout, axis: int) -> list[tuple[int, int, int]]:
    """Return the thread digits of the coordinate along `axis`: what it is divided by, extent, step.

    Of digits `(4, 8)` with strides `(1@value, 1@thread)` it is `[(4, 8, 1)]`: coordinate
    `k` is in thread `k // 4 % 8` of those that share the line.
    """
    found: list[tuple[int, int, int]] = []
    before = 1
    for extent, role, step in _leaves(layout[axis]) or []:
        if role == THREAD:
            found.append((before, extent, step))
        before *= extent
    return found


def _threads(leaves: list[_Leaf]) -> list[tuple[int, int]]:
    return [(extent, step) for extent, axis, step in leaves if axis == THREAD]


def _leaves(mode: Layout) -> list[_Leaf] | None:
    """Return the digits of a coordinate; None where a stride is along both axes, or neither."""
    found: list[_Leaf] = []
    for extent, stride in mode.leaves():
        if extent == 1:
            continue
        terms = terms_of(stride)
        if len(terms) != 1 or terms[0][0] not in (THREAD, VALUE):
            return None
        found.append((extent, *terms[0]))
    return found


def _with_strides(mode: list[_Leaf], number: dict[int, int]) -> Layout:
    """Return the layout of a coordinate with the strides of its register digits replaced."""
    digits: list[Digit] = [
        (extent, E(axis, number[step] if axis == VALUE else step)) for extent, axis, step in mode
    ]
    return from_modes(merged(digits))


def _compact_strides(rows: list[_Leaf]) -> dict[int, int]:
    """Map the strides of register digits to compact ones: a row has one register now."""
    strides: dict[int, int] = {}
    count = 1
    for step, extent in sorted((step, extent) for extent, axis, step in rows if axis == VALUE):
        strides[step] = count
        count *= extent
    return strides
