"""Shorter expressions of equal value, by what is known of the ranges of the variables.

An expression becomes an affine form whose atoms are variables, quotients and remainders, by these
rules (`x`, `h`, `l` expressions; `c`, `m`, `k` positive constants):

1. Quotient of a multiple: `(k*c*x + r) // c = k*x + r // c`.
   Proof: `k*c*x` is a multiple of `c`, and `floor(n + y) = n + floor(y)` for integers `n`.
2. Constant quotient: `x // c = q`, `x % c = x - q*c` where the range of `x` lies in `[q*c, q*c+c)`.
   Proof: the definition of the quotient that rounds down.
3. Digit split: `(m*h + l) // (m*c) = h // c` and `(m*h + l) % (m*c) = m * (h % c) + l`, where
   `0 <= l < m`.  Proof: with `h = c*q + r`, `m*h + l = m*c*q + (m*r + l)` and `m*r + l < m*c`.
4. Nested quotient: `(x // a) // b = x // (a*b)`; nested remainder: `(x % (a*b)) % b = x % b`.
   Proof: `floor(floor(y) / b) = floor(y / b)`; `x % (a*b)` and `x` differ by a multiple of `b`.
5. Rejoining: `(x // c) * (c*k) + (x % c) * k = x * k`.
   Proof: `x = (x // c) * c + x % c`.
6. Coefficients in a remainder: `(k*x) % c = ((k % c) * x) % c`.
   Proof: `k*x` and `(k % c)*x` differ by a multiple of `c`.

>>> from tileas_xdsl.layout.expr.expression import dimension
>>> i, j = dimension(0), dimension(1)
>>> print(simplified((i * 16 + j) // 32, (4, 16)))
d0 // 2
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import gcd
from typing import TYPE_CHECKING, TypeAlias

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.expr.affine_form import AffineForm
from tileas_xdsl.layout.expr.expression import (
    BinaryExpression,
    Expression,
    Number,
    Variable,
    compute,
)
from tileas_xdsl.layout.expr.ranges import Bounds, Interval, box, is_quotient_constant, range_of

if TYPE_CHECKING:
    from typing_extensions import TypeIs

Form: TypeAlias = AffineForm[Expression, int]

ZERO: Form = AffineForm(0)


def simplified(
    number: Number, extents: Sequence[int], symbols: Sequence[int | None] = ()
) -> Number:
    """Return a simpler number of equal value wherever `d<k>` is in `range(extents[k])`.

    `s<k>` is in `range(symbols[k])`; symbols without an extent may be any integer.
    """
    if isinstance(number, int):
        return number
    return _simplified(number, tuple(extents), tuple(symbols))


@lru_cache(maxsize=1 << 16)
def _simplified(
    expression: Expression, extents: tuple[int, ...], symbols: tuple[int | None, ...]
) -> Number:
    return number_of(affine_form(expression, box(extents, symbols)))


def affine_form(number: Number, bounds: Bounds) -> Form:
    """Return the simplified number as an affine form, for variables within the bounds."""
    return _Simplifier(bounds).form_of(number)


def number_of(form: Form) -> Number:
    """The form as an expression: its terms in their order, then the constant."""
    result: Number = 0
    for atom, coefficient in form.terms.items():
        result = result + atom * coefficient
    return result + form.constant


@dataclass(frozen=True)
class _Simplifier:
    bounds: Bounds

    def form_of(self, number: Number) -> Form:
        if isinstance(number, int):
            return AffineForm(number)
        if isinstance(number, Variable):
            return ZERO if self.bounds.get(number) == (0, 0) else AffineForm(0, {number: 1})
        assert isinstance(number, BinaryExpression)
        left, right = self.form_of(number.lhs), self.form_of(number.rhs)
        match number.kind:
            case "add":
                return _rejoined(left.plus(right))
            case "sub":
                return _rejoined(left.plus(right.times(-1)))
            case "mul":
                return _product(left, right)
            case "floordiv" | "floormod" | "ceildiv" if right.is_constant and right.constant > 0:
                return self._divided(number.kind, left, right.constant)
            case _:
                return _atom(number.kind, number_of(left), number_of(right))

    def _divided(self, kind: str, dividend: Form, divisor: int) -> Form:
        if kind == "floormod":
            return self._remainder(dividend, divisor)
        if kind == "ceildiv":
            dividend = dividend.plus(AffineForm(divisor - 1))
        return self._quotient(dividend, divisor)

    def _quotient(self, dividend: Form, divisor: int) -> Form:
        if divisor == 1:
            return dividend
        multiples, others = _split(dividend, lambda own: own % divisor == 0)
        whole: Form = AffineForm(
            dividend.constant // divisor, {x: own // divisor for x, own in multiples.items()}
        )
        rest: Form = AffineForm(dividend.constant % divisor, others)
        interval = self._range(rest)
        if interval and is_quotient_constant(interval, divisor):
            return whole.plus(AffineForm(interval[0] // divisor))
        if parts := self._digit_split(rest, divisor):
            base, high, _ = parts
            return _rejoined(whole.plus(self._quotient(high, divisor // base)))
        return whole.plus(_form_of_atom(_nested_quotient(number_of(rest), divisor)))

    def _remainder(self, dividend: Form, divisor: int) -> Form:
        coefficients = {x: own % divisor for x, own in dividend.terms.items()}
        rest: Form = AffineForm(
            dividend.constant % divisor, {x: own for x, own in coefficients.items() if own}
        )
        interval = self._range(rest)
        if interval and is_quotient_constant(interval, divisor):
            return rest.plus(AffineForm(-(interval[0] // divisor) * divisor))
        if parts := self._digit_split(rest, divisor):
            base, high, low = parts
            return _rejoined(self._remainder(high, divisor // base).times(base).plus(low))
        value = number_of(rest)
        if _is(value, "floormod") and _constant(value.rhs) % divisor == 0:
            return self._remainder(self.form_of(value.lhs), divisor)
        return _form_of_atom(BinaryExpression("floormod", value, divisor))

    def _digit_split(self, value: Form, divisor: int) -> tuple[int, Form, Form] | None:
        """`base, high, low` with `value = base * high + low`, `0 <= low < base` and base > 1."""
        for base in sorted({gcd(own, divisor) for own in value.terms.values()} - {1}):
            above, below = _split(value, lambda own, base=base: own % base == 0)
            low: Form = AffineForm(value.constant % base, below)
            interval = self._range(low)
            if interval is None or interval[0] < 0 or interval[1] >= base:
                continue
            high: Form = AffineForm(
                value.constant // base, {x: own // base for x, own in above.items()}
            )
            return base, high, low
        return None

    def _range(self, form: Form) -> Interval | None:
        return form.range(lambda atom: range_of(atom, self.bounds))


def _product(left: Form, right: Form) -> Form:
    if right.is_constant:
        return left.times(right.constant)
    if left.is_constant:
        return right.times(left.constant)
    return _atom("mul", number_of(left), number_of(right))


def _split(
    form: Form, into_first: Callable[[int], bool]
) -> tuple[dict[Expression, int], dict[Expression, int]]:
    """The terms whose coefficient is chosen, and the others."""
    first = {x: own for x, own in form.terms.items() if into_first(own)}
    return first, {x: own for x, own in form.terms.items() if x not in first}


def _atom(kind: str, lhs: Number, rhs: Number) -> Form:
    return _form_of_atom(compute(kind, lhs, rhs))


def _form_of_atom(number: Number) -> Form:
    return AffineForm(number) if isinstance(number, int) else AffineForm(0, {number: 1})


def _nested_quotient(dividend: Number, divisor: int) -> Number:
    if _is(dividend, "floordiv"):
        return _nested_quotient(dividend.lhs, divisor * _constant(dividend.rhs))
    return compute("floordiv", dividend, divisor)


def _rejoined(total: Form) -> Form:
    """Rule 5, where `x` may be a sum."""
    for atom, own in total.terms.items():
        if not _is(atom, "floormod"):
            continue
        divisor = _constant(atom.rhs)
        quotient = _nested_quotient(atom.lhs, divisor)
        if isinstance(quotient, Expression) and total.terms.get(quotient) == own * divisor:
            parts = {atom, quotient}
            rest = {x: k for x, k in total.terms.items() if x not in parts}
            return _rejoined(AffineForm(total.constant, rest).plus(_reread(atom.lhs).times(own)))
    return total


def _reread(number: Number) -> Form:
    """A number that `number_of` wrote, as a form again."""
    if isinstance(number, int):
        return AffineForm(number)
    if _is(number, "add"):
        return _reread(number.lhs).plus(_reread(number.rhs))
    if _is(number, "mul") and isinstance(number.rhs, int) and isinstance(number.lhs, Expression):
        return AffineForm(0, {number.lhs: number.rhs})
    return _form_of_atom(number)


def _is(number: Number, kind: str) -> TypeIs[BinaryExpression]:
    return isinstance(number, BinaryExpression) and number.kind == kind


def _constant(number: Number) -> int:
    return number if isinstance(number, int) else 0
