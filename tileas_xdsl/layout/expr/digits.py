"""Mixed-radix digits of expressions: which pieces of each variable count, and how much.

A digit is `(variable // lower) % extent`, and an expression is digital where it is a sum of digits
times strides.

>>> i, j = dimension(0), dimension(1)
>>> found = digits_of(i % 4 * 32 + j // 4, (128, 128))
>>> [(str(digit.expression), digit.stride) for digit in found.digits]
[('d0 % 4', 32), ('d0 // 4', 0), ('d1 % 4', 0), ('d1 // 4', 1)]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.expr.expression import (
    BinaryExpression,
    Number,
    dimension,
    dimensions_of,
)
from tileas_xdsl.layout.expr.simplification import simplified
from tileas_xdsl.layout.expr.tables import Table, evaluated, table_of


@dataclass(frozen=True)
class Digit:
    """`(d<variable> // lower) % extent * stride`; the last digit needs no remainder."""

    variable: int
    lower: int
    extent: int
    stride: int
    is_last: bool

    @property
    def expression(self) -> Number:
        """The digit without its stride."""
        value = dimension(self.variable) // self.lower
        return value if self.is_last else value % self.extent


@dataclass(frozen=True)
class Digits:
    """`base` plus the digits, those of a variable from its lowest to its highest."""

    base: int
    digits: tuple[Digit, ...]

    @property
    def unused(self) -> tuple[Digit, ...]:
        """The pieces of the variables that have no influence."""
        return tuple(digit for digit in self.digits if digit.stride == 0)

    @property
    def used(self) -> tuple[Digit, ...]:
        """The pieces of the variables that have influence."""
        return tuple(digit for digit in self.digits if digit.stride)


def digits_of(number: Number, extents: Sequence[int]) -> Digits | None:
    """The digits of a number over dimensions of these extents, or None: it is not digital.

    Together the digits of each variable make up its extent, the last one perhaps more; a variable
    of extent 1 has no digit.
    """
    return _digits_of(simplified(number, extents), tuple(extents))


def flattened(digits: Iterable[Digit]) -> Number:
    """The digits as one number, row-major: earlier variables and higher digits count more."""
    in_order = sorted(digits, key=lambda digit: (-digit.variable, digit.lower))
    result: Number = 0
    weight = 1
    for digit in in_order:
        result = result + digit.expression * weight
        weight *= digit.extent
    return result


def terms_of(number: Number) -> list[Number]:
    """The terms of a sum."""
    if isinstance(number, BinaryExpression) and number.kind == "add":
        return [*terms_of(number.lhs), *terms_of(number.rhs)]
    return [number]


@lru_cache(maxsize=1 << 14)
def _digits_of(number: Number, extents: tuple[int, ...]) -> Digits | None:
    lines = _lines_of_terms(number, extents)
    if lines is None:
        lines = _lines_of_table(number, extents)
    if lines is None:
        return None
    digits: list[Digit] = []
    for variable, line in enumerate(lines):
        found = _digits_of_line(variable, line)
        if found is None:
            return None
        digits += found
    return Digits(sum(int(line[0]) for line in lines), tuple(digits))


def _lines_of_terms(number: Number, extents: tuple[int, ...]) -> list[Table] | None:
    """What each variable contributes, where every term mentions at most one; the base is in 0."""
    lines = [np.zeros(extent, dtype=np.int64) for extent in extents]
    values = [np.arange(extent, dtype=np.int64) for extent in extents]
    for term in terms_of(number):
        variables = dimensions_of(term)
        if len(variables) > 1:
            return None
        variable = min(variables, default=0)
        lines[variable] = lines[variable] + evaluated(term, values)
    return lines


def _lines_of_table(number: Number, extents: tuple[int, ...]) -> list[Table] | None:
    """The same by trying all points: an expression may be separable though it does not look so."""
    table = table_of(number, extents)
    origin = (0,) * len(extents)
    lines = [
        table[(*origin[:k], slice(None), *origin[k + 1 :])] - (table[origin] if k else 0)
        for k in range(len(extents))
    ]
    total = sum(
        line.reshape([-1 if k == axis else 1 for k in range(len(extents))])
        for axis, line in enumerate(lines)
    )
    return lines if np.array_equal(np.broadcast_to(total, extents), table) else None


def _digits_of_line(variable: int, line: Table) -> list[Digit] | None:
    """Greedy: a digit ends where the line stops being linear."""
    values = line - line[0]
    total, lower = len(values), 1
    digits: list[Digit] = []
    while lower < total:
        steps = values[::lower]
        stride = int(steps[1])
        linear = steps == np.arange(len(steps)) * stride
        extent = len(steps) if linear.all() else int(np.argmin(linear))
        digits.append(Digit(variable, lower, extent, stride, lower * extent >= total))
        lower *= extent
    return digits if _is_sum(values, digits) else None


def _is_sum(values: Table, digits: Sequence[Digit]) -> bool:
    points = np.arange(len(values))
    total = sum((points // d.lower % d.extent * d.stride for d in digits), np.zeros_like(points))
    return np.array_equal(total, values)
