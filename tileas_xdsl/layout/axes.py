"""Strides over named axes: the free module that CuTe's scaled bases live in.

A stride leaf is an integer or a sum of multiples of named axes, written `16@thread+1@value`.  A
plain integer is a multiple of the anonymous axis.  Numeric names are coordinate modes as in CuTe:
`2@0` is two steps along mode 0, and `1@1@0` one step along mode 1 inside mode 0 (CuTe's `E<0,1>`).

Source: CUTLASS include/cute/numeric/arithmetic_tuple.hpp (ScaledBasis, ArithmeticTuple).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeAlias, final

from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.integers import whole

ANONYMOUS = ""
"""The axis that a plain integer stride steps along."""

_AXIS = re.compile(r"[A-Za-z0-9_]+(@[A-Za-z0-9_]+)*", re.ASCII)


@final
class AxisSum:
    """An immutable sum of multiples of axes, `terms = ((axis, coefficient), ...)`.

    Terms are sorted by axis and never zero, and at least one axis is named: a sum without named
    axes is a plain `int`.  Build one with `E` or `axis_sum`.
    """

    __slots__ = ("_hash", "terms")

    terms: tuple[tuple[str, int], ...]

    def __init__(self, terms: tuple[tuple[str, int], ...]) -> None:
        self.terms = terms
        self._hash = hash(terms)

    def coefficient(self, axis: str) -> int:
        """The multiple of `axis` in this sum; 0 when it does not occur."""
        return dict(self.terms).get(axis, 0)

    def __add__(self, other: Offset) -> Offset:
        return axis_sum((*self.terms, *terms_of(other)))

    __radd__ = __add__

    def __sub__(self, other: Offset) -> Offset:
        return self + -other

    def __rsub__(self, other: Offset) -> Offset:
        return -self + other

    def __mul__(self, factor: int) -> Offset:
        if factor == 0:
            return 0
        return AxisSum(tuple((axis, k * factor) for axis, k in self.terms))

    __rmul__ = __mul__

    def __neg__(self) -> AxisSum:
        return AxisSum(tuple((axis, -k) for axis, k in self.terms))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AxisSum) and self.terms == other.terms

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        terms = [f"{k}@{axis}" if axis else str(k) for axis, k in self.terms]
        return "+".join(terms).replace("+-", "-")

    def __repr__(self) -> str:
        return " + ".join(f"E({axis!r}, {k})" if axis else str(k) for axis, k in self.terms)


Offset: TypeAlias = "int | AxisSum"
"""Where a layout maps a coordinate: an integer, or a point in the space of its named axes."""


def axis_sum(terms: Iterable[tuple[str, int]]) -> Offset:
    """The sum of `terms`, as an `int` when no named axis is left."""
    total: dict[str, int] = {}
    for axis, coefficient in terms:
        total[axis] = total.get(axis, 0) + coefficient
    kept = tuple(sorted((axis, k) for axis, k in total.items() if k != 0))
    if not kept:
        return 0
    if len(kept) == 1 and kept[0][0] == ANONYMOUS:
        return kept[0][1]
    return AxisSum(kept)


def E(axis: str | int, coefficient: int = 1) -> Offset:  # noqa: N802 (CuTe's name)
    """`coefficient` steps along `axis`; an integer axis is a coordinate mode."""
    return axis_sum(((_axis_name(axis), whole(coefficient, "a multiple of an axis")),))


def _axis_name(axis: Any) -> str:
    """The name of an axis as layout texts can write it."""
    if isinstance(axis, bool) or not isinstance(axis, (str, int)):
        raise LayoutError(f"{axis!r} is no axis: that is a name or the index of a mode")
    if _AXIS.fullmatch(str(axis)) is None:
        raise LayoutError(f"{axis!r} is no axis: a name has letters, digits and underscores")
    return str(axis)


def terms_of(offset: Offset) -> tuple[tuple[str, int], ...]:
    """The `(axis, coefficient)` pairs of an offset; none for 0."""
    if isinstance(offset, AxisSum):
        return offset.terms
    return () if offset == 0 else ((ANONYMOUS, offset),)


def coefficient_of(offset: Offset, axis: str) -> int:
    """The multiple of `axis` in `offset`."""
    if isinstance(offset, AxisSum):
        return offset.coefficient(axis)
    return offset if axis == ANONYMOUS else 0


def mode_path(axis: str) -> tuple[int, ...] | None:
    """The coordinate path that a numeric axis names (`"1@0"` is mode 1 of mode 0), else None."""
    parts = axis.split("@")
    if not all(part.isascii() and part.isdigit() for part in parts):
        return None
    return tuple(int(part) for part in reversed(parts))
