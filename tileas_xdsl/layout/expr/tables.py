"""Expressions over boxes: their values as numpy tables, and expressions recovered from tables.

Tables decide what is true (injective? the same function?); expressions say it in closed form.  A
recovered expression is certified: it is written only where it gives every entry of the table.

>>> i, j = dimension(0), dimension(1)
>>> table = table_of(i % 4 * 2 + j, (8, 2))
>>> print(expression_of(table, (i, j)))
d0 % 4 * 2 + d1
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.layout.expr.expression import Number, Position, Variable, dimension, evaluate

Table = NDArray[np.int64]


def coordinates_of(shape: Sequence[int]) -> tuple[Table, ...]:
    """One array per dimension, which broadcast to `shape`: the coordinates of all its points."""
    return tuple(np.ix_(*(np.arange(extent, dtype=np.int64) for extent in shape)))


def evaluated(
    number: Number, dimensions: Sequence[Table | int], symbols: Sequence[Table | int] = ()
) -> Table:
    """The values of a number on arrays that broadcast; a scalar table where none occurs."""

    def value(variable: Variable) -> Table | int:
        key: Position = variable.key
        return dimensions[key.number] if key.letter == "d" else symbols[key.number]

    return np.asarray(evaluate(number, value), dtype=np.int64)


def table_of(number: Number, shape: Sequence[int], symbols: Sequence[Table | int] = ()) -> Table:
    """`shape`: the values of a number at all points of a box."""
    values = evaluated(number, coordinates_of(shape), symbols)
    return np.ascontiguousarray(np.broadcast_to(values, tuple(shape)))


def variables_of_box(rank: int) -> tuple[Number, ...]:
    """`d0` to `d<rank - 1>`."""
    return tuple(dimension(k) for k in range(rank))


def linearized(indices: Sequence[Number], shape: Sequence[int]) -> Number:
    """The row-major index of a point of a box."""
    result: Number = 0
    for index, extent in zip(indices, shape, strict=True):
        result = result * extent + index
    return result


def delinearized(index: Number, shape: Sequence[int]) -> tuple[Number, ...]:
    """The coordinates of a row-major index in a box."""
    found: list[Number] = []
    for extent in reversed(shape[1:]):
        found.append(index % extent)
        index = index // extent
    return (index, *reversed(found)) if shape else ()


def expression_of(values: Table, variables: Sequence[Number]) -> Number | None:
    """The expression over `variables`, one per axis of `values`, that gives them; None if none.

    It is a sum of digits of single variables; the last digit of each may be ragged, as those of
    7 rows on 4 warps are.  The sum is compared with all values.
    """
    if values.size == 0:
        return 0
    origin = int(values.flat[0])
    result: Number = 0
    rebuilt = np.zeros((1,) * values.ndim, dtype=np.int64)
    for axis, variable in enumerate(variables):
        line = values[tuple(slice(None) if k == axis else 0 for k in range(values.ndim))] - origin
        part = _digits(line, variable)
        if part is None:
            return None
        result = result + part
        rebuilt = rebuilt + line.reshape([-1 if k == axis else 1 for k in range(values.ndim)])
    return result + origin if np.array_equal(rebuilt + origin, values) else None


def _digits(line: Table, variable: Number) -> Number | None:
    """Express a line that begins with 0 as a sum of scaled digits of its index; None if impossible.

    Descending lines are left to the expressions of the program, which are simpler.
    """
    result: Number = 0
    weight = 1
    while len(line) > 1:
        step = int(line[1])
        if step < 0:
            return None
        positions = np.arange(len(line), dtype=np.int64)
        bent = line != step * positions
        extent = int(np.argmax(bent)) if bent.any() else len(line)
        rest = line[::extent]
        if not np.array_equal(line, rest[positions // extent] + step * (positions % extent)):
            return None
        if step:
            digit = variable // weight
            digit = digit % extent if len(rest) > 1 else digit
            result = digit * step + result
        line, weight = rest, weight * extent
    return result


def distinct(keys: Table, bound: int) -> Table:
    """Return the distinct keys, ascending; all are at least 0 and less than `bound`.

    >>> distinct(np.array([5, 2, 5]), 8)
    array([2, 5])
    """
    if bound > SPARSE * keys.size:
        return np.unique(keys)
    seen = np.zeros(bound, dtype=np.bool_)
    seen[keys] = True
    return np.flatnonzero(seen)


SPARSE = 16
"""Times as many possible keys as there are from which on sorting them takes less than marking."""
