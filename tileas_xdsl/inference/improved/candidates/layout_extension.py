"""Extend a loop's layout to a whole buffer that it accesses in part or repeatedly.

The indices are solved for the variables of the loop, dimension by dimension (mixed-radix digits,
`a*i + b*j + c` with digits that do not overlap, `(i + b) % n` and `i // n + b`).  For `f[2*i + 1]`
with i in range(8) and f of 16 elements:

    e = 2*i + 1   ->   i = (e - 1) % 16 // 2,   extra = (e - 1) % 2
    thread(e) = thread_of_iteration(i)          slot(e) = slot_of_iteration(i) + extra * slots

What the solution does not need of an element's coordinates goes into higher slots, 0 for elements
that are touched; variables that no index mentions become copies (symbols).  A table of the result
decides whether it is right: `is_injective`, threads in the block, slots not negative.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import pairwise
from math import prod

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.fragment_map import REPLICA, FragmentMap
from tileas_xdsl.inference.improved.accesses.fragment_access import MAX_POINTS, FragmentUse
from tileas_xdsl.inference.improved.candidates.expression_recovery import map_from
from tileas_xdsl.layout.expr.expression import Number, dimension, substituted, symbol, symbols_of
from tileas_xdsl.layout.expr.simplification import simplified
from tileas_xdsl.layout.expr.tables import (
    Table,
    coordinates_of,
    delinearized,
    evaluated,
    linearized,
    variables_of_box,
)
from tileas_xdsl.layout.integers import ceil_div

Extra = tuple[Number, int]
"""A part of an element's coordinates that no iteration determines, and its number of values."""


@dataclass
class Solution:
    """The variables of a loop by the coordinates of an element; `copies` are symbols 1, 2, ..."""

    variables: dict[int, Number] = field(default_factory=dict[int, Number])
    extras: list[Extra] = field(default_factory=list[Extra])
    copies: list[int] = field(default_factory=list[int])

    def copy(self, count: int) -> Number:
        """A new number of a copy, below `count`."""
        if count == 1:
            return 0
        self.copies.append(count)
        return symbol(len(self.copies))

    def wrapped(self, value: Number, values: int, extent: int) -> Number:
        """`value`, in `range(values)`, as a variable of `extent`; what is beyond is extra."""
        if values <= extent:
            return value
        self.extras.append((value // extent, ceil_div(values, extent)))
        return value % extent


def extended(runs: FragmentMap, use: FragmentUse) -> FragmentMap | None:
    """A layout of the buffer of `use` in which each thread of `runs` has what it touches.

    None where the indices have no solution; a write gets one too, where no other iterations of
    other threads write the element.
    """
    if None in use.access.indices or not use.extents:
        return None
    solution = _solved(use)
    if solution is None:
        return None
    copies = [runs.replicas, *solution.copies]
    if prod(copies) * prod(use.buffer.shape) > MAX_POINTS:
        return None
    numbers = delinearized(REPLICA, copies)
    at = [
        substituted(solution.variables[k], variables_of_box(use.rank), numbers)
        for k in range(len(use.extents))
    ]
    thread = substituted(runs.thread, at, [numbers[0]])
    slot = substituted(runs.slot, [solution.variables[k] for k in range(len(use.extents))], [])
    extra = linearized([e for e, _ in solution.extras], [n for _, n in solution.extras])
    slot = slot + extra * runs.slots
    return _map(use, runs.threads, thread, slot, prod(copies))


def _map(
    use: FragmentUse, block: int, thread: Number, slot: Number, copies: int
) -> FragmentMap | None:
    """The map with these expressions; None where it is not one, or slots depend on copies."""
    shape = use.buffer.shape
    if symbols_of(slot):
        return None
    thread = simplified(thread, shape, (copies,))
    slot = simplified(slot, shape)
    raw = FragmentMap(shape, thread, slot, block, copies)
    threads = raw.thread_table
    if threads.min(initial=0) < 0 or threads.max(initial=0) >= block or raw.slot_table.min() < 0:
        return None
    found = map_from(threads, thread, raw.slot_table, slot, block)
    return found if found is not None and found.is_injective else None


def _solved(use: FragmentUse) -> Solution | None:
    solution = Solution()
    tables = _tables(use)
    left: list[int] = []
    for k, table in enumerate(tables):
        if not _solve(solution, use, k, table):
            left.append(k)
    for v, extent in enumerate(use.extents):
        if v not in solution.variables:
            solution.variables[v] = solution.copy(extent)
    for k in left:
        solution.extras.append(_difference(solution, use, k))
    return solution


def _tables(use: FragmentUse) -> list[Table]:
    """The indices at rest over the box of the loop."""
    box = coordinates_of(use.extents)
    return [np.broadcast_to(evaluated(i, box, ()), use.extents) for i in use.at_rest]


def _difference(solution: Solution, use: FragmentUse, k: int) -> Extra:
    """How far a coordinate is from what the solution touches."""
    extent = use.buffer.shape[k]
    at = [solution.variables[v] for v in range(len(use.extents))]
    touched = substituted(use.at_rest[k], at, [])
    return (dimension(k) - touched + extent) % extent, extent


def _solve(solution: Solution, use: FragmentUse, k: int, table: Table) -> bool:
    """Solve index `k` for unknown loop variables; return False where it determines none."""
    moving = [v for v in range(len(use.extents)) if _moves(table, v)]
    if not moving or any(v in solution.variables for v in moving):
        return False
    line = _line(table, moving[0])
    if len(moving) == 1 and not _is_straight(line):
        return _solve_bent(solution, use, k, moving[0], line)
    return _solve_linear(solution, use, k, table, moving)


def _moves(table: Table, variable: int) -> bool:
    return table.shape[variable] > 1 and bool((np.diff(table, axis=variable) != 0).any())


def _line(table: Table, variable: int) -> Table:
    return table[tuple(slice(None) if v == variable else 0 for v in range(table.ndim))]


def _is_straight(line: Table) -> bool:
    return bool((np.diff(line) == line[1] - line[0]).all())


def _solve_bent(solution: Solution, use: FragmentUse, k: int, variable: int, line: Table) -> bool:
    """Indices `(v + b) mod n` and `v floordiv n + b`."""
    extent, size = use.extents[variable], use.buffer.shape[k]
    positions = np.arange(extent, dtype=np.int64)
    e, begin = dimension(k), int(line[0])
    for n in dict.fromkeys((size, int(line.max()) + 1)):
        if np.array_equal(line, (positions + begin) % n):
            back = (e + (n - begin % n)) % n
            solution.extras += [(e // n, ceil_div(size, n))] if size > n else []
            turns = ceil_div(extent, n)
            if turns > 1:
                value = (back + solution.copy(turns) * n) % extent
            else:
                value = solution.wrapped(back, n, extent)
            solution.variables[variable] = value
            return True
    group = int(np.argmax(line != begin))
    if not np.array_equal(line, positions // group + begin):
        return False
    back = e - begin + size * (begin > 0)
    value = back % size * group + solution.copy(group)
    groups = ceil_div(extent, group)
    if size > groups:
        solution.extras.append((back % size // groups, ceil_div(size, groups)))
    solution.variables[variable] = value % extent
    return True


def _solve_linear(
    solution: Solution, use: FragmentUse, k: int, table: Table, moving: Sequence[int]
) -> bool:
    """Solve a sum of scaled variables whose digits do not overlap."""
    origin = int(table.flat[0])
    steps = {v: int(_line(table, v)[1]) - origin for v in moving}
    rebuilt = origin + sum(
        coordinate * steps.get(v, 0) for v, coordinate in enumerate(coordinates_of(use.extents))
    )
    if not np.array_equal(np.broadcast_to(rebuilt, use.extents), table):
        return False
    # A variable with a negative step counts down: with the least index subtracted all digits are
    # positive, and its value is mirrored at the end.
    least = origin + sum(min(0, step * (use.extents[v] - 1)) for v, step in steps.items())
    order = sorted(moving, key=lambda v: -abs(steps[v]))
    size = use.buffer.shape[k]
    # Digits that overlap, as in `2 * i + j` with 4 values of j, have no unique solution.
    for outer, inner in pairwise(order):
        if abs(steps[inner]) * use.extents[inner] > abs(steps[outer]):
            return False
    rest: Number = dimension(k) - least
    values = size
    if least:
        rest = (rest + size) % size
    for v, digit, count in _digits(rest, values, [(v, abs(steps[v])) for v in order], solution):
        value = solution.wrapped(digit, count, use.extents[v])
        solution.variables[v] = value if steps[v] > 0 else value * -1 + (use.extents[v] - 1)
    return True


def _digits(
    rest: Number, values: int, steps: Sequence[tuple[int, int]], solution: Solution
) -> Iterator[tuple[int, Number, int]]:
    """Each variable with its digit of `rest`, and how many values that has."""
    for v, step in steps:
        yield v, rest // step, ceil_div(values, step)
        rest, values = rest % step, min(values, step)
    if values > 1:
        solution.extras.append((rest, values))
