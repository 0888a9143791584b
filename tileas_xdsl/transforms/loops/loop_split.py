"""The pass `loop-split`: loops in which a branch compares the index with an invariant become two.

    %r = for %i in (%lower to %upper, step %one) : tile<i32> iter_values(%c = %x) -> (tile<i32>) {
      %p = cmpi greater_than_or_equal %i, %s, signed : tile<i32> -> tile<i1>
      if %p {A(%i, %c)} else {B(%i, %c)}
    }
    // becomes
    %end = mini %s, %upper signed : tile<i32>
    %begin = maxi %s, %lower signed : tile<i32>
    %q = for %i in (%lower to %end, step %one) ... iter_values(%c = %x) { B(%i, %c) }
    %r = for %i in (%begin to %upper, step %one) ... iter_values(%c = %q) { A(%i, %c) }

The pass of the public Tile IR repository has this name, its option, and the attribute
`cuda_tile.loop_split` of a branch, a loop or a kernel, the innermost of which counts: 0 leaves
loops alone, another number is the threshold.  No split point wraps around: the number behind an
invariant is compared with the upper bound first, and steps other than 1 need bounds that are
constants.  Branches inside other branches or loops keep a constant condition, which `canonicalize`
decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    TensorType,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint
from xdsl.traits import IsolatedFromAbove

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.cuda_tile.base import CudaTileOp
from tileas_xdsl.dialects.cuda_tile.enums import (
    ComparisonPredicate,
    RoundingMode,
    RoundingModeAttr,
    Signedness,
    SignednessAttr,
)
from tileas_xdsl.dialects.cuda_tile.structure.control import ForOp, IfOp
from tileas_xdsl.dialects.cuda_tile.structure.regions import TerminatorOp
from tileas_xdsl.dialects.cuda_tile.tiles.constants import ConstantOp, boolean, constant_number
from tileas_xdsl.dialects.cuda_tile.tiles.integers import (
    AddIOp,
    CmpIOp,
    DivIOp,
    MaxIOp,
    MinIOp,
    MulIOp,
    SubIOp,
)
from tileas_xdsl.dialects.cuda_tile.types.tile_types import element_of
from tileas_xdsl.dialects.ir_queries import enclosing_ops
from tileas_xdsl.transforms.canonicalization.cuda_tile.branches import inline_side

HINT = "cuda_tile.loop_split"

_MIRRORED = {
    ComparisonPredicate.LESS_THAN: ComparisonPredicate.GREATER_THAN,
    ComparisonPredicate.LESS_THAN_OR_EQUAL: ComparisonPredicate.GREATER_THAN_OR_EQUAL,
    ComparisonPredicate.GREATER_THAN: ComparisonPredicate.LESS_THAN,
    ComparisonPredicate.GREATER_THAN_OR_EQUAL: ComparisonPredicate.LESS_THAN_OR_EQUAL,
}
"""The predicate when the operands change places."""

_BEGINS_BEHIND = (ComparisonPredicate.LESS_THAN_OR_EQUAL, ComparisonPredicate.GREATER_THAN)
"""The second loop begins at the number behind the invariant; else at the invariant."""

_ENDS = (ComparisonPredicate.LESS_THAN, ComparisonPredicate.LESS_THAN_OR_EQUAL)
"""Whether the comparison holds in the first loop; else in the second."""


class _Split(NamedTuple):
    """A comparison of a loop's index that a branch in the loop asks for."""

    comparison: CmpIOp
    predicate: ComparisonPredicate
    """Of the index with `invariant`."""
    invariant: SSAValue


def _split_of(loop: ForOp, threshold: int) -> _Split | None:
    """The first comparison that two loops would know."""
    for use in loop.body.block.args[0].uses:
        comparison = use.operation
        if not isinstance(comparison, CmpIOp) or comparison.signedness != _signedness(loop):
            continue
        predicate: ComparisonPredicate = comparison.comparison_predicate.data
        if predicate not in _MIRRORED or not _is_asked_for(comparison, loop, threshold):
            continue
        if use.index:
            predicate = _MIRRORED[predicate]
        split = _Split(comparison, predicate, comparison.operands[1 - use.index])
        if not loop.is_ancestor(split.invariant.owner) and _can_split(loop, split):
            return split
    return None


def _signedness(loop: ForOp) -> SignednessAttr:
    is_signed = loop.unsigned_cmp is None
    return SignednessAttr(Signedness.SIGNED if is_signed else Signedness.UNSIGNED)


def _is_asked_for(comparison: CmpIOp, loop: ForOp, threshold: int) -> bool:
    """Whether a branch by this comparison is long enough."""
    for use in comparison.result.uses:
        branch = use.operation
        if not isinstance(branch, IfOp):
            continue
        least = _hinted((branch, loop, *_kernels_of(loop)), threshold)
        length = sum(not isinstance(op, TerminatorOp) for op in operations_in(branch)) - 1
        if least and length >= least:
            return True
    return False


def _kernels_of(op: Operation) -> Iterator[Operation]:
    """The kernel around an operation."""
    around = (parent for parent in enclosing_ops(op) if parent.has_trait(IsolatedFromAbove))
    yield from islice(around, 1)


def _hinted(ops: Sequence[Operation], threshold: int) -> int:
    """The threshold that the first operation with a hint gives."""
    for op in ops:
        if isinstance(hint := op.attributes.get(HINT), IntegerAttr):
            return hint.value.data
    return threshold


def _can_split(loop: ForOp, split: _Split) -> bool:
    """Whether the index at which the second loop begins is one of the loop's and is a number."""
    if constant_number(loop.step) == 1:
        return True
    numbers = [
        constant_number(value)
        for value in (loop.lower_bound, loop.upper_bound, loop.step, split.invariant)
    ]
    if None in numbers:
        return False
    lower, upper, step, invariant = (number or 0 for number in numbers)
    bounds = (lower, upper, invariant)
    is_far = max(map(abs, bounds)) + step >= 1 << (_width(loop) - 2)
    is_read_otherwise = loop.unsigned_cmp is not None and min(bounds) < 0
    return step > 0 and not is_far and not is_read_otherwise


def _width(loop: ForOp) -> int:
    """The bits of a loop's numbers."""
    element: Any = element_of(loop.step.type)
    return element.bitwidth


@dataclass(frozen=True)
class _Writer:
    """Writes operations on a loop's numbers in front of it."""

    loop: ForOp
    rewriter: PatternRewriter

    def number(self, value: int) -> SSAValue:
        """A constant."""
        type_ = TensorType(IntegerType(_width(self.loop)), ())
        return self._insert(ConstantOp.of(DenseIntOrFPElementsAttr.from_list(type_, [value])))

    def wrapping(self, kind: type[CudaTileOp], lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """A sum, a difference or a product."""
        return self._insert(kind(operands=[lhs, rhs], result_types=[lhs.type]))

    def signed(self, kind: type[CudaTileOp], lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """The smaller or larger number, as the loop reads its bounds."""
        properties = {"signedness": _signedness(self.loop)}
        return self._insert(
            kind(operands=[lhs, rhs], result_types=[lhs.type], properties=properties)
        )

    def divided_up(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """A quotient, rounded up."""
        properties = {
            "signedness": _signedness(self.loop),
            "rounding": RoundingModeAttr(RoundingMode.POSITIVE_INF),
        }
        return self._insert(
            DivIOp(operands=[lhs, rhs], result_types=[lhs.type], properties=properties)
        )

    def _insert(self, op: Operation) -> SSAValue:
        op.location = self.loop.location
        self.rewriter.insert(op, InsertPoint.before(self.loop))
        return op.results[0]


def _begin_of_second(loop: ForOp, split: _Split, writer: _Writer) -> SSAValue:
    """The first index from `lower_bound` on of which the comparison says something else.

    It may lie outside of the bounds.
    """
    begin = split.invariant
    if split.predicate in _BEGINS_BEHIND:
        one = writer.number(1)
        if not _is_below_largest(begin, loop):
            last = writer.wrapping(SubIOp, loop.upper_bound, one)
            begin = writer.signed(MinIOp, begin, last)
        begin = writer.wrapping(AddIOp, begin, one)
    if constant_number(loop.step) == 1:
        return begin
    distance = writer.wrapping(SubIOp, begin, loop.lower_bound)
    steps = writer.divided_up(distance, loop.step)
    behind = writer.wrapping(MulIOp, steps, loop.step)
    return writer.wrapping(AddIOp, loop.lower_bound, behind)


def _is_below_largest(value: SSAValue, loop: ForOp) -> bool:
    """Whether one more is known not to wrap around."""
    number = constant_number(value)
    return number is not None and 0 <= number < (1 << (_width(loop) - 1)) - 1


def _split_loop(loop: ForOp, split: _Split) -> Sequence[ForOp]:
    """Replace a loop by the two that know the comparison."""
    rewriter = PatternRewriter(loop)
    writer = _Writer(loop, rewriter)
    begin = _begin_of_second(loop, split, writer)
    end_of_first = writer.signed(MinIOp, begin, loop.upper_bound)
    begin_of_second = writer.signed(MaxIOp, begin, loop.lower_bound)
    holds_in_first = split.predicate in _ENDS
    first = _known_copy(loop, split, holds_in_first, rewriter)
    first.operands[1] = end_of_first
    second = _known_copy(loop, split, not holds_in_first, rewriter)
    second.operands = [begin_of_second, *loop.operands[1:3], *first.results]
    rewriter.replace(loop, [], second.results)
    return (first, second)


def _known_copy(loop: ForOp, split: _Split, holds: bool, rewriter: PatternRewriter) -> ForOp:
    """A copy of the loop in front of it, in which the comparison is a constant."""
    values: dict[SSAValue, SSAValue] = {}
    copy = loop.clone(values)
    rewriter.insert(copy, InsertPoint.before(loop))
    comparison = values[split.comparison.result]
    known = boolean(holds)
    assert isinstance(comparison.owner, CmpIOp)
    known.location = comparison.owner.location
    rewriter.replace(comparison.owner, known)
    for op in list(copy.body.block.ops):
        if not isinstance(op, IfOp) or op.parent is not copy.body.block:
            continue
        if op.condition is known.result:
            inline_side(op, op.then_region if holds else op.else_region, rewriter)
    return copy


def _split_all(block: Block, threshold: int) -> None:
    """Split each loop of a block, then those inside, once."""
    for op in list(block.ops):
        ops: Sequence[Operation] = (op,)
        if isinstance(op, ForOp) and (split := _split_of(op, threshold)) is not None:
            ops = _split_loop(op, split)
        for inner in (inner for each in ops for region in each.regions for inner in region.blocks):
            _split_all(inner, threshold)


@dataclass(frozen=True)
class LoopSplit(ModulePass):
    """Split loops of Tile IR where a branch compares the index with an invariant.

    `split_threshold` is the least number of operations in such a branch; 0 splits no loop.
    """

    name = "loop-split"

    split_threshold: int = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _split_all(op.body.block, self.split_threshold)
