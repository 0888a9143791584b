"""Fit a partial table by digits of its index: a sum of their multiples, or an exclusive-or.

Where a table is indexed by the thread, its entries are almost always a sum of multiples of bits of
the thread; under a swizzle they are an exclusive-or.  Entries below 0 are unknown and fit anything.

>>> table = np.array([0, 1, 8, 9, 16, -1, 24, 25])
>>> fit("add", table, digit_rows(8, [(1, 2), (2, 4)]))
(0, (1, 8))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from tileas_xdsl.layout.expr.tables import Table

Coefficients: TypeAlias = tuple[int, ...]
"""What one more of each digit adds to an entry, or which bits of it that flips."""


def digit_rows(count: int, digits: Sequence[tuple[int, int]]) -> Table:
    """`(digits, count)`: `index // step % extent` of each index, for each `(step, extent)`."""
    index = np.arange(count, dtype=np.int64)
    rows = [index // step % extent for step, extent in digits]
    return np.array(rows, dtype=np.int64).reshape(len(digits), count)


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
    found = np.zeros(len(digits), dtype=np.int64)
    for k in range(len(digits)):
        pair = _neighbours(digits[:, known], k)
        if pair is not None:
            first, second = table[known][pair[0]], table[known][pair[1]]
            found[k] = second - first if kind == "add" else second ^ first
    terms = digits * found[:, None]
    if kind == "add":
        rest = (table - terms.sum(axis=0))[known]
    else:
        rest = (table ^ np.bitwise_xor.reduce(terms, axis=0, dtype=np.int64))[known]
    return None if (rest != rest[0]).any() else (int(rest[0]), tuple(found.tolist()))


def _neighbours(digits: Table, k: int) -> tuple[int, int] | None:
    """Two columns that differ in digit `k` only, by one."""
    others = np.delete(digits, k, axis=0)
    order = np.lexsort((digits[k], *others)) if len(others) else np.argsort(digits[k])
    equal = (np.diff(others[:, order], axis=1) == 0).all(axis=0)
    steps = np.flatnonzero(equal & (np.diff(digits[k, order]) == 1))
    if not len(steps):
        return None
    first = int(steps[0])
    return int(order[first]), int(order[first + 1])
