"""Patterns on Tile IR branches: known conditions, unreachable operations, merged branches.

    if %p { return } else { A; return }; B            if %p { return }; A; return
    if %p { if %q { A } }                             if (andi %p, %q) { A }
    if (xori %p, true) { A } else { B }               if %p { B } else { A }
    if %p { use(%p) }                                 if %p { use(true) }

Tile IR branches may end in `return`, `break` or `continue`, so that an arm can leave the code
behind the branch unreachable; `NothingBehind` and `inline_side` remove it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tileas_xdsl.dialects.cuda_tile.structure.control import IfOp, YieldOp
from tileas_xdsl.dialects.cuda_tile.structure.regions import types_of_values
from tileas_xdsl.dialects.cuda_tile.tiles.constants import boolean, constant_number
from tileas_xdsl.dialects.cuda_tile.tiles.integers import AndIOp, XOrIOp


class DecidedBranch(RewritePattern):
    """Inline one side of a branch whose condition is constant."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IfOp, rewriter: PatternRewriter) -> None:
        decided = constant_number(op.condition)
        if decided is not None:
            inline_side(op, op.then_region if decided else op.else_region, rewriter)


class NegatedBranch(RewritePattern):
    """`if (xori %p, true) {A} else {B}` is `if %p {B} else {A}`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IfOp, rewriter: PatternRewriter) -> None:
        negation = op.condition.owner
        if not isinstance(negation, XOrIOp) or not op.else_region.blocks:
            return
        if constant_number(negation.rhs):
            then, other = op.detach_region(1), op.detach_region(0)
            rewriter.replace(op, branch(negation.lhs, op.results, then, other))


class KnownCondition(RewritePattern):
    """Replace the condition of a branch by a constant inside of its sides."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IfOp, rewriter: PatternRewriter) -> None:
        for region, known in ((op.then_region, True), (op.else_region, False)):
            uses = [use for use in op.condition.uses if region.is_ancestor(use.operation)]
            if not uses:
                continue
            made = boolean(known)
            rewriter.insert(made, InsertPoint.at_start(region.block))
            for use in uses:
                use.operation.operands[use.index] = made.result
                rewriter.notify_op_modified(use.operation)


class EmptyElse(RewritePattern):
    """Remove an `else` that does nothing."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IfOp, rewriter: PatternRewriter) -> None:
        if op.results or not op.else_region.blocks:
            return
        if isinstance(op.else_region.block.first_op, YieldOp):
            _erase_all(op.else_region.block, rewriter)
            op.else_region.detach_block(0)
            rewriter.notify_op_modified(op)


class NothingBehind(RewritePattern):
    """Where both sides leave, replace the unreachable code behind by the second side."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IfOp, rewriter: PatternRewriter) -> None:
        if not op.else_region.blocks or any(not _leaves(region.block) for region in op.regions):
            return
        other = op.else_region
        first = branch(op.condition, (), op.detach_region(0), Region())
        rewriter.insert(first, InsertPoint.before(op))
        inline_side(op, other, rewriter)


class NestedBranches(RewritePattern):
    """`if %p { if %q {A} }` is `if (andi %p, %q) {A}`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IfOp, rewriter: PatternRewriter) -> None:
        inner = op.then_region.block.first_op
        if not isinstance(inner, IfOp) or not isinstance(inner.next_op, YieldOp):
            return
        if any(each.results or each.else_region.blocks for each in (op, inner)):
            return
        both = AndIOp(operands=[op.condition, inner.condition], result_types=[op.condition.type])
        made = branch(both.result, (), inner.detach_region(0), Region())
        rewriter.replace(op, [both, made])


class SameCondition(RewritePattern):
    """Merge a branch with one of the same condition right before it.

    %r = if %p -> (tile<i32>) { yield %a } else { return }
    if %p { A(%r) }
    // becomes
    %r = if %p -> (tile<i32>) { A(%a)  yield %a } else { return }
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IfOp, rewriter: PatternRewriter) -> None:
        before = op.prev_op
        if not isinstance(before, IfOp) or before.condition is not op.condition:
            return
        for index in (0, 1):
            _join(before, op, index, rewriter)
        regions = [before.detach_region(0) for _ in (0, 1)]
        made = branch(op.condition, (*before.results, *op.results), *regions)
        rewriter.insert(made)
        rewriter.replace(op, [], made.results[len(before.results) :])
        rewriter.replace(before, [], made.results[: len(before.results)])


def _join(before: IfOp, after: IfOp, index: int, rewriter: PatternRewriter) -> None:
    """Append one side of a branch to the same side of the branch before it."""
    first, second = before.regions[index], after.regions[index]
    if not first.blocks:
        first.add_block(Block([YieldOp(operands=[[]])]))
    end = first.block.last_op
    if not isinstance(end, YieldOp):
        if second.blocks:
            _erase_all(second.block, rewriter)
        return
    for result, value in zip(before.results, end.values, strict=True):
        for use in list(result.uses):
            if second.is_ancestor(use.operation):
                use.operation.operands[use.index] = value
    if not second.blocks:
        return
    rewriter.inline_block(second.block, InsertPoint.before(end))
    last = end.prev_op
    if isinstance(last, YieldOp):
        values = [*end.values, *last.values]
        rewriter.insert(YieldOp(operands=[values]), InsertPoint.at_end(first.block))
        rewriter.erase(last)
    rewriter.erase(end)


def branch(condition: SSAValue, results: Sequence[SSAValue], then: Region, other: Region) -> IfOp:
    """Return a branch with results of the types of other values."""
    return IfOp(
        operands=[condition], result_types=[types_of_values(results)], regions=[then, other]
    )


def _leaves(block: Block) -> bool:
    """Whether a block ends by leaving, so that control does not reach what follows the branch."""
    return not isinstance(block.last_op, YieldOp)


def inline_side(op: IfOp, region: Region, rewriter: PatternRewriter) -> None:
    """Replace a branch by one of its sides; if that leaves, nothing follows."""
    if not region.blocks:
        rewriter.erase(op)
        return
    end = region.block.last_op
    if isinstance(end, YieldOp):
        rewriter.inline_block(region.block, InsertPoint.before(op))
        values = list(end.values)
        rewriter.erase(end)
        rewriter.replace(op, [], values)
        return
    while (last := _last_behind(op)) is not None:
        rewriter.erase(last)
    rewriter.inline_block(region.block, InsertPoint.before(op))
    rewriter.erase(op)


def _last_behind(op: Operation) -> Operation | None:
    assert op.parent is not None
    last = op.parent.last_op
    return None if last is op else last


def _erase_all(block: Block, rewriter: PatternRewriter) -> None:
    while (last := block.last_op) is not None:
        rewriter.erase(last)
