"""Affine combinations: a constant plus multiples of atoms, the normal form of linear arithmetic.

The simplifier's atoms are variables, quotients and remainders, with integers for coefficients.  The
lowering of loops has tables for coefficients, one entry for each thread and iteration: the form is
then one affine expression for each of them, over scalars that all of them share.

>>> form = AffineForm(3, {"x": 4, "y": 8})
>>> form.plus(AffineForm(1, {"x": -4})).divided(4)
AffineForm(constant=1, terms={'y': 2})
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import field
from typing import Any, Generic, TypeVar

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.expr.ranges import Interval
from tileas_xdsl.layout.expr.tables import Table

Atom = TypeVar("Atom", bound=Hashable)
Coefficient = TypeVar("Coefficient", int, Table)


@dataclass(frozen=True, eq=False)
class AffineForm(Generic[Atom, Coefficient]):
    """`constant + sum(atom * terms[atom])`; no term is 0 everywhere."""

    constant: Coefficient
    terms: Mapping[Atom, Coefficient] = field(default_factory=dict[Any, Any])

    @property
    def is_constant(self) -> bool:
        """Whether no atom is part of it."""
        return not self.terms

    def plus(self, other: AffineForm[Atom, Coefficient]) -> AffineForm[Atom, Coefficient]:
        """Return the sum of two; atoms of both are added up where they stand in the first."""
        terms = dict(self.terms)
        for atom, coefficient in other.terms.items():
            terms[atom] = terms[atom] + coefficient if atom in terms else coefficient
        return AffineForm(self.constant + other.constant, _without_zeros(terms))

    def times(self, factor: Coefficient | int) -> AffineForm[Atom, Coefficient]:
        """Return the product with a known number, or with one for each entry of the tables."""
        terms = {atom: own * factor for atom, own in self.terms.items()}
        return AffineForm(self.constant * factor, _without_zeros(terms))

    def divided(self, divisor: int) -> AffineForm[Atom, Coefficient] | None:
        """Return the quotient rounded down; None where a coefficient is no multiple.

        `(c * x + r) // c` is `x + r // c`: a multiple of the divisor does not change the rest.
        """
        if self.remainder(divisor) is None:
            return None
        terms = {atom: own // divisor for atom, own in self.terms.items()}
        return AffineForm(self.constant // divisor, terms)

    def remainder(self, divisor: int) -> Coefficient | None:
        """Return the remainder, not negative; None where a coefficient is no multiple."""
        if not all(_is_zero(own % divisor) for own in self.terms.values()):
            return None
        return self.constant % divisor

    def range(
        self, interval: Callable[[Atom], Interval | None]
    ) -> tuple[Coefficient, Coefficient] | None:
        """Return the least and the greatest value; None where an atom may be any integer.

        A positive coefficient takes the low end of its atom to the low end, a negative one swaps
        them: each is the sum of its positive and its negative part, one of which is 0.
        """
        low = high = self.constant
        for atom, own in self.terms.items():
            ends = interval(atom)
            if ends is None:
                return None
            positive, negative = (own + abs(own)) // 2, (own - abs(own)) // 2
            low = low + positive * ends[0] + negative * ends[1]
            high = high + positive * ends[1] + negative * ends[0]
        return low, high


def _without_zeros(terms: Mapping[Atom, Coefficient]) -> dict[Atom, Coefficient]:
    return {atom: own for atom, own in terms.items() if not _is_zero(own)}


def _is_zero(coefficient: int | Table) -> bool:
    return coefficient == 0 if isinstance(coefficient, int) else not coefficient.any()
