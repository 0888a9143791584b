"""Integers of every thread and step: a table, and multiples of scalars that only run time knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from tileas_xdsl.threads.index.per_thread_tables import Table

Ranges = Mapping[SSAValue, tuple[int, int]]
"""The smallest and the largest number that a scalar may be."""

INDEX = IndexType()

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Sum:
    """`table + sum(scalar * factors)`; tables are `(threads, steps)`, or 1 where all are alike."""

    table: Table
    terms: tuple[tuple[SSAValue, Table], ...] = ()

    @staticmethod
    def of(number: int) -> Sum:
        """The same number everywhere."""
        return Sum(np.full((1, 1), number, dtype=np.int64))

    @staticmethod
    def scalar(value: SSAValue) -> Sum:
        """A scalar, the same in all steps."""
        return Sum(np.zeros((1, 1), dtype=np.int64), ((value, np.ones((1, 1), dtype=np.int64)),))

    @staticmethod
    def each(values: Sequence[SSAValue]) -> Sum:
        """A scalar for each step."""
        rows = np.eye(len(values), dtype=np.int64)
        terms = tuple((value, rows[k : k + 1]) for k, value in enumerate(values))
        return Sum(np.zeros((1, 1), dtype=np.int64), terms)

    @property
    def is_known(self) -> bool:
        """Whether no scalar is part of it."""
        return not self.terms

    @property
    def is_alike(self) -> bool:
        """Whether it is the same in all steps of a thread."""
        return all(_alike(table) for table in (self.table, *(table for _, table in self.terms)))

    def plus(self, other: Sum) -> Sum:
        """The sum of two."""
        return Sum(self.table + other.table, _merged((*self.terms, *other.terms)))

    def times(self, factors: Table | int) -> Sum:
        """Each entry multiplied by a known one."""
        terms = tuple((value, table * factors) for value, table in self.terms)
        return Sum(self.table * factors, tuple(term for term in terms if term[1].any()))

    def divided(self, divisor: int) -> Sum | None:
        """Quotients rounded down, if no scalar has a rest."""
        if any((table % divisor).any() for _, table in self.terms):
            return None
        terms = tuple((value, table // divisor) for value, table in self.terms)
        return Sum(self.table // divisor, terms)

    def rest(self, divisor: int) -> Sum | None:
        """Remainders that are not negative, if no scalar has one."""
        if any((table % divisor).any() for _, table in self.terms):
            return None
        return Sum(self.table % divisor)

    def limits(self, ranges: Ranges) -> tuple[Table, Table] | None:
        """The smallest and the largest entry; None where a scalar may be anything."""
        low, high = self.table, self.table
        for value, table in self.terms:
            if value not in ranges:
                return None
            ends = [table * end for end in ranges[value]]
            low, high = low + np.minimum(*ends), high + np.maximum(*ends)
        return low, high

    def step(self, k: int) -> Sum:
        """The entries of one step."""
        return Sum(column(self.table, k), tuple((v, column(t, k)) for v, t in self.terms))

    def tables(self) -> tuple[Table, ...]:
        """All tables."""
        return (self.table, *(table for _, table in self.terms))


def _merged(terms: Sequence[tuple[SSAValue, Table]]) -> tuple[tuple[SSAValue, Table], ...]:
    found: dict[SSAValue, Table] = {}
    for value, table in terms:
        found[value] = found[value] + table if value in found else table
    return tuple((value, table) for value, table in found.items() if table.any())


def _alike(table: Table) -> bool:
    return bool((table == table[:, :1]).all())


def column(table: NDArray[Scalar], k: int) -> NDArray[Scalar]:
    """One step of a table."""
    return table if table.shape[1] == 1 else table[:, k : k + 1]
