"""Emit affine expressions whose coefficients are per-thread tables, with few instructions.

A `ThreadAffine` is `constant[thread, k] + sum(scalar * factor[thread, k])`. For iteration 0 it is
emitted as a run-time value plus a constant, so that loads take the constant as an immediate offset:

    constant[:, 0] = 4 * thread + 3, scalar %row, factor 64   ->   %i = %row * 64 + thread * 4,  3

A column of a table that is affine or made of digits of the thread index becomes shifts and masks
(`per_thread_tables.tabulated`). Else it is fitted, by least squares checked exactly, as an affine
combination of the coordinates of the thread's iteration (`Hints.combination`), which are quotients
and remainders of one linear index: padded or transposed accesses of a loop share these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from math import prod

import numpy as np
from xdsl.ir import Attribute, Block, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    cast_index,
    divide,
    index_constant,
    modulo,
    multiply,
)
from tileas_xdsl.threads.index.per_thread_tables import (
    Flags,
    Table,
    ThreadDigit,
    is_simple,
    tabulated,
)
from tileas_xdsl.threads.index.thread_affine import INDEX, ThreadAffine


@dataclass(frozen=True, eq=False)
class Hints:
    """Values already computed, from which those of further iterations may be derived."""

    digits: Sequence[ThreadDigit] = ()
    linear: Table | None = None
    """`(threads,)`: the row-major number of the iteration, -1 for none."""
    shape: tuple[int, ...] = ()

    def combination(self, entries: Table, valid: Flags) -> Sequence[int] | None:
        """Fit the entries as an affine combination of the iteration coordinates; None if none fits.

        The result is the coefficients, then the constant.
        """
        linear = self.linear
        if linear is None or len(self.shape) < MAX_FLAT or not (linear[valid] >= 0).all():
            return None
        if not is_simple(linear):
            return None
        wanted = entries[valid]
        columns = [*np.unravel_index(linear[valid], self.shape), np.ones(len(wanted))]
        matrix = np.stack(columns, axis=1).astype(np.float64)
        found = np.rint(np.linalg.lstsq(matrix, wanted.astype(np.float64), rcond=None)[0])
        fits = bool((matrix @ found == wanted).all()) and bool(found[:-1].any())
        return [int(factor) for factor in found] if fits else None


MAX_FLAT = 2
"""Rank from which on coordinates differ from the linear iteration index."""

NO_HINTS = Hints()


@dataclass
class AffineWriter:
    """Emit affine expressions; equal subexpressions are emitted once per block."""

    e: ThreadBuilder
    threads: int
    made: dict[tuple[object, ...], SSAValue] = field(
        default_factory=dict[tuple[object, ...], SSAValue]
    )

    tables: dict[tuple[object, ...], tuple[SSAValue, int]] = field(
        default_factory=dict[tuple[object, ...], tuple[SSAValue, int]]
    )
    """By block and table, the value and the constant that it is the sum of."""

    def split(
        self, form: ThreadAffine, valid: Flags, hints: Hints = NO_HINTS
    ) -> tuple[SSAValue | None, int]:
        """Return the value for iteration 0 as `(index or None, constant)`, whose sum it is.

        `valid`, `(threads,)`, marks the threads for which it must be right.
        """
        total: SSAValue | None = None
        for value, factors in form.terms.items():
            total = self._plus(total, self._product(value, factors[:, 0], valid, hints))
        by_thread, constant = self._thread_part(form.constant[:, 0], valid, hints)
        if by_thread is not None:
            total = by_thread if total is None else self._plus(by_thread, total)
        return total, constant

    def number(
        self, form: ThreadAffine, valid: Flags, type_: Attribute = INDEX, hints: Hints = NO_HINTS
    ) -> SSAValue:
        """Return the value for iteration 0 as `type_`."""
        value, constant = self.split(form, valid, hints)
        e = self.e
        if value is None:
            return (
                index_constant(e, constant)
                if type_ == INDEX
                else cast_index(e, index_constant(e, constant), type_)
            )
        return cast_index(e, add(e, value, constant), type_)

    def _plus(self, a: SSAValue | None, b: SSAValue) -> SSAValue:
        if a is None:
            return b
        return self.once(("+", a, b), lambda: add(self.e, a, b))

    def _product(self, value: SSAValue, factors: Table, valid: Flags, hints: Hints) -> SSAValue:
        value = self.once(("index", value), lambda: cast_index(self.e, value, INDEX))
        by_thread, constant = self._thread_part(factors, valid, hints)
        if by_thread is None:
            return self.once(("*", value, constant), lambda: multiply(self.e, value, constant))
        factor = self.once(("+", by_thread, constant), lambda: add(self.e, by_thread, constant))
        return self.once(("*", value, factor), lambda: multiply(self.e, value, factor))

    def _thread_part(
        self, entries: Table, valid: Flags, hints: Hints
    ) -> tuple[SSAValue | None, int]:
        """Return this thread's table entry: a value, or None, and a constant."""
        if len(entries) == 1:
            return None, int(entries[0])
        wanted = entries[valid]
        if not len(wanted) or (wanted == wanted[0]).all():
            return None, int(wanted[0]) if len(wanted) else 0
        # Entries from 0 on: the constant goes into an address, and shifts and masks have no sign.
        low = int(wanted.min())
        table = np.where(valid, entries - low, -1)
        key = (self.e.builder.insertion_point.block, table.tobytes(), *hints.digits)
        if key not in self.tables:
            if not is_simple(table) and (found := hints.combination(entries, valid)) is not None:
                return self._combined(found, hints, valid)
            value, constant = tabulated(self.e, table, hints.digits)
            self.tables[key] = cast_index(self.e, value, INDEX), constant
        value, constant = self.tables[key]
        return value, constant + low

    def _combined(self, factors: Sequence[int], hints: Hints, valid: Flags) -> tuple[SSAValue, int]:
        """Emit an affine combination of the coordinates of the linear iteration index."""
        e, total = self.e, None
        assert hints.linear is not None
        value, constant = self._thread_part(hints.linear, valid, Hints(hints.digits))
        assert value is not None
        number = self.once(("+", value, constant), lambda: add(e, value, constant))
        *multiples, rest = factors
        for axis, factor in enumerate(multiples):
            if factor:
                term = self.once(
                    ("coordinate", number, hints.shape, axis),
                    lambda axis=axis: self._coordinate(number, hints.shape, axis),
                )
                total = self._plus(
                    total,
                    self.once(("*", term, factor), lambda t=term, f=factor: multiply(e, t, f)),
                )
        assert total is not None
        return total, rest

    def _coordinate(self, number: SSAValue, shape: tuple[int, ...], axis: int) -> SSAValue:
        quotient = divide(self.e, number, prod(shape[axis + 1 :]))
        return quotient if axis == 0 else modulo(self.e, quotient, shape[axis])

    def once(self, key: tuple[object, ...], make: Callable[[], SSAValue]) -> SSAValue:
        """Return what `make` gives, made once for a key in each block."""
        block: Block | None = self.e.builder.insertion_point.block
        found = (block, *key)
        if found not in self.made:
            self.made[found] = make()
        return self.made[found]
