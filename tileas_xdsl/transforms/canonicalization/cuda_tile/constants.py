"""Constants stand once, in front of the kernel, as MLIR's folder has them."""

from __future__ import annotations

from itertools import takewhile

from xdsl.ir import Block, Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tileas_xdsl.dialects.cuda_tile.structure.control import ForOp, IfOp, LoopOp
from tileas_xdsl.dialects.cuda_tile.tiles.constants import ConstantOp


class ConstantInFront(RewritePattern):
    """A constant moves out of branches and loops; one that is already there replaces it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConstantOp, rewriter: PatternRewriter) -> None:
        front = _front(op)
        if front is None:
            return
        for other in takewhile(lambda each: isinstance(each, ConstantOp), front.ops):
            if other is op:
                return
            if _is_equal(other, op):
                rewriter.replace(op, [], other.results)
                return
        op.detach()
        rewriter.insert(op, InsertPoint.at_start(front))
        rewriter.notify_op_modified(op)


def _front(op: Operation) -> Block | None:
    """The block around all branches and loops that an operation is in."""
    block = op.parent
    while block is not None and isinstance(around := block.parent_op(), IfOp | ForOp | LoopOp):
        block = around.parent
    return block


def _is_equal(one: Operation, other: Operation) -> bool:
    return (one.properties, one.attributes, one.result_types) == (
        other.properties,
        other.attributes,
        other.result_types,
    )
