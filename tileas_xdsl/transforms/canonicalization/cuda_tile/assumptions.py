"""Assumptions that were made before."""

from __future__ import annotations

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tileas_xdsl.dialects.cuda_tile.tiles.misc import AssumeOp


class RepeatedAssumption(RewritePattern):
    """`assume p, (assume q, (assume p, %x))` says no more than the inner two."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AssumeOp, rewriter: PatternRewriter) -> None:
        inner = op.value.owner
        while isinstance(inner, AssumeOp):
            if inner.predicate == op.predicate:
                rewriter.replace(op, [], [op.value])
                return
            inner = inner.value.owner
