"""Selections where columns of a rotated row are compared with its end: one branch for each run.

    %m = ((%p + %s) & 4095) + 0, ..., + 7 < %n     ->  scf.if %first + 7 < %n {
    %s = select %m[k], %e[k], 0, of 8 registers          scf.yield %e
                                                       } else if %first >= %n and %first <= 4088 {
                                                         scf.yield 0, ..., 0
                                                       } else { 8 comparisons, 8 selections }

Positions of a run follow one another, modulo the width of the tile: no column is larger than the
first one plus as many more, and none smaller than the first one where that does not wrap around.
So only the run in which the row ends and the one in which it begins are compared one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Block, Operation, Region, SSAValue

from tileas_xdsl.analysis.values.rows.row_extents import uncast
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import constant_integer, enclosing_function
from tileas_xdsl.dialects.kinds import has_instance
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.xdsl_ops import selection
from tileas_xdsl.layout.units import WORD_BITS
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    constant_like,
    i1_constant,
    logical_and,
    subtract,
    xor,
)
from tileas_xdsl.threads.codegen.known_integers import interval_of, least_of, most_of
from tileas_xdsl.threads.codegen.lowered_values import Scalar
from tileas_xdsl.threads.index.per_thread_tables import Table
from tileas_xdsl.threads.registers.vector_values import (
    element,
    is_vector,
    joined,
    length,
    repeated,
    strip,
)

IS_BELOW = (2, 3, 6, 7)
"""Predicates of `arith.cmpi` that hold for what is smaller, too: slt, sle, ult, ule."""

IS_LESS = (2, 6)
"""Those of them that do not hold for what is equal: slt, ult."""

WORTH_A_BRANCH = 4
"""Elements of a run from which on a branch around their selections costs less."""


@dataclass(frozen=True)
class Ends:
    """Which ends of a row a run of columns may reach beyond."""

    is_begin: bool
    """Whether columns may be in front of 0."""
    is_end: bool
    """Whether columns may not be below the bound."""


@dataclass(frozen=True)
class ComparedRuns:
    """The comparisons of a vector of columns with a bound."""

    columns: SSAValue
    """A vector of integers."""
    runs: Sequence[range]
    """Elements whose columns follow one another, modulo `mask + 1`."""
    mask: int
    bound: SSAValue
    predicate: int
    inside: Sequence[range]
    """The runs that the comparisons are known to hold of, in all threads."""
    behind: Sequence[range]
    """The runs that they are known not to hold of, in any thread."""
    ends: Mapping[range, Ends]
    """Where no position wraps around in front of the bound, what a run may reach beyond."""
    moved: SSAValue
    """The columns before those in front of 0 wrap around."""

    @staticmethod
    def of(
        e: ThreadBuilder,
        op: Operation | Block | None,
        known: Callable[[SSAValue], Table | None],
        value: Callable[[SSAValue], SSAValue],
    ) -> ComparedRuns | None:
        """Return the compared runs of an operation of a body; None for none and for short ones.

        `known` gives the positions of the threads in each register, `value` what a value of the
        body is lowered to.
        """
        if not isinstance(op, arith.CmpiOp) or op.predicate.value.data not in IS_BELOW:
            return None
        wrapped, bound = uncast(op.lhs).owner, e.values.get(op.rhs)
        if op.lhs.type != IntegerType(WORD_BITS) or not isinstance(bound, Scalar):
            return None
        if not isinstance(wrapped, arith.AndIOp) or not isinstance(
            moved := wrapped.lhs.owner, arith.AddiOp
        ):
            return None
        mask, table = constant_integer(wrapped.rhs), known(moved.lhs)
        if mask is None or mask & (mask + 1) or table is None:
            return None
        columns, runs = value(op.lhs), list(_runs(table))
        if not is_vector(columns) or len(runs) * WORTH_A_BRANCH > table.shape[1]:
            return None
        shift = e.values.get(moved.rhs)
        moves = interval_of(shift.value) if isinstance(shift, Scalar) else None
        inside, behind = _decided(runs, table, moves, bound.value)
        ends = _ends(runs, table, moves, bound.value, mask)
        compared = columns, runs, mask, bound.value, op.predicate.value.data
        return ComparedRuns(*compared, inside, behind, ends, value(wrapped.lhs))

    def selected(self, e: ThreadBuilder, taken: SSAValue, other: SSAValue) -> SSAValue:
        """A vector of the elements of two, where the comparisons hold and where they do not."""
        return joined(e, [self._of_run(e, run, taken, other) for run in self.runs])

    def _of_run(self, e: ThreadBuilder, run: range, taken: SSAValue, other: SSAValue) -> SSAValue:
        first = element(e, self.columns, run[0])

        part = partial(part_of, e, run=run)

        def one_by_one() -> SSAValue:
            sides = (taken, other)
            return joined(
                e, [self._of_one(e, first, k, sides, run[0] + k) for k in range(len(run))]
            )

        def some_do_not() -> SSAValue:
            return _either(
                e, self._none_holds(e, first, len(run)), partial(part, other), one_by_one
            )

        if run in self.inside or run in self.behind:
            return part(taken if run in self.inside else other)
        if run in self.ends:
            return self._of_ends(e, run, taken, other)
        all_hold = self._holds(e, add(e, first, len(run) - 1))
        return _either(e, all_hold, partial(part, taken), some_do_not)

    def _of_ends(self, e: ThreadBuilder, run: range, taken: SSAValue, other: SSAValue) -> SSAValue:
        """A run of columns that do not wrap around, each of which is compared with both ends.

        Constants are compared with the distances of the first column: %c + 5 < %n, 5 < %n - %c.
        """
        first, sides, ends = element(e, self.moved, run[0]), (taken, other), self.ends[run]
        room = subtract(e, self.bound, first) if ends.is_end else None

        def are_inside(low: int, high: int) -> SSAValue:
            begin = end = None
            if ends.is_begin:
                begin = _is(e, first, "sge", -low)
            if room is not None:
                end = _is(e, room, "sgt" if self.predicate in IS_LESS else "sge", high)
            both = logical_and(e, begin, end)
            assert both is not None, "runs that reach beyond no end are inside"
            return both

        def one_by_one() -> SSAValue:
            found: list[SSAValue] = []
            for k in range(len(run)):
                arms = [element(e, v, run[0] + k) if is_vector(v) else v for v in sides]
                found.append(e.insert(selection(are_inside(k, k), *arms)).result)
            return joined(e, found)

        whole = are_inside(0, len(run) - 1)
        return _either(e, whole, partial(part_of, e, taken, run), one_by_one)

    def _of_one(
        self, e: ThreadBuilder, first: SSAValue, k: int, sides: tuple[SSAValue, SSAValue], at: int
    ) -> SSAValue:
        limit = constant_like(e, first, self.mask)
        column = e.insert(arith.AndIOp(add(e, first, k), limit)).result
        arms = [element(e, side, at) if is_vector(side) else side for side in sides]
        return e.insert(selection(self._holds(e, column), *arms)).result

    def _none_holds(self, e: ThreadBuilder, first: SSAValue, count: int) -> SSAValue:
        last = constant_like(e, first, self.mask + 1 - count)
        adjacent = e.insert(arith.CmpiOp(first, last, "sle")).result
        behind = xor(e, self._holds(e, first), i1_constant(e, True))
        return e.insert(arith.AndIOp(behind, adjacent)).result

    def _holds(self, e: ThreadBuilder, column: SSAValue) -> SSAValue:
        return e.insert(arith.CmpiOp(column, self.bound, self.predicate)).result


def _decided(
    runs: Sequence[range], table: Table, moves: tuple[int, int] | None, bound: SSAValue
) -> tuple[Sequence[range], Sequence[range]]:
    """Return the runs that are known to be below a bound in all threads, and above it.

    Positions that are moved to no negative column do not wrap around in front of the bound.
    """
    if moves is None:
        return (), ()
    least, most = least_of(bound), most_of(bound)
    begins = {run: int(table[:, run[0]].min()) + moves[0] for run in runs}
    ends = {run: int(table[:, run[-1]].max()) + moves[1] for run in runs}
    inside = [run for run in runs if least is not None and begins[run] >= 0 and ends[run] < least]
    behind = [run for run in runs if most is not None and begins[run] > most]
    return inside, behind


def _ends(
    runs: Sequence[range],
    table: Table,
    moves: tuple[int, int] | None,
    bound: SSAValue,
    mask: int,
) -> Mapping[range, Ends]:
    """Return the ends that runs may reach; none where positions may wrap around below the bound."""
    least, most = least_of(bound), most_of(bound)
    if moves is None or moves[1] > 0 or least is None or least < 0 or most is None:
        return {}
    if most > mask + 1 + moves[0]:
        return {}
    firsts = {run: int(table[:, run[0]].min()) + moves[0] for run in runs}
    lasts = {run: int(table[:, run[-1]].max()) + moves[1] for run in runs}
    return {run: Ends(firsts[run] < 0, lasts[run] >= least) for run in runs}


def _is(e: ThreadBuilder, value: SSAValue, predicate: str, number: int) -> SSAValue:
    return e.insert(arith.CmpiOp(value, constant_like(e, value, number), predicate)).result


def _either(
    e: ThreadBuilder,
    condition: SSAValue,
    first: Callable[[], SSAValue],
    second: Callable[[], SSAValue],
) -> SSAValue:
    """One of two values, each computed in a branch."""
    blocks, given = (Block(), Block()), list[SSAValue]()
    for block, make in zip(blocks, (first, second), strict=True):
        with e.within(block):
            given.append(make())
            e.insert(scf.YieldOp(given[-1]))
    made = scf.IfOp(condition, [given[0].type], Region(blocks[0]), Region(blocks[1]))
    return e.insert(made).results[0]


def part_of(e: ThreadBuilder, side: SSAValue, run: range) -> SSAValue:
    """The elements of a run, of which a scalar is all."""
    vector = is_vector(side)
    return strip(e, side, run[0], len(run)) if vector else repeated(e, side, len(run))


def may_branch(op: Operation, taken: SSAValue) -> bool:
    """Whether a vector may be chosen in branches: kernels with products have none (C7510)."""
    function = enclosing_function(op)
    has_no_products = function is not None and not has_instance(function, DotOp)
    return has_no_products and is_vector(taken) and length(taken) >= WORTH_A_BRANCH


def _runs(table: Table) -> Iterator[range]:
    """Ranges of registers whose positions follow one another in each thread."""
    begin, count = 0, table.shape[1]
    for k in range(1, count + 1):
        if k == count or (table[:, k] != table[:, k - 1] + 1).any():
            yield range(begin, k)
            begin = k
