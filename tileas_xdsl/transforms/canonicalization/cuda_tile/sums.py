"""Sums of products, and tiles in the shape that they have."""

from __future__ import annotations

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tileas_xdsl.dialects.cuda_tile.tiles.floats import AddFOp, MulFOp
from tileas_xdsl.dialects.cuda_tile.tiles.shapes import BroadcastOp, ReshapeOp


class ProductFirst(RewritePattern):
    """A sum of a product and something else begins with the product."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AddFOp, rewriter: PatternRewriter) -> None:
        if isinstance(op.rhs.owner, MulFOp) and not isinstance(op.lhs.owner, MulFOp):
            op.operands = [op.rhs, op.lhs]
            rewriter.notify_op_modified(op)


class SameShape(RewritePattern):
    """A tile in the shape that it has is that tile."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BroadcastOp | ReshapeOp, rewriter: PatternRewriter) -> None:
        if op.source.type == op.result.type:
            rewriter.replace(op, [], [op.source])
