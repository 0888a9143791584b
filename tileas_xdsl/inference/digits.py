"""Digits of quasi-affine expressions: which pieces of each variable count, and how much.

A digit is `(variable floordiv lower) mod extent`, and an expression is digital where it is a sum of
digits times strides.  Slots are inferred from what a thread expression leaves unused.

>>> from xdsl.ir.affine import AffineExpr
>>> i, j = AffineExpr.dimension(0), AffineExpr.dimension(1)
>>> found = digits_of(i % 4 * 32 + j // 4, (128, 128))
>>> [(str(digit.expression), digit.stride) for digit in found.digits]
[('(d0 mod 4)', 32), ('(d0 floordiv 4)', 0), ('(d1 mod 4)', 0), ('(d1 floordiv 4)', 1)]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineExpr,
)

from tileas_xdsl.inference.fragment_map import Table, coordinates_of
from tileas_xdsl.inference.simplify import simplified, variables_of


@dataclass(frozen=True)
class Digit:
    """`(d{variable} floordiv lower) mod extent * stride`; the last digit needs no mod."""

    variable: int
    lower: int
    extent: int
    stride: int
    is_last: bool

    @property
    def expression(self) -> AffineExpr:
        """The digit without its stride."""
        value: AffineExpr = AffineExpr.dimension(self.variable)
        if self.lower > 1:
            value = value // self.lower
        return value if self.is_last else value % self.extent


@dataclass(frozen=True)
class Digits:
    """`base` plus the digits, those of a variable from its lowest to its highest.

    `wrapped` are digits whose sum counts modulo some number, so that they have influence without
    being told apart by it.
    """

    base: int
    digits: tuple[Digit, ...]
    wrapped: frozenset[Digit] = frozenset()

    @property
    def unused(self) -> tuple[Digit, ...]:
        """The pieces of the variables that have no influence."""
        return tuple(digit for digit in self.digits if digit.stride == 0)

    @property
    def used(self) -> tuple[Digit, ...]:
        """The pieces of the variables that have influence."""
        return tuple(digit for digit in self.digits if digit.stride)


def digits_of(expression: AffineExpr, extents: Sequence[int]) -> Digits | None:
    """The digits of an expression over dimensions of these extents, or None: it is not digital.

    Together the digits of each variable make up its extent, the last one perhaps more; a variable
    of extent 1 has no digit.
    """
    return _digits_of(simplified(expression, extents), tuple(extents))


def flattened(digits: Iterable[Digit]) -> AffineExpr:
    """The digits as one number, row-major: earlier variables and higher digits count more."""
    in_order = sorted(digits, key=lambda digit: (-digit.variable, digit.lower))
    result, weight = AffineExpr.constant(0), 1
    for digit in in_order:
        result = result + digit.expression * weight
        weight *= digit.extent
    return result


def inferred_slot(thread: AffineExpr, shape: Sequence[int], replicas: int = 1) -> AffineExpr | None:
    """The slot of an element where only its thread is given, or None: the thread is not digital.

    It numbers, row-major, the pieces of the coordinates that the thread expression (over the
    dimensions, and symbol 0 for the replica) leaves unused or wraps: TileLang's default index.
    """
    extents = (*shape, replicas)
    digits = _digits_or_wrapped(with_replica_last(thread, len(shape)), extents)
    if digits is None:
        return None
    pieces = [*digits.unused, *digits.wrapped]
    free = [digit for digit in pieces if digit.variable < len(shape)]
    return simplified(flattened(free), extents[:-1])


def condensed(thread: AffineExpr, shape: Sequence[int], replicas: int) -> tuple[AffineExpr, int]:
    """The thread over fewer replicas, without those that differ in unused pieces of the replica.

    The pieces that are left count by their stride, the furthest apart first.  A thread expression
    that is not digital stays as it is.
    """
    extents = (*shape, replicas)
    digits = _digits_or_wrapped(with_replica_last(thread, len(shape)), extents)
    if digits is None:
        return thread, replicas
    used = [digit for digit in digits.used if digit.variable == len(shape)]
    used.sort(key=lambda digit: -digit.stride)
    fewer = prod(digit.extent for digit in used)
    replica, weight = AffineExpr.constant(0), 1
    for digit in used:
        replica = replica + AffineExpr.symbol(0) // weight % digit.extent * digit.lower
        weight *= digit.extent
    dimensions = [AffineExpr.dimension(k) for k in range(len(shape))]
    moved = thread.replace_dims_and_symbols(dimensions, [replica])
    return simplified(moved, shape, (fewer,)), fewer


def with_replica_last(thread: AffineExpr, rank: int) -> AffineExpr:
    """A thread expression with the replica as dimension `rank` in place of symbol 0."""
    dimensions = [AffineExpr.dimension(k) for k in range(rank)]
    return thread.replace_dims_and_symbols(dimensions, [AffineExpr.dimension(rank)])


@lru_cache(maxsize=1 << 14)
def _digits_of(expression: AffineExpr, extents: tuple[int, ...]) -> Digits | None:
    lines = _lines_of_terms(expression, extents)
    if lines is None:
        lines = _lines_of_table(expression, extents)
    if lines is None:
        return None
    digits: list[Digit] = []
    for variable, line in enumerate(lines):
        found = _digits_of_line(variable, line)
        if found is None:
            return None
        digits += found
    return Digits(sum(int(line[0]) for line in lines), tuple(digits))


def _digits_or_wrapped(expression: AffineExpr, extents: Sequence[int]) -> Digits | None:
    """The digits, also where a sum of them is taken modulo some number."""
    expression = simplified(expression, extents)
    found = digits_of(expression, extents)
    if found is not None:
        return found
    terms = _terms(expression)
    mixed = [term for term in terms if len(variables_of(term)) > 1]
    others = [term for term in terms if len(variables_of(term)) < 2]
    if len(mixed) != 1 or (inner := _modulo(mixed[0])) is None:
        return None
    rest: AffineExpr = AffineExpr.constant(0)
    for term in others:
        rest = rest + term
    wrapped, plain = _wrapped(inner[0], inner[1], extents), digits_of(rest, extents)
    if wrapped is None or plain is None:
        return None
    own = variables_of(mixed[0])
    if own & variables_of(rest):
        return None
    kept = [digit for digit in plain.digits if digit.variable not in own]
    inside = [digit for digit in wrapped.digits if digit.variable in own]
    return Digits(plain.base, (*inside, *kept), wrapped.wrapped)


def _modulo(term: AffineExpr) -> tuple[AffineExpr, int] | None:
    """The dividend and the divisor of a term that is a multiple of a remainder."""
    if isinstance(term, AffineBinaryOpExpr) and term.kind is AffineBinaryOpKind.Mul:
        term = term.lhs
    if isinstance(term, AffineBinaryOpExpr) and term.kind is AffineBinaryOpKind.Mod:
        divisor = term.rhs
        return (term.lhs, divisor.value) if isinstance(divisor, AffineConstantExpr) else None
    return None


def _wrapped(dividend: AffineExpr, divisor: int, extents: Sequence[int]) -> Digits | None:
    """The digits of a number without gaps; those wrap that stand highest, until the rest fits."""
    found = digits_of(dividend, extents)
    if found is None:
        return None
    by_stride = sorted(found.used, key=lambda digit: digit.stride)
    weight = 1
    for digit in by_stride:
        if digit.stride != weight:
            return None
        weight *= digit.extent
    around: set[Digit] = set()
    while by_stride and by_stride[-1].stride * by_stride[-1].extent > divisor:
        around.add(by_stride.pop())
    return Digits(found.base, found.digits, frozenset(around))


def _lines_of_terms(expression: AffineExpr, extents: tuple[int, ...]) -> list[Table] | None:
    """What each variable contributes, where every term mentions at most one; the base is in 0."""
    lines = [np.zeros(extent, dtype=np.int64) for extent in extents]
    for term in _terms(expression):
        variables = variables_of(term)
        if len(variables) > 1:
            return None
        variable = min(variables, default=0)
        values = [np.arange(extent, dtype=np.int64) for extent in extents]
        line = term.eval(values, [])  # pyright: ignore[reportArgumentType]
        lines[variable] = lines[variable] + line
    return lines


def _lines_of_table(expression: AffineExpr, extents: tuple[int, ...]) -> list[Table] | None:
    """The same by trying all points: an expression may be separable though it does not look so."""
    coordinates = coordinates_of(extents)
    values = expression.eval(coordinates, [])  # pyright: ignore[reportArgumentType]
    table = np.broadcast_to(np.asarray(values, dtype=np.int64), extents)
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


def _terms(expression: AffineExpr) -> list[AffineExpr]:
    if isinstance(expression, AffineBinaryOpExpr) and expression.kind is AffineBinaryOpKind.Add:
        return [*_terms(expression.lhs), *_terms(expression.rhs)]
    return [expression]


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
