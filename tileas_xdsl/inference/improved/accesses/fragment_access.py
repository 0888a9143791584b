"""Accesses as index tables: which element each iteration touches.

Values that an iteration runs through by itself (variables of inner loops), or that are the same in
all threads (symbols), or that only run time knows (an index that depends on data) are columns: an
iteration touches one element for each column, and its thread must hold all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.program import Access, Buffer
from tileas_xdsl.layout.expr.expression import (
    BinaryExpression,
    Number,
    dimensions_of,
    substituted,
    symbols_of,
)
from tileas_xdsl.layout.expr.tables import Table, evaluated, variables_of_box

MAX_POINTS = 1 << 21
"""The largest table of points; beyond, an access counts as one of any element."""

MAX_VALUES = 4096
"""How many combinations of values of symbols are looked at."""


@dataclass(frozen=True, eq=False)
class FragmentUse:
    """An access of `extents` iterations to a fragment.

    `combines` marks the result of a reduction: iterations that share an element combine into it.
    """

    access: Access
    buffer: Buffer
    extents: tuple[int, ...]
    inner: tuple[int, ...] = ()
    combines: bool = False

    @property
    def name(self) -> str:
        """The buffer."""
        return self.access.buffer

    @property
    def rank(self) -> int:
        """How many dimensions the buffer has."""
        return len(self.buffer.shape)

    @property
    def buffer_size(self) -> int:
        """How many elements the buffer has."""
        return prod(self.buffer.shape)

    @cached_property
    def is_identity(self) -> bool:
        """Whether the indices are the variables of the loop, and the loop runs over the buffer."""
        return self.extents == self.buffer.shape and self.access.indices == variables_of_box(
            len(self.extents)
        )

    @cached_property
    def symbols(self) -> tuple[int, ...]:
        """The symbols of the indices."""
        return access_symbols(self.access)

    @cached_property
    def at_rest(self) -> tuple[Number, ...]:
        """The indices in the first column: inner variables, symbols and unknown indices are 0."""
        here = (*variables_of_box(len(self.extents)), *(0 for _ in self.inner))
        count = max(self.symbols, default=-1) + 1
        return tuple(
            0 if index is None else substituted(index, here, [0] * count)
            for index in self.access.indices
        )

    @cached_property
    def free(self) -> tuple[int, ...]:
        """The parallel variables that occur in no index."""
        known = (index for index in self.access.indices if index is not None)
        used = {d for index in known for d in dimensions_of(index)}
        return tuple(k for k in range(len(self.extents)) if k not in used)

    @cached_property
    def elements(self) -> Table | None:
        """`(iterations, columns)`: the row-major index of each element, -1 where it is outside.

        None where there are too many: any element may be touched.
        """
        tables = self._index_tables()
        if tables is None:
            return None
        flat = np.zeros((), dtype=np.int64)
        outside: NDArray[np.bool_] = np.zeros((), dtype=np.bool_)
        for index, extent in zip(tables, self.buffer.shape, strict=True):
            outside = outside | (index < 0) | (index >= extent)
            flat = flat * extent + index
        flat = np.where(outside, -1, flat)
        rows = prod(self.extents)
        flat = np.broadcast_to(flat, (*self.extents, *self._columns())).reshape(rows, -1)
        if self.symbols and not self.access.is_guarded:
            flat = flat[:, (flat >= 0).all(axis=0)]
        return np.ascontiguousarray(flat)

    def _columns(self) -> tuple[int, ...]:
        unknown = [
            extent
            for index, extent in zip(self.access.indices, self.buffer.shape, strict=True)
            if index is None
        ]
        return (*self.inner, *(self._values_of(s) for s in self.symbols), *unknown)

    def _values_of(self, symbol: int) -> int:
        """How many values of a symbol are tried: what a valid index can be made of.

        A symbol that an index grows with, `x[i + 16 * s]`, stays below the extent of its dimension.
        """
        limits = [
            extent
            for index, extent in zip(self.access.indices, self.buffer.shape, strict=True)
            if index is not None and symbol in symbols_of(index) and _grows(index, symbol)
        ]
        return min(limits, default=max(self.buffer.shape, default=1))

    def _index_tables(self) -> list[Table] | None:
        columns = self._columns()
        box = (*self.extents, *columns)
        tried = prod(self._values_of(symbol) for symbol in self.symbols)
        if prod(box) > MAX_POINTS or tried > MAX_VALUES:
            return None
        axes = np.ix_(*(np.arange(n, dtype=np.int64) for n in box)) if box else ()
        rank = len(self.extents) + len(self.inner)
        values: list[Table] = [np.zeros((), dtype=np.int64)] * (max(self.symbols, default=-1) + 1)
        for position, symbol in enumerate(self.symbols, rank):
            values[symbol] = axes[position]
        unknown = iter(axes[rank + len(self.symbols) :])
        return [
            next(unknown) if index is None else evaluated(index, axes[:rank], values)
            for index in self.access.indices
        ]


def access_symbols(access: Access) -> tuple[int, ...]:
    """The symbols of the indices of an access."""
    known = (index for index in access.indices if index is not None)
    return tuple(sorted({s for index in known for s in symbols_of(index)}))


def _grows(index: Number, symbol: int) -> bool:
    """Whether an index is a positive multiple of a symbol, plus what is not negative."""
    if symbol not in symbols_of(index):
        return index >= 0 if isinstance(index, int) else index.is_natural
    if not isinstance(index, BinaryExpression):
        return True
    if index.kind == "mul" and isinstance(index.rhs, int):
        return index.rhs > 0 and _grows(index.lhs, symbol)
    return index.kind == "add" and _grows(index.lhs, symbol) and _grows(index.rhs, symbol)


def point_of(flat: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The coordinates of a row-major index."""
    return tuple(int(c) for c in np.unravel_index(flat, tuple(shape))) if shape else ()
