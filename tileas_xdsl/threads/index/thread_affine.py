"""Index expressions of all threads and iterations at once: affine forms with tables in them.

A thread runs several iterations of a loop, and threads run different ones.  An index is then one
affine expression for each (thread, iteration), over scalars that only run time knows and that all
of them share: tables of shape `(threads, iterations)`, or 1 along an axis where all are equal.

    A[i * 4 + n]  with  i = thread + 32 * iteration   ->   [[0, 128], [4, 132], ...] + 1 * n
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from tileas_xdsl.layout.expr.affine_form import AffineForm
from tileas_xdsl.layout.expr.tables import Table

ThreadAffine: TypeAlias = AffineForm[SSAValue, Table]
"""`constant + sum(scalar * table)`, an integer for each thread and iteration."""

INDEX = IndexType()

Scalar = TypeVar("Scalar", bound=np.generic)


def of_table(table: Table) -> ThreadAffine:
    """Return numbers that need no scalar."""
    return AffineForm(table)


def uniform(number: int) -> ThreadAffine:
    """Return the same known number for all."""
    return AffineForm(np.full((1, 1), number, dtype=np.int64))


def of_scalar(value: SSAValue) -> ThreadAffine:
    """Return a scalar, the same in all iterations."""
    return AffineForm(uniform(0).constant, {value: np.ones((1, 1), dtype=np.int64)})


def of_iterations(values: Sequence[SSAValue]) -> ThreadAffine:
    """Return one scalar for each iteration."""
    rows = np.eye(len(values), dtype=np.int64)
    terms: dict[SSAValue, Table] = {}
    for k, value in enumerate(values):
        terms[value] = terms[value] + rows[k : k + 1] if value in terms else rows[k : k + 1]
    return AffineForm(uniform(0).constant, terms)


def tables_of(form: ThreadAffine) -> tuple[Table, ...]:
    """Return the constant and all coefficients."""
    return (form.constant, *form.terms.values())


def is_uniform(form: ThreadAffine) -> bool:
    """Return whether the number is the same in all iterations of a thread."""
    return all(bool((table == table[:, :1]).all()) for table in tables_of(form))


def at_iteration(form: ThreadAffine, k: int) -> ThreadAffine:
    """Return the numbers of one iteration."""
    return AffineForm(column(form.constant, k), {v: column(t, k) for v, t in form.terms.items()})


def column(table: NDArray[Scalar], k: int) -> NDArray[Scalar]:
    """Return one iteration of a table."""
    return table if table.shape[1] == 1 else table[:, k : k + 1]
