"""Values of rows: the registers in which a reduction along the rows of a tile leaves them.

`row_values` is of matrices whose elements are held once each, `line_values` of any tile along any
dimension, copies of elements included.
"""

from __future__ import annotations

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
"""Extent, axis and step of a digit of a coordinate."""


def row_values(layout: Layout, *, keeps_dimension: bool = False) -> Layout | None:
    """One value for each row of a matrix, in all the threads that have something of the row.

    A thread numbers these registers as it has its rows.  With `keeps_dimension` the values are a
    matrix of one column.  None where elements are held more than once, or digits are no digits of
    threads or of registers.
    """
    if layout.rank != MATRIX:
        return None
    down, across = _leaves(layout[0]), _leaves(layout[1])
    if down is None or across is None:
        return None
    sharers = _threads(across)
    number = _numbers(down)
    modes = [_renumbered(down, number)]
    if keeps_dimension:
        modes.append(TRIVIAL)
    if sharers:
        modes.append(from_modes(merged([(extent, E(THREAD, step)) for extent, step in sharers])))
    return make_layout(*modes)


def line_values(layout: Layout, rank: int, axis: int) -> Layout | None:
    """One value for each line along a dimension, in all the threads that have something of it.

    The layout is of a tile of `rank` dimensions, and may have replicas in threads.  None where
    digits are no digits of threads or of registers, or replicas are in registers.
    """
    found = [_leaves(layout[k]) for k in range(layout.rank)]
    modes = [mode for mode in found if mode is not None]
    if len(modes) < len(found) or len(found) > rank + 1:
        return None
    copies = [leaf for mode in modes[rank:] for leaf in mode]
    if any(role == VALUE for _, role, _ in copies):
        return None
    kept = [mode for k, mode in enumerate(modes[:rank]) if k != axis]
    number = _numbers([leaf for mode in kept for leaf in mode])
    lines = [_renumbered(mode, number) for mode in kept]
    sharers = [(extent, E(THREAD, step)) for extent, step in _threads([*modes[axis], *copies])]
    lines += [from_modes(merged(sharers))] if sharers or not lines else []
    return make_layout(*lines)


def line_sharers(layout: Layout, axis: int) -> list[tuple[int, int]]:
    """Extent and step of the digits of the threads that have a line along a dimension together."""
    return _threads(_leaves(layout[axis]) or [])


def row_sharers(layout: Layout) -> list[tuple[int, int]]:
    """Extent and step of the digits of the threads that have a row of a matrix together.

    The layout is one that `row_values` knows.
    """
    return line_sharers(layout, 1)


def _threads(leaves: list[_Leaf]) -> list[tuple[int, int]]:
    return [(extent, step) for extent, axis, step in leaves if axis == THREAD]


def _leaves(mode: Layout) -> list[_Leaf] | None:
    """The digits of a coordinate; None where one moves along both axes, or along none."""
    found: list[_Leaf] = []
    for extent, stride in mode.leaves():
        if extent == 1:
            continue
        terms = terms_of(stride)
        if len(terms) != 1 or terms[0][0] not in (THREAD, VALUE):
            return None
        found.append((extent, *terms[0]))
    return found


def _renumbered(mode: list[_Leaf], number: dict[int, int]) -> Layout:
    """The layout of a coordinate whose digits of registers have other steps."""
    digits: list[Digit] = [
        (extent, E(axis, number[step] if axis == VALUE else step)) for extent, axis, step in mode
    ]
    return from_modes(merged(digits))


def _numbers(rows: list[_Leaf]) -> dict[int, int]:
    """By the step of a digit of registers, its step where a row has one register."""
    numbers: dict[int, int] = {}
    count = 1
    for step, extent in sorted((step, extent) for extent, axis, step in rows if axis == VALUE):
        numbers[step] = count
        count *= extent
    return numbers
