"""Integers of every thread and step: a table, and multiples of scalars that only run time knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, SSAValue

from tileas_xdsl.transforms.tileas_to_cute_nvgpu.emitter import Emitter
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.thread_tables import (
    Flags,
    Table,
    ThreadDigit,
    tabulated,
)

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


@dataclass
class SumWriter:
    """Sums as code, each part of them written once in a block."""

    e: Emitter
    threads: int
    made: dict[tuple[object, ...], SSAValue] = field(
        default_factory=dict[tuple[object, ...], SSAValue]
    )

    def split(
        self, sum_: Sum, valid: Flags, digits: Sequence[ThreadDigit] = ()
    ) -> tuple[SSAValue | None, int]:
        """One step as an `index`, None for nothing, and a constant to add to it.

        `valid` says which threads count: `(threads,)`.
        """
        total: SSAValue | None = None
        for value, factors in sum_.terms:
            total = self._plus(total, self._product(value, factors[:, 0], valid, digits))
        mine, constant = self._thread_part(sum_.table[:, 0], valid, digits)
        if mine is not None:
            total = mine if total is None else self._plus(mine, total)
        return total, constant

    def number(
        self, sum_: Sum, valid: Flags, type_: Attribute = INDEX, digits: Sequence[ThreadDigit] = ()
    ) -> SSAValue:
        """One step as a value."""
        value, constant = self.split(sum_, valid, digits)
        e = self.e
        if value is None:
            return e.index(constant) if type_ == INDEX else e.as_type(e.index(constant), type_)
        return e.as_type(e.add(value, constant), type_)

    def _plus(self, a: SSAValue | None, b: SSAValue) -> SSAValue:
        if a is None:
            return b
        return self._once(("+", a, b), lambda: self.e.add(a, b))

    def _product(
        self, value: SSAValue, factors: Table, valid: Flags, digits: Sequence[ThreadDigit]
    ) -> SSAValue:
        value = self._once(("index", value), lambda: self.e.as_type(value, INDEX))
        mine, constant = self._thread_part(factors, valid, digits)
        if mine is None:
            return self._once(("*", value, constant), lambda: self.e.multiply(value, constant))
        factor = self._once(("+", mine, constant), lambda: self.e.add(mine, constant))
        return self._once(("*", value, factor), lambda: self.e.multiply(value, factor))

    def _thread_part(
        self, entries: Table, valid: Flags, digits: Sequence[ThreadDigit]
    ) -> tuple[SSAValue | None, int]:
        """An entry of the thread: a value, or None, and a constant."""
        if len(entries) == 1:
            return None, int(entries[0])
        mine = entries[valid]
        if not len(mine) or (mine == mine[0]).all():
            return None, int(mine[0]) if len(mine) else 0
        low = min(int(mine.min()), 0)
        value, constant = tabulated(self.e, np.where(valid, entries - low, -1), digits)
        return self._once(("i", value), lambda: self.e.as_type(value, INDEX)), constant + low

    def _once(self, key: tuple[object, ...], make: Callable[[], SSAValue]) -> SSAValue:
        block: Block | None = self.e.builder.insertion_point.block
        found = (block, *key)
        if found not in self.made:
            self.made[found] = make()
        return self.made[found]
