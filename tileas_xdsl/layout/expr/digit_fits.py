"""Fit a partial table by digits of its index: a sum of their multiples, or an exclusive-or.

Where a table is indexed by the thread, its entries are almost always a sum of multiples of bits of
the thread; under a swizzle they are an exclusive-or.  Entries below 0 are unknown and fit anything.

>>> table = np.array([0, 1, 8, 9, 16, -1, 24, 25])
>>> fit("add", table, digit_rows(8, [(1, 2), (2, 4)]))
(0, (1, 8))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.layout.expr.tables import Table

Coefficients: TypeAlias = tuple[int, ...]
"""What one more of each digit adds to an entry, or which bits of it that flips."""


def digit_rows(count: int, digits: Sequence[tuple[int, int]]) -> Table:
    """`(digits, count)`: `index // step % extent` of each index, for each `(step, extent)`."""
    return _digit_rows(count, tuple(digits))


@lru_cache
def _digit_rows(count: int, digits: tuple[tuple[int, int], ...]) -> Table:
    index = np.arange(count, dtype=np.int64)
    rows = [index // step % extent for step, extent in digits]
    found = np.array(rows, dtype=np.int64).reshape(len(digits), count)
    found.setflags(write=False)
    return found


def bit_rows(count: int) -> Table:
    """`(bits, count)`: the bits of each index."""
    return digit_rows(count, [(1 << k, 2) for k in range((count - 1).bit_length())])


def fit(
    kind: Literal["add", "xor"], table: Table, digits: Table
) -> tuple[int, Coefficients] | None:
    """The entry where all digits are 0, and the coefficient of each digit; None without a fit.

    A coefficient is read off two known entries whose indices differ in one digit by one; all known
    entries then certify the result.
    """
    known = table >= 0
    if not known.any():
        return 0, (0,) * len(digits)
    found, pairs = np.zeros(len(digits), dtype=np.int64), _units(digits, known)
    for k in range(len(digits)):
        pair = pairs[k] if k in pairs else _neighbours(digits, known, k)
        if pair is not None:
            first, second = table[pair[0]], table[pair[1]]
            found[k] = second - first if kind == "add" else second ^ first
    terms = digits * found[:, None]
    if kind == "add":
        rest = (table - terms.sum(axis=0))[known]
    else:
        rest = (table ^ np.bitwise_xor.reduce(terms, axis=0, dtype=np.int64))[known]
    return None if (rest != rest[0]).any() else (int(rest[0]), tuple(found.tolist()))


def _units(digits: Table, known: NDArray[np.bool_]) -> Mapping[int, tuple[int, int]]:
    """By digit: the columns where all are 0 and where only this one is 1, if both are known.

    Most tables have all of these, for which nothing need be searched.
    """
    if not known[0]:
        return {}
    columns = np.flatnonzero(known & (digits.sum(axis=0) == 1)).tolist()
    return {int(digits[:, column].argmax()): (0, column) for column in columns}


def _neighbours(digits: Table, known: NDArray[np.bool_], k: int) -> tuple[int, int] | None:
    """Two known columns that differ in digit `k` only, by one."""
    columns = np.flatnonzero(known)
    own, others = digits[k, columns], np.delete(digits[:, columns], k, axis=0)
    order = np.lexsort((own, *others)) if len(others) else np.argsort(own)
    equal = (np.diff(others[:, order], axis=1) == 0).all(axis=0)
    steps = np.flatnonzero(equal & (np.diff(own[order]) == 1))
    if not len(steps):
        return None
    first = int(steps[0])
    return int(columns[order[first]]), int(columns[order[first + 1]])
