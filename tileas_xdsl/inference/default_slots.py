"""TileLang's default register index, where a layout only gives the thread of an element.

>>> from tileas_xdsl.layout.expr.expression import dimension
>>> i, j = dimension(0), dimension(1)
>>> print(inferred_slot(i % 4 * 32 + j // 4, (8, 128)))
d1 % 4 + d0 // 4 * 4
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tileas_xdsl.layout.expr.digits import digits_or_wrapped, flattened
from tileas_xdsl.layout.expr.expression import Number, dimension, substituted, symbol
from tileas_xdsl.layout.expr.simplification import simplified
from tileas_xdsl.layout.expr.tables import variables_of_box


def inferred_slot(thread: Number, shape: Sequence[int], replicas: int = 1) -> Number | None:
    """The slot of an element where only its thread is given, or None: the thread is not digital.

    It numbers, row-major, the pieces of the coordinates that the thread expression (over the
    dimensions, and symbol 0 for the replica) leaves unused or wraps: TileLang's default index.
    """
    extents = (*shape, replicas)
    digits = digits_or_wrapped(with_replica_last(thread, len(shape)), extents)
    if digits is None:
        return None
    free_digits = [*digits.unused, *digits.wrapped]
    free = [digit for digit in free_digits if digit.variable < len(shape)]
    return simplified(flattened(free), extents[:-1])


def condensed(thread: Number, shape: Sequence[int], replicas: int) -> tuple[Number, int]:
    """The thread over fewer replicas, without those that differ in unused pieces of the replica.

    The pieces that are left count by their stride, the furthest apart first.  A thread expression
    that is not digital stays as it is.
    """
    extents = (*shape, replicas)
    digits = digits_or_wrapped(with_replica_last(thread, len(shape)), extents)
    if digits is None:
        return thread, replicas
    used = [digit for digit in digits.used if digit.variable == len(shape)]
    used.sort(key=lambda digit: -digit.stride)
    fewer = prod(digit.extent for digit in used)
    replica: Number = 0
    weight = 1
    for digit in used:
        replica = replica + symbol(0) // weight % digit.extent * digit.lower
        weight *= digit.extent
    moved = substituted(thread, variables_of_box(len(shape)), [replica])
    return simplified(moved, shape, (fewer,)), fewer


def with_replica_last(thread: Number, rank: int) -> Number:
    """Return a thread expression with the replica as dimension `rank` instead of symbol 0."""
    return substituted(thread, (), [dimension(rank)])
