"""The pass `recompute-conditions`: comparisons stand where they are used, for predicates are few.

    %i = arith.addi %x, %one : i32            %d = arith.subi %n, %x : i32    // of all elements
    %c = arith.cmpi eq, %i, %n : i32          %c = arith.cmpi eq, %d, %one : i32
    ...                                       ...
    %a = arith.select %c, %u, %zero     ->    %a = arith.select %c, %u, %zero
    ...  // 31 other elements, a sum          ...
    %b = arith.select %c, %v, %zero           %e = arith.cmpi eq, %d, %one : i32
                                              %b = arith.select %e, %v, %zero

A thread has seven predicates.  A mask of 32 elements that is used in two places is packed into a
register: two instructions for each to write it, two to read it.  A comparison is one.

Comparisons are made again where their numbers are the same for many, but for a constant: those stay
in registers anyhow, or are one more.  `x + c == n` and `n - x == c` are equal in wrapping integers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import field

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerType, ModuleOp, i1
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant

PREDICATES = 7
"""Of a thread (CUDA Binary Utilities: P0 to P6; PT is true)."""

EQUALITIES = (0, 1)
"""The predicates `eq` and `ne` of `arith.cmpi`."""


@dataclass(frozen=True)
class RecomputeConditions(ModulePass):
    """Compare integers again where more conditions are in between than there are predicates.

    Needs: scalar comparisons of the code of threads, of which equal ones are one.

    Leaves: those that other comparisons share their numbers with, but for a constant, in front of
    each group of their uses; equalities as comparisons of a difference with the constant.
    """

    name = "recompute-conditions"

    predicates: int = PREDICATES

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        by_block: dict[Block, list[arith.CmpiOp]] = defaultdict(list)
        for compared in instances_in(op, arith.CmpiOp):
            block = compared.parent_block()
            if block is not None and _is_of_numbers(compared):
                by_block[block].append(compared)
        for block, found in by_block.items():
            if len(found) > self.predicates:
                _recompute(block, found, self.predicates)


def _is_of_numbers(op: arith.CmpiOp) -> bool:
    """Whether integers are compared, for more than one use: neither fragments nor conditions."""
    type_ = op.lhs.type
    is_number = isinstance(type_, IntegerType | IndexType) and type_ != i1
    return is_number and op.result.has_more_than_one_use()


@dataclass(frozen=True)
class _Comparison:
    """`x + constant` compared with another number, by the predicate of `op`."""

    op: arith.CmpiOp
    sum: arith.AddiOp | None
    x: SSAValue
    other: SSAValue

    @staticmethod
    def of(op: arith.CmpiOp) -> _Comparison:
        """Read the left side as a sum with a constant, which it may be none of."""
        made = op.lhs.owner
        if isinstance(made, arith.AddiOp) and constant_integer(made.rhs) is not None:
            return _Comparison(op, made, made.lhs, op.rhs)
        return _Comparison(op, None, op.lhs, op.rhs)


@dataclass
class _Places:
    """Where operations of a block stand: how many before them make or use conditions."""

    block: Block
    before: dict[Operation, int] = field(default_factory=dict[Operation, int])
    _places: dict[Operation, int] = field(default_factory=dict[Operation, int])

    def __post_init__(self) -> None:
        count = 0
        for place, op in enumerate(self.block.ops):
            self.before[op], self._places[op] = count, place
            count += any(value.type == i1 for value in (*op.operands, *op.results))

    def groups(self, op: arith.CmpiOp, predicates: int) -> Sequence[Sequence[Operation]]:
        """Uses of a comparison that stand together, in their order: first those near itself."""
        found, last = [list[Operation]()], self.before[op]
        for user in self._users(op.result):
            if self.before[user] - last > predicates:
                found.append([])
            found[-1].append(user)
            last = self.before[user]
        return found

    def _users(self, value: SSAValue) -> Sequence[Operation]:
        """The operations of the block that use a value, or hold what does, in their order."""
        found = {self.block.find_ancestor_op_in_block(use.operation) for use in value.uses}
        return sorted((op for op in found if op is not None), key=self._places.__getitem__)


def _recompute(block: Block, found: Sequence[arith.CmpiOp], predicates: int) -> None:
    """Make comparisons of a block again in front of uses that are far behind them."""
    shared: dict[tuple[SSAValue, SSAValue], list[_Comparison]] = defaultdict(list)
    for each in map(_Comparison.of, found):
        shared[each.x, each.other].append(each)
    places = _Places(block)
    for (x, other), comparisons in shared.items():
        groups = {one: places.groups(one.op, predicates) for one in comparisons}
        far = {one: behind for one, (_, *behind) in groups.items() if behind}
        if len(far) > predicates:
            _repeat(x, other, far)


def _repeat(
    x: SSAValue, other: SSAValue, far: Mapping[_Comparison, Sequence[Sequence[Operation]]]
) -> None:
    """Give each group of uses that is far from its comparison one of its own."""
    apart = None
    if all(one.op.predicate.value.data in EQUALITIES for one in far):
        difference = arith.SubiOp(other, x)
        Rewriter.insert_op(difference, InsertPoint.before(next(iter(far)).op))
        apart = difference.result
    for one, groups in far.items():
        compared = one if apart is None else _as_difference(one, apart)
        for group in groups:
            _compare_again(compared, group)
        for op in (compared.op, one.sum):
            if op is not None and not any(op.result.uses):
                Rewriter.erase_op(op)


def _as_difference(one: _Comparison, apart: SSAValue) -> _Comparison:
    """Compare what the other number is away from `x` with the constant."""
    if one.sum is None:
        build = Builder(InsertPoint.before(one.op))
        number = constant(build, 0, one.op.lhs.type)
    else:
        number = one.sum.rhs
    made = arith.CmpiOp(apart, number, one.op.predicate.value.data)
    Rewriter.replace_op(one.op, made)
    return _Comparison(made, None, apart, number)


def _compare_again(one: _Comparison, group: Sequence[Operation]) -> None:
    """Put a comparison, and the sum in it, in front of some of its uses."""
    sum_ = None if one.sum is None else one.sum.clone()
    made = one.op.clone()
    if sum_ is not None:
        made.operands[0] = sum_.result
        Rewriter.insert_op(sum_, InsertPoint.before(group[0]))
    Rewriter.insert_op(made, InsertPoint.before(group[0]))
    inside = set(group)
    block = group[0].parent_block()
    assert block is not None, "uses stand in a block"
    for use in list(one.op.result.uses):
        if block.find_ancestor_op_in_block(use.operation) in inside:
            use.operation.operands[use.index] = made.result
