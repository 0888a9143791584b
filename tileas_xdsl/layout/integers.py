"""What counts as an integer of a layout: anything with `__index__`, numpy's too, but no `bool`.

A number that only run time knows (`layout.expr.expression`) counts too.
"""

from __future__ import annotations

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
        raise LayoutError(f"{x} is a truth value, not {what}")
    try:
        return index(x)
    except TypeError:
        raise LayoutError(f"{x!r} is not {what}") from None


def power_of_two_below(number: int) -> int:
    """The largest power of two that is not above a positive number."""
    return 1 << (number.bit_length() - 1)
