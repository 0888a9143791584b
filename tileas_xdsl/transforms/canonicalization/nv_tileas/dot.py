"""Patterns on `dot` with an operand that an `arith.select` chooses."""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tileas_xdsl.dialects.ir_queries import constant_integer, uniform_constant
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp


class DotOfKnownSelect(RewritePattern):
    """An operand that is selected by a constant is the one that is selected."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DotOp, rewriter: PatternRewriter) -> None:
        for index, operand in enumerate(op.operands):
            select = operand.owner
            if not isinstance(select, arith.SelectOp):
                continue
            if (condition := constant_integer(select.cond)) is not None:
                op.operands[index] = select.lhs if condition else select.rhs
                rewriter.notify_op_modified(op)
                return


class IntegerDotOfSelectWithZero(RewritePattern):
    """`dot(select(p, a, 0), b, c)` on integers multiplies only if `p`; else it is `c`.

    Not for floats: zero times infinity is no zero.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DotOp, rewriter: PatternRewriter) -> None:
        if not isinstance(op.a.type.element_type, IntegerType) or op.result.type != op.c.type:
            return
        for index, operand in enumerate((op.a, op.b)):
            select = operand.owner
            if not isinstance(select, arith.SelectOp):
                continue
            if _is_zero(select.rhs) or _is_zero(select.lhs):
                rewriter.replace(op, _guarded(op, index, select))
                return


def _guarded(op: DotOp, index: int, select: arith.SelectOp) -> scf.IfOp:
    zero_if_false = _is_zero(select.rhs)
    product = op.clone()
    product.operands[index] = select.lhs if zero_if_false else select.rhs
    multiply = [product, scf.YieldOp(product.result)]
    keep = [scf.YieldOp(op.c)]
    arms = (multiply, keep) if zero_if_false else (keep, multiply)
    return scf.IfOp(select.cond, [op.result.type], *arms)


def _is_zero(value: SSAValue) -> bool:
    constant = uniform_constant(value)
    return constant is not None and constant.value.data == 0
