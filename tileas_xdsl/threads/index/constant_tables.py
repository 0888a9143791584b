"""Fold integer operations whose operands are known for every thread and register.

The index arithmetic of loop and `generate` bodies depends on little but the thread and the
register. A `Table` has such a value for all of them: a numpy array that broadcasts to
`(threads, values)`. Folding the operations on tables decides addresses and masks at compile time.
With 4 threads of 2 registers and `%i = 2 * thread + register`:

    %i                             [[0, 1], [2, 3], [4, 5], [6, 7]]
    %q = arith.divui %i, %c4       [[0, 0], [0, 0], [1, 1], [1, 1]]
    %m = arith.cmpi ult, %i, %c8   all 1: the mask vanishes

Tables are signed 64-bit and wrapped to the width of the type after each operation, as two's
complement arithmetic does. Unsigned operations are folded only where no operand is negative, where
signed and unsigned readings agree; other cases stay run-time code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import affine, arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Attribute, Operation

from tileas_xdsl.dialects.cute.types.elements import integer_bits
from tileas_xdsl.layout.units import WORD_BITS
from tileas_xdsl.threads.index.per_thread_tables import Table

Fold: TypeAlias = Callable[..., Any]

ANY_SIGN: Mapping[type[Operation], Fold] = {
    arith.AddiOp: np.add,
    arith.AndIOp: np.bitwise_and,
    arith.MuliOp: np.multiply,
    arith.OrIOp: np.bitwise_or,
    arith.SubiOp: np.subtract,
    arith.XOrIOp: np.bitwise_xor,
}

SIGNED: Mapping[type[Operation], Fold] = {
    arith.FloorDivSIOp: np.floor_divide,
    arith.MaxSIOp: np.maximum,
    arith.MinSIOp: np.minimum,
}


def _rounded_up(a: Table, b: Table) -> Table:
    return -(-a // b)


UNSIGNED: Mapping[type[Operation], Fold] = {
    arith.CeilDivSIOp: _rounded_up,
    arith.CeilDivUIOp: _rounded_up,
    arith.DivSIOp: np.floor_divide,
    arith.DivUIOp: np.floor_divide,
    arith.MaxUIOp: np.maximum,
    arith.MinUIOp: np.minimum,
    arith.RemSIOp: np.remainder,
    arith.RemUIOp: np.remainder,
    arith.ShLIOp: np.left_shift,
    arith.ShRSIOp: np.right_shift,
    arith.ShRUIOp: np.right_shift,
}
"""Operations that are folded only for non-negative operands."""

DIVISIONS = (
    arith.CeilDivSIOp,
    arith.CeilDivUIOp,
    arith.DivSIOp,
    arith.DivUIOp,
    arith.FloorDivSIOp,
    arith.RemSIOp,
    arith.RemUIOp,
)

SHIFTS = (arith.ShLIOp, arith.ShRSIOp, arith.ShRUIOp)

MAX_ACCESS_BITS = 64

COMPARISONS: Sequence[Fold] = (
    np.equal,
    np.not_equal,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
)
"""In the order of the predicates of `arith.cmpi`; the last four are unsigned."""

FIRST_UNSIGNED = 6

CASTS = (arith.ExtSIOp, arith.IndexCastOp, arith.TruncIOp)


def constant_table(op: Operation) -> Table | None:
    """Return the value of a constant; None for any other operation."""
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return _wrapped(np.asarray(op.value.value.data, np.int64), op.result.type)
    return None


def folded(op: Operation, operands: Sequence[Table]) -> Table | None:
    """Fold an operation on known operands, signed; None where it cannot be folded.

    An `i1` is 0 or 1.
    """
    with np.errstate(over="ignore"):
        found = _computed(op, operands)
    return None if found is None else _wrapped(np.asarray(found, np.int64), op.results[0].type)


def _computed(op: Operation, operands: Sequence[Table]) -> Any:
    kind = type(op)
    if isinstance(op, arith.SelectOp):
        return np.where(operands[0] != 0, operands[1], operands[2])
    if isinstance(op, arith.CmpiOp):
        return _compared(op, operands)
    if isinstance(op, affine.ApplyOp):
        return _applied(op, operands)
    # The caller wraps to the width of the result, so a cast keeps the number. Only `extsi` of a bit
    # changes it: true is stored as 1 and reads as -1.
    if kind in CASTS or (isinstance(op, arith.ExtUIOp) and (operands[0] >= 0).all()):
        return -operands[0] if _is_set_bit(op) else operands[0]
    if kind in ANY_SIGN:
        return ANY_SIGN[kind](*operands)
    # What is undefined for one thread (a zero divisor, an overlong shift) is left to run-time code.
    if kind in DIVISIONS and not (operands[1] > 0).all():
        return None
    if kind in SIGNED:
        return None if _is_bit(op.operands[0].type) else SIGNED[kind](*operands)
    if kind in SHIFTS and not (operands[1] < _width(op.results[0].type)).all():
        return None
    # Here signed and unsigned, truncating and floor division agree.
    if kind in UNSIGNED and all((table >= 0).all() for table in operands):
        return UNSIGNED[kind](*operands)
    return None


def _is_set_bit(op: Operation) -> bool:
    """Whether an operation sign-extends an `i1`: true, stored as 1, becomes -1."""
    return isinstance(op, arith.ExtSIOp) and _is_bit(op.input.type)


def _width(type_: Attribute) -> int:
    return WORD_BITS if isinstance(type_, IndexType) else integer_bits(type_)


def _is_bit(type_: Attribute) -> bool:
    return integer_bits(type_) == 1


def _compared(op: arith.CmpiOp, operands: Sequence[Table]) -> Any:
    predicate = op.predicate.value.data
    may_be_negative = not all((table >= 0).all() for table in operands)
    if may_be_negative and predicate >= FIRST_UNSIGNED:
        return None
    # A signed `i1` that is true is -1, below 0: only eq and ne agree with the stored 1.
    if _is_bit(op.lhs.type) and predicate > 1:
        return None
    return COMPARISONS[predicate](*operands)


def _applied(op: affine.ApplyOp, operands: Sequence[Table]) -> Any:
    map_, given = op.map.data, [*operands]
    try:
        dims: Any = given[: map_.num_dims]
        symbols: Any = given[map_.num_dims :]
        return map_.eval(dims, symbols)[0]
    except ZeroDivisionError:
        return None


def _wrapped(table: Table, type_: Attribute) -> Table | None:
    """Wrap values to the width of a type; None for types that are no integers of 1 to 64 bits."""
    if isinstance(type_, IndexType):
        return table
    width = integer_bits(type_)
    if not 1 <= width <= MAX_ACCESS_BITS:
        return None
    if width == 1:
        return table & 1
    if width == MAX_ACCESS_BITS:
        return table
    half = 1 << (width - 1)
    return (table + half) % (2 * half) - half
