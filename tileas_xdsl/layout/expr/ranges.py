"""Interval analysis: the range of an expression, given the ranges of its variables.

The interval of an operation is the image of those of its operands. It is exact where each variable
occurs once, else it may be wider than needed:

>>> d0, d1 = dimension(0), dimension(1)
>>> range_of(d0 * 8 + d1 % 4, box((16, 100)))
(0, 123)
>>> range_of((d0 + 16) // 32, box((16,)))
(0, 0)
>>> range_of(d0 * 2 - d0, box((16,)))
(-15, 30)

Comparisons, remainders and quotients that an interval decides are folded (`simplification.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from tileas_xdsl.layout.expr.expression import (
    BinaryExpression,
    Number,
    Variable,
    dimension,
    symbol,
)
from tileas_xdsl.layout.integers import ceil_div

Interval = tuple[int, int]
"""The least and the greatest value, both included."""

Bounds = Mapping[Variable, Interval]
"""The intervals of variables; one that is missing may be any integer."""


@lru_cache(maxsize=1 << 10)
def box(extents: Sequence[int], symbols: Sequence[int | None] = ()) -> Bounds:
    """The bounds with `d<k>` in `range(extents[k])`, and `s<k>` in `range(symbols[k])` if not None.

    The sequences are tuples.
    """
    bounds = {dimension(k): (0, extent - 1) for k, extent in enumerate(extents)}
    bounds |= {symbol(k): (0, n - 1) for k, n in enumerate(symbols) if n is not None}
    return MappingProxyType(bounds)


def range_of(number: Number, bounds: Bounds) -> Interval | None:
    """Return the interval of an expression; None where it is not known."""
    if isinstance(number, int):
        return number, number
    if isinstance(number, Variable):
        return bounds.get(number)
    assert isinstance(number, BinaryExpression)
    left, right = range_of(number.lhs, bounds), range_of(number.rhs, bounds)
    if number.kind == "floormod":
        return _remainder(left, right)
    if left is None or right is None:
        return None
    match number.kind:
        case "add":
            return left[0] + right[0], left[1] + right[1]
        case "sub":
            return left[0] - right[1], left[1] - right[0]
        case "mul":
            products = [a * b for a in left for b in right]
            return min(products), max(products)
        case "floordiv" | "ceildiv":
            return _quotient(number.kind, left, right)
        case _:
            return None


def is_quotient_constant(interval: Interval | None, divisor: int) -> bool:
    """Whether all integers of an interval have the same quotient by `divisor`."""
    return interval is not None and interval[0] // divisor == interval[1] // divisor


def _remainder(left: Interval | None, right: Interval | None) -> Interval | None:
    if right is None or right[0] != right[1] or right[0] <= 0:
        return None
    divisor = right[0]
    if left is not None and is_quotient_constant(left, divisor):
        return left[0] % divisor, left[1] % divisor
    return 0, divisor - 1


def _quotient(kind: str, left: Interval, right: Interval) -> Interval | None:
    if right[0] != right[1] or right[0] <= 0:
        return None
    divisor = right[0]
    if kind == "floordiv":
        return left[0] // divisor, left[1] // divisor
    return ceil_div(left[0], divisor), ceil_div(left[1], divisor)
