"""Shorter quasi-affine expressions, by what is known of the ranges of their variables.

A sum is kept as multiples of atoms (variables, quotients, remainders), and a quotient or remainder
of a sum splits where a part of it is a digit of its own: `(m*h + l) floordiv m*c` is
`h floordiv c` when `0 <= l < m`.

>>> from xdsl.ir.affine import AffineExpr
>>> i, j = AffineExpr.dimension(0), AffineExpr.dimension(1)
>>> print(simplified((i * 16 + j) // 32, (4, 16)))
(d0 floordiv 2)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import gcd
from typing import TYPE_CHECKING

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from tileas_xdsl.inference.ranges import range_of

if TYPE_CHECKING:
    from typing_extensions import TypeIs

Extents = Sequence[int]
Symbols = Sequence[int | None]


def simplified(expression: AffineExpr, extents: Extents, symbols: Symbols = ()) -> AffineExpr:
    """An expression of equal value wherever dimension k lies in `range(extents[k])`.

    Symbol k lies in `range(symbols[k])`; those without an extent may be any integer.
    """
    return _simplified(expression, tuple(extents), tuple(symbols))


def substituted(
    expression: AffineExpr,
    dimensions: Sequence[AffineExpr],
    symbols: Sequence[AffineExpr] = (),
    *,
    extents: Extents,
    ranges: Symbols = (),
) -> AffineExpr:
    """The expression at other arguments, simplified over the variables of those.

    `extents` are those of the dimensions that the arguments are written in, `ranges` those of
    their symbols.
    """
    moved = expression.replace_dims_and_symbols(dimensions, symbols)
    return simplified(moved, extents, ranges)


def variables_of(expression: AffineExpr) -> frozenset[int]:
    """The positions of the dimensions that the expression mentions."""
    return frozenset(e.position for e in expression.dfs() if isinstance(e, AffineDimExpr))


@lru_cache(maxsize=1 << 16)
def _simplified(
    expression: AffineExpr, extents: tuple[int, ...], symbols: tuple[int | None, ...]
) -> AffineExpr:
    return _Simplifier(extents, symbols).sum_of(expression).expression


@dataclass(frozen=True)
class _Sum:
    """`constant` plus multiples of atoms."""

    terms: Mapping[AffineExpr, int] = field(default_factory=dict[AffineExpr, int])
    constant: int = 0

    def __add__(self, other: _Sum) -> _Sum:
        terms = dict(self.terms)
        for atom, factor in other.terms.items():
            terms[atom] = terms.get(atom, 0) + factor
        kept = {atom: factor for atom, factor in terms.items() if factor}
        return _Sum(kept, self.constant + other.constant)

    def __mul__(self, factor: int) -> _Sum:
        if factor == 0:
            return _Sum()
        terms = {atom: own * factor for atom, own in self.terms.items()}
        return _Sum(terms, self.constant * factor)

    def split(self, into_first: Callable[[int], bool]) -> tuple[_Sum, _Sum]:
        """The terms whose factor is chosen, and the others; the constant in neither."""
        first = {atom: factor for atom, factor in self.terms.items() if into_first(factor)}
        second = {atom: factor for atom, factor in self.terms.items() if not into_first(factor)}
        return _Sum(first), _Sum(second)

    @cached_property
    def expression(self) -> AffineExpr:
        result: AffineExpr | None = None
        for atom, factor in self.terms.items():
            term = atom if factor == 1 else atom * factor
            result = term if result is None else result + term
        if result is None:
            return AffineExpr.constant(self.constant)
        return result + self.constant if self.constant else result


@dataclass(frozen=True)
class _Simplifier:
    extents: tuple[int, ...]
    symbols: tuple[int | None, ...]

    def sum_of(self, expression: AffineExpr) -> _Sum:
        match expression:
            case AffineConstantExpr():
                return _Sum({}, expression.value)
            case AffineDimExpr() | AffineSymExpr():
                is_zero = range_of(expression, self.extents, self.symbols) == (0, 0)
                return _Sum() if is_zero else _Sum({expression: 1})
            case AffineBinaryOpExpr():
                return self._combined(expression)
            case _:
                return _Sum({expression: 1})

    def _combined(self, expression: AffineBinaryOpExpr) -> _Sum:
        left, right = self.sum_of(expression.lhs), self.sum_of(expression.rhs)
        if expression.kind is AffineBinaryOpKind.Add:
            return _rejoined(left + right)
        if expression.kind is AffineBinaryOpKind.Mul:
            return self._product(left, right)
        divisor = right.constant
        if right.terms or divisor <= 0:
            return _Sum({AffineBinaryOpExpr(expression.kind, left.expression, right.expression): 1})
        if expression.kind is AffineBinaryOpKind.Mod:
            return self._remainder(left, divisor)
        if expression.kind is AffineBinaryOpKind.CeilDiv:
            left += _Sum({}, divisor - 1)
        return self._quotient(left, divisor)

    def _product(self, left: _Sum, right: _Sum) -> _Sum:
        if not right.terms:
            return left * right.constant
        if not left.terms:
            return right * left.constant
        kind = AffineBinaryOpKind.Mul
        return _Sum({AffineBinaryOpExpr(kind, left.expression, right.expression): 1})

    def _quotient(self, dividend: _Sum, divisor: int) -> _Sum:
        if divisor == 1:
            return dividend
        multiples, rest = dividend.split(lambda factor: factor % divisor == 0)
        whole = _Sum(
            {atom: factor // divisor for atom, factor in multiples.terms.items()},
            dividend.constant // divisor,
        )
        rest += _Sum({}, dividend.constant % divisor)
        bounds = range_of(rest.expression, self.extents, self.symbols)
        if bounds and bounds[0] // divisor == bounds[1] // divisor:
            return whole + _Sum({}, bounds[0] // divisor)
        if parts := self._digit_split(rest, divisor):
            base, high, _ = parts
            return _rejoined(whole + self._quotient(high, divisor // base))
        return whole + _Sum({_nested_quotient(rest.expression, divisor): 1})

    def _remainder(self, dividend: _Sum, divisor: int) -> _Sum:
        factors = {atom: factor % divisor for atom, factor in dividend.terms.items()}
        rest = _Sum({atom: f for atom, f in factors.items() if f}, dividend.constant % divisor)
        bounds = range_of(rest.expression, self.extents, self.symbols)
        if bounds and bounds[0] // divisor == bounds[1] // divisor:
            return rest + _Sum({}, -(bounds[0] // divisor) * divisor)
        if parts := self._digit_split(rest, divisor):
            base, high, low = parts
            return _rejoined(self._remainder(high, divisor // base) * base + low)
        inner = _dividend_of_remainder(rest, divisor)
        if inner is not None:
            return self._remainder(self.sum_of(inner), divisor)
        kind = AffineBinaryOpKind.Mod
        modulus = AffineExpr.constant(divisor)
        return _Sum({AffineBinaryOpExpr(kind, rest.expression, modulus): 1})

    def _digit_split(self, value: _Sum, divisor: int) -> tuple[int, _Sum, _Sum] | None:
        """`base, high, low` with `value = base * high + low`, `0 <= low < base` and base > 1."""
        bases = sorted({gcd(factor, divisor) for factor in value.terms.values()} - {1})
        for base in bases:
            high, low = value.split(lambda factor, base=base: factor % base == 0)
            low += _Sum({}, value.constant % base)
            bounds = range_of(low.expression, self.extents, self.symbols)
            if bounds is None or bounds[0] < 0 or bounds[1] >= base:
                continue
            terms = {atom: factor // base for atom, factor in high.terms.items()}
            return base, _Sum(terms, value.constant // base), low
        return None


def _nested_quotient(dividend: AffineExpr, divisor: int) -> AffineExpr:
    """`(x floordiv a) floordiv b` is `x floordiv a*b`."""
    if _is(dividend, AffineBinaryOpKind.FloorDiv):
        return _nested_quotient(dividend.lhs, divisor * _constant(dividend.rhs))
    return dividend // divisor


def _dividend_of_remainder(value: _Sum, divisor: int) -> AffineExpr | None:
    """`x` where the value is `x mod a` and `a` is a multiple of the divisor."""
    inner = value.expression
    if _is(inner, AffineBinaryOpKind.Mod) and _constant(inner.rhs) % divisor == 0:
        return inner.lhs
    return None


def _rejoined(total: _Sum) -> _Sum:
    """`(x floordiv c)*c*k + (x mod c)*k` becomes `x*k` where x is one atom."""
    for atom, factor in total.terms.items():
        if not _is(atom, AffineBinaryOpKind.Mod):
            continue
        divisor = _constant(atom.rhs)
        quotient = _nested_quotient(atom.lhs, divisor)
        if total.terms.get(quotient) == factor * divisor:
            parts = {atom, quotient}
            rest = _Sum({a: f for a, f in total.terms.items() if a not in parts}, total.constant)
            return _rejoined(rest + _sum_of_atoms(atom.lhs) * factor)
    return total


def _sum_of_atoms(expression: AffineExpr) -> _Sum:
    """A sum that `_Sum.expression` wrote, as a sum again."""
    if isinstance(expression, AffineConstantExpr):
        return _Sum({}, expression.value)
    if _is(expression, AffineBinaryOpKind.Add):
        return _sum_of_atoms(expression.lhs) + _sum_of_atoms(expression.rhs)
    if _is(expression, AffineBinaryOpKind.Mul) and isinstance(expression.rhs, AffineConstantExpr):
        return _Sum({expression.lhs: expression.rhs.value})
    return _Sum({expression: 1})


def _is(expression: AffineExpr, kind: AffineBinaryOpKind) -> TypeIs[AffineBinaryOpExpr]:
    return isinstance(expression, AffineBinaryOpExpr) and expression.kind is kind


def _constant(expression: AffineExpr) -> int:
    return expression.value if isinstance(expression, AffineConstantExpr) else 0
