"""Axis analysis of rows: aligned runs of columns that are constant, contiguous or unknown.

    %i = generate { (%row * 640 + %first) + %column }   runs of 8: step 1, begin at multiples of 8
    %m = arith.cmpi slt, %i, %bound                     all 8 alike, if 8 divides %bound
    %p = addptr %base, %i                               step 1: 16 bytes of f16 in one access

For runs of `length` columns, a power of two, that begin at multiples of it, each tile (or number,
of which all elements are alike) has a step from column to column and a power of two that divides
the first element of every run.  A run that begins at a multiple of its length never wraps around
inside, whatever the width of its integers, so that casts keep it; comparisons of such a run with a
bound that has the same divisor have one outcome.  (The lattice is that of Triton's AxisInfo:
contiguity, divisibility, constancy.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.analysis.values.launches.pointer_base_arrays import stated_divisor
from tileas_xdsl.analysis.values.rows.divisors import MAX_DIVISOR
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import (
    ELEMENTWISE_DIALECTS,
    is_side_effect_free,
    uniform_integer,
)
from tileas_xdsl.dialects.nv_tileaa.facts import AssumeOp, DivByAttr
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import AddPtrOp, BasePointerOp, pointer_of
from tileas_xdsl.dialects.nv_tileas.shapes.layout import (
    ConvertLayoutOp,
    ExpandDimsOp,
    GenerateOp,
    ViewOp,
)
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of


@dataclass(frozen=True)
class Run:
    """What is known of every run of a row."""

    step: int
    """From one column to the next; of pointers in elements."""
    divisor: int = 1
    """A power of two that divides the first element of each run; of pointers its address."""


UNIFORM = Run(0)


@dataclass
class ColumnRuns:
    """Runs of so many columns; what is found of a value is kept."""

    length: int
    _known: dict[SSAValue, Run | None] = field(default_factory=dict)
    _divisors: dict[SSAValue, int] = field(default_factory=dict)

    def of(self, value: SSAValue) -> Run | None:
        """The runs of a tile, a number, or an element in a `generate`; None if unknown."""
        if value not in self._known:
            self._known[value] = None  # Of what depends on itself nothing is known.
            self._known[value] = self._found(value)
        return self._known[value]

    def divisor_of_all(self, tile: SSAValue) -> int:
        """A power of two that divides all elements of a tile, not the first ones of runs alone."""
        if tile not in self._divisors:
            self._divisors[tile] = self._divisor(tile)
        return self._divisors[tile]

    def _divisor(self, tile: SSAValue) -> int:
        run, made = self.of(tile), tile.owner
        if run is not None:
            return min(run.divisor, run.step & -run.step) if run.step else run.divisor
        if isinstance(made, arith.MuliOp):
            return min(self.divisor_of_all(made.lhs) * self.divisor_of_all(made.rhs), MAX_DIVISOR)
        return 1

    def is_uniform(self, value: SSAValue) -> bool:
        """Return whether all elements of each run are equal."""
        found = self.of(value)
        return found is not None and found.step == 0

    def counts_up(self, value: SSAValue, divisor: int) -> bool:
        """Whether elements go up by one, in runs that begin at multiples of a divisor."""
        found = self.of(value)
        return found is not None and found.step == 1 and found.divisor % divisor == 0

    def _found(self, value: SSAValue) -> Run | None:
        made = value.owner
        if isinstance(made, Block):
            return self._argument(value, made)
        rule = _RULES.get(type(made))
        found = None if rule is None else rule(self, made)
        if found is None and _is_number(value) and not _is_in_generate(made):
            return UNIFORM
        if found is None and made.operands and _is_function(made):
            return UNIFORM if all(map(self.is_uniform, made.operands)) else None
        return found

    def _argument(self, value: SSAValue, block: Block) -> Run | None:
        """Coordinates of a tile, rounds of a loop, and whatever else is a number."""
        parent = block.parent_op()
        if isinstance(parent, GenerateOp):
            is_last = value is block.args[-1]
            return Run(1, self.length) if is_last else UNIFORM
        if isinstance(parent, scf.ForOp) and value is block.args[0]:
            return _both(self.of(parent.lb), self.of(parent.step), 0)
        return UNIFORM if _is_number(value) else None

    def keeps(self, run: Run | None) -> bool:
        """Whether runs do not wrap around inside, in integers of any width."""
        return run is not None and (run.step == 0 or self.is_aligned(run))

    def is_aligned(self, run: Run) -> bool:
        """Whether a run is `n, n + 1, ...` with `n` a multiple of its length."""
        return run.step == 1 and run.divisor % self.length == 0


def counts_up_in_vectors(pointers: SSAValue, size: int) -> bool:
    """Whether rows of pointers are runs of so many bytes, aligned to them, whatever is between.

    Columns of an image's patch, `(%first + %column) rem 128`, are, and no step is that of a row.
    """
    pointer = pointer_of(pointers.type)
    element = 0 if pointer is None else bits_of(pointer.pointee) // 8
    if not element or size <= element:
        return False
    return ColumnRuns(size // element).counts_up(pointers, size)


def _both(a: Run | None, b: Run | None, step: int) -> Run | None:
    if a is None or b is None:
        return None
    return Run(step, min(a.divisor, b.divisor))


def _is_number(value: SSAValue) -> bool:
    return not isinstance(value.type, TensorType)


def _is_in_generate(op: Operation) -> bool:
    return isinstance(op.parent_op(), GenerateOp)


def _is_function(op: Operation) -> bool:
    """Whether elements depend on the elements at the same place alone."""
    return op.name.startswith(ELEMENTWISE_DIALECTS) and not op.regions and is_side_effect_free(op)


def _added(runs: ColumnRuns, op: arith.AddiOp) -> Run | None:
    a, b = runs.of(op.lhs), runs.of(op.rhs)
    return _both(a, b, a.step + b.step) if a and b else None


def _subtracted(runs: ColumnRuns, op: arith.SubiOp) -> Run | None:
    a, b = runs.of(op.lhs), runs.of(op.rhs)
    return _both(a, b, a.step - b.step) if a and b else None


def _multiplied(runs: ColumnRuns, op: arith.MuliOp) -> Run | None:
    a, b = runs.of(op.lhs), runs.of(op.rhs)
    if a is None or b is None:
        return None
    divisor = min(a.divisor * b.divisor, MAX_DIVISOR)
    if a.step == b.step == 0:
        return Run(0, divisor)
    for run, factor in ((a, op.rhs), (b, op.lhs)):
        if (number := uniform_integer(factor)) is not None:
            return Run(run.step * number, divisor)
    return None


def _pointed(runs: ColumnRuns, op: AddPtrOp) -> Run | None:
    base, offset = runs.of(op.base), runs.of(op.offset)
    pointer = pointer_of(op.base.type)
    if base is None or offset is None or pointer is None or base.step != 0:
        return None
    size = bits_of(pointer.pointee) // 8
    return Run(offset.step, min(base.divisor, offset.divisor * size)) if size else None


def _cast(runs: ColumnRuns, op: Operation) -> Run | None:
    run = runs.of(op.operands[0])
    return run if runs.keeps(run) else None


ORDERED_RUN_FIRST = ("slt", "sge", "ult", "uge")
ORDERED_RUN_LAST = ("sgt", "sle", "ugt", "ule")


def _compared(runs: ColumnRuns, op: arith.CmpiOp) -> Run | None:
    """`n + k < b` is `n < b` for all `k` of a run, if its length divides `n` and `b`."""
    a, b = runs.of(op.lhs), runs.of(op.rhs)
    if a is None or b is None:
        return None
    if a.step == b.step == 0:
        return UNIFORM
    for run, bound, predicates in ((a, b, ORDERED_RUN_FIRST), (b, a, ORDERED_RUN_LAST)):
        is_bound = bound.step == 0 and bound.divisor % runs.length == 0
        if is_bound and runs.is_aligned(run) and _predicate(op) in predicates:
            return UNIFORM
    return None


def _predicate(op: arith.CmpiOp) -> str:
    return arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]


def _selected(runs: ColumnRuns, op: arith.SelectOp) -> Run | None:
    a, b = runs.of(op.lhs), runs.of(op.rhs)
    if not a or not b or a.step != b.step or not runs.is_uniform(op.cond):
        return None
    return _both(a, b, a.step)


def _remainder(runs: ColumnRuns, op: arith.RemUIOp) -> Run | None:
    """What is left of a run by a multiple of its length is a run, if nothing is negative."""
    a, b = runs.of(op.lhs), runs.of(op.rhs)
    if not a or not b or b.step != 0:
        return None
    if a.step == 0 or (runs.is_aligned(a) and b.divisor % runs.length == 0):
        return _both(a, b, a.step)
    return None


def _signed_remainder(runs: ColumnRuns, op: arith.RemSIOp) -> Run | None:
    """Numbers that are not columns: what is left has a sign, but the divisor of both."""
    a, b = runs.of(op.lhs), runs.of(op.rhs)
    return _both(a, b, 0) if a and b and a.step == b.step == 0 else None


def _quotient(runs: ColumnRuns, op: Any) -> Run | None:
    """All of a run is in one multiple of a multiple of its length, rounded down."""
    a, b = runs.of(op.lhs), runs.of(op.rhs)
    if not a or not b or b.step != 0:
        return None
    is_inside = runs.is_aligned(a) and b.divisor % runs.length == 0
    return UNIFORM if a.step == 0 or is_inside else None


def _constant(runs: ColumnRuns, op: arith.ConstantOp) -> Run | None:
    if (number := uniform_integer(op.result)) is None:
        return UNIFORM if _is_number(op.result) else None
    return Run(0, number & -number if number else MAX_DIVISOR)


def _assumed(runs: ColumnRuns, op: AssumeOp) -> Run | None:
    run = runs.of(op.source)
    if run is None or not isinstance(op.fact, DivByAttr) or not _is_number(op.result):
        return run
    return Run(run.step, max(run.divisor, stated_divisor(op.result)))


def _first_element(_: ColumnRuns, op: BasePointerOp) -> Run:
    return Run(0, stated_divisor(op.array))


def _splat(runs: ColumnRuns, op: tensor.SplatOp) -> Run | None:
    return runs.of(op.input)


def _converted(runs: ColumnRuns, op: ConvertLayoutOp) -> Run | None:
    return runs.of(op.source)


def _expanded(runs: ColumnRuns, op: ExpandDimsOp) -> Run | None:
    """A new last dimension has one column."""
    is_last = op.axis.value.data == len(shape_of(op.result.type) or ()) - 1
    return UNIFORM if is_last else runs.of(op.source)


def _viewed(runs: ColumnRuns, op: ViewOp) -> Run | None:
    """Rows that stay as long have the same runs."""
    here, there = shape_of(op.result.type), shape_of(op.source.type)
    if not isinstance(op.source.type, TensorType) or not here or not there:
        return None
    if here[-1] == 1:
        return UNIFORM
    return runs.of(op.source) if here[-1] == there[-1] else None


def _generated(runs: ColumnRuns, op: GenerateOp) -> Run | None:
    end = op.body.block.last_op
    return None if end is None else runs.of(end.operands[0])


def _taken(runs: ColumnRuns, op: tensor.ExtractOp) -> Run | None:
    """An element of another tile: the same one for all columns, or a run of that tile."""
    if all(map(runs.is_uniform, op.indices)):
        return Run(0, runs.divisor_of_all(op.tensor))
    *outer, last = op.indices
    index = runs.of(last)
    if not all(map(runs.is_uniform, outer)) or index is None or not runs.is_aligned(index):
        return None
    return runs.of(op.tensor)


_TABLE: Any = {
    AddPtrOp: _pointed,
    AssumeOp: _assumed,
    BasePointerOp: _first_element,
    ConvertLayoutOp: _converted,
    ExpandDimsOp: _expanded,
    GenerateOp: _generated,
    ViewOp: _viewed,
    arith.AddiOp: _added,
    arith.CmpiOp: _compared,
    arith.ConstantOp: _constant,
    arith.ExtSIOp: _cast,
    arith.ExtUIOp: _cast,
    arith.FloorDivSIOp: _quotient,
    arith.DivUIOp: _quotient,
    arith.IndexCastOp: _cast,
    arith.MuliOp: _multiplied,
    arith.RemSIOp: _signed_remainder,
    arith.RemUIOp: _remainder,
    arith.SelectOp: _selected,
    arith.SubiOp: _subtracted,
    arith.TruncIOp: _cast,
    tensor.ExtractOp: _taken,
    tensor.SplatOp: _splat,
}

_RULES: Mapping[type[Operation], Callable[[ColumnRuns, Any], Run | None]] = _TABLE
