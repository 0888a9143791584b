"""Decide whether a reduction body that selects rows by comparisons is commutative and associative.

A reduction may combine elements in any order only if its body allows it. For argmax that depends on
how ties are broken:

    ^bb0(%v: f32, %i: i32, %w: f32, %j: i32):
      %gt = cmpf ogt, %v, %w;  %eq = cmpf oeq, %v, %w;  %lt = cmpi slt, %i, %j
      %first = ori %gt, (andi %eq, %lt)                  the smaller index wins: any order
      yield (select %first, %v, %w), (select %first, %i, %j)

A body of comparisons and selects depends only on the order of its elements, so a few
representatives decide it by exhaustion: f(x, y) = f(y, x) and f(f(x, y), z) = f(x, f(y, z)) for
all rows of -1, -0.0, 0.0, 1 and NaN, or of three integers of each sign.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IntegerAttr, IntegerType, i1
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.control import YieldOp

Array = NDArray[Any]
Row = Sequence[Array]
Relation = Callable[..., Array]

FLOATS = np.array([-1.0, -0.0, 0.0, 1.0, np.nan])
INTEGERS = np.array([-3, -2, -1, 0, 1, 2])
"""Three representatives of each sign; the negative ones are the larger when unsigned."""

MAX_SOURCES = 2
"""Maximum number of tiles: beyond it there are too many rows to try."""

LOGIC: Mapping[type[Operation], Relation] = {
    arith.AndIOp: np.logical_and,
    arith.OrIOp: np.logical_or,
    arith.XOrIOp: np.logical_xor,
}

RELATIONS: Sequence[Relation] = (
    *(np.equal, np.not_equal),
    *(np.less, np.less_equal, np.greater, np.greater_equal) * 2,
)
"""In the order of the predicates of `arith.cmpi`; the last four are unsigned."""

FIRST_UNSIGNED = 6

ORDERED: Mapping[int, Relation] = dict(
    zip(
        range(1, 7),
        (np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal),
        strict=True,
    )
)
"""By predicate of `arith.cmpf`; from 8 on the same, true of NaN."""

NUMBERS, NONE = 7, 14
UNORDERED = 7
"""Distance from an ordered `arith.cmpf` predicate to its unordered counterpart."""


def is_free_of_order(op: ReduceOp) -> bool:
    """Return whether a body of comparisons and selects is commutative and associative."""
    block = op.body.block
    if len(op.sources) > MAX_SOURCES or not only_chooses(block):
        return False
    domain = _rows([arg.type for arg in block.args[: len(op.sources)]])
    size = len(domain[0])
    a, b, c = np.unravel_index(np.arange(size**3), (size,) * 3)
    x, y, z = ([column[k] for column in domain] for k in (a, b, c))
    one, other = _chosen(block, x, y), _chosen(block, y, x)
    left, right = _chosen(block, one, z), _chosen(block, x, _chosen(block, y, z))
    # Zeros of both signs are equal to comparisons: which one is chosen shows in the result only.
    used = [any(output.uses) for output in op.outputs]
    return _is_same(one, other, used) and _is_same(left, right, used)


def pairs_of_rows(op: ReduceOp) -> tuple[Row, Row]:
    """All pairs of rows of representative numbers that a body may get."""
    domain = _rows([arg.type for arg in op.body.block.args[: len(op.sources)]])
    size = len(domain[0])
    a, b = np.unravel_index(np.arange(size**2), (size,) * 2)
    x, y = ([column[k] for column in domain] for k in (a, b))
    return x, y


def chosen_of_pairs(op: ReduceOp, first: Row, second: Row) -> Row:
    """The rows that a body of comparisons and selects chooses of pairs of rows."""
    return _chosen(op.body.block, first, second)


def only_chooses(block: Block) -> bool:
    """Return whether a body compares elements of one tile only, and selects whole rows."""
    count, args = len(block.args) // 2, list(block.args)
    # Arguments are `(left of tile 0, left of tile 1, ..., right of tile 0, ...)`, so `k % count` is
    # the tile. The defaults -1 and -2 differ: two values of no tile are not of one tile.
    column: dict[SSAValue, int] = {arg: k % count for k, arg in enumerate(args)}
    for op in block.ops:
        match op:
            case arith.CmpfOp() | arith.CmpiOp():
                if column.get(op.lhs, -1) != column.get(op.rhs, -2):
                    return False
            case arith.SelectOp():
                if op.result.type != i1 and column.get(op.lhs, -1) != column.get(op.rhs, -2):
                    return False
                if op.result.type != i1:
                    column[op.result] = column[op.lhs]
            case arith.ConstantOp() | arith.AndIOp() | arith.OrIOp() | arith.XOrIOp():
                if op.results[0].type != i1:
                    return False
            case YieldOp():
                return [column.get(value) for value in op.operands] == list(range(count))
            case _:
                return False
    return False


def _rows(types: Sequence[Attribute]) -> Row:
    """Return all rows of the representative numbers."""
    columns = [FLOATS if isinstance(type_, AnyFloat) else INTEGERS for type_ in types]
    return [grid.ravel() for grid in np.meshgrid(*columns, indexing="ij")]


def _chosen(block: Block, first: Row, second: Row) -> Row:
    """Evaluate the body on many rows at once."""
    found: dict[SSAValue, Array] = dict(zip(block.args, (*first, *second), strict=True))
    for op in block.ops:
        if isinstance(op, YieldOp):
            return [found[value] for value in op.operands]
        found[op.results[0]] = _computed(op, [found[value] for value in op.operands])
    return []


def _computed(op: Operation, given: Sequence[Array]) -> Array:
    if isinstance(op, arith.ConstantOp):
        assert isinstance(op.value, IntegerAttr)
        return np.asarray(bool(op.value.value.data))
    if isinstance(op, arith.SelectOp):
        return np.where(given[0], given[1], given[2])
    if isinstance(op, arith.CmpiOp):
        number = op.predicate.value.data
        unsigned = number >= FIRST_UNSIGNED
        assert isinstance(op.lhs.type, IntegerType)
        return RELATIONS[number](*(v.astype(np.uint64) if unsigned else v for v in given))
    if isinstance(op, arith.CmpfOp):
        return _compared(op.predicate.value.data, *given)
    return reduce(LOGIC[type(op)], given)


def _compared(predicate: int, a: Array, b: Array) -> Array:
    none = np.isnan(a) | np.isnan(b)
    if predicate == NUMBERS:
        return ~none
    if predicate == NONE:
        return none
    if predicate in (0, NONE + 1):
        return np.full(none.shape, predicate > 0)
    if predicate in ORDERED:
        return ORDERED[predicate](a, b) & ~none
    return ORDERED[predicate - UNORDERED](a, b) | none


def _is_same(one: Row, other: Row, used: Sequence[bool]) -> bool:
    """Return whether two rows are bitwise equal in the used columns."""
    pairs = zip(one, other, used, strict=True)
    return all(not use or np.array_equal(a.view(np.int64), b.view(np.int64)) for a, b, use in pairs)
