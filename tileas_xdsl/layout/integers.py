"""Integers of layouts and sizes, and their arithmetic.

Anything with `__index__` counts as an integer of a layout, numpy's too, but no `bool`; so does a
number that only run time knows (`layout.expr.expression`).
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any

from tileas_xdsl.layout.errors import LayoutError


class Symbolic:
    """A number that is known at run time only: the base of `layout.expr.expression.Expression`."""

    __slots__ = ()


def whole(x: Any, what: str) -> int:
    """Return `x` as an `int`; raise a `LayoutError` that names `what` for anything else."""
    if isinstance(x, Symbolic):
        symbolic: Any = x
        return symbolic
    if isinstance(x, bool):
        raise LayoutError(f"{x} is a boolean, not {what}")
    try:
        return index(x)
    except TypeError:
        raise LayoutError(f"{x!r} is not {what}") from None


def ceil_div(number: int, divisor: int) -> int:
    """Return how many `divisor` cover the number: the quotient rounded up."""
    return -(-number // divisor)


def align_up(number: int, multiple: int) -> int:
    """Return the least multiple that is not below the number."""
    return -(-number // multiple) * multiple


def is_power_of_two(number: int) -> bool:
    """Return whether the number is 1, 2, 4 ..."""
    return number > 0 and not number & (number - 1)


def power_of_two_below(number: int) -> int:
    """The largest power of two that is not above a positive number."""
    return 1 << (number.bit_length() - 1)


def three_extents(sizes: int | Iterable[int]) -> tuple[int, int, int] | None:
    """Return one to three positive integers as extents along x, y and z, 1 where none is given.

    None for anything else, which is no grid, block or cluster of a launch.
    """
    try:
        extents = [index(n) for n in (sizes if isinstance(sizes, Iterable) else (sizes,))]
    except TypeError:
        return None
    if not 1 <= len(extents) <= 3 or any(n < 1 for n in extents):
        return None
    x, y, z = (*extents, 1, 1)[:3]
    return x, y, z
