"""Selections whose result is known, or is that of a simpler operation."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType, i1
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tileas_xdsl.dialects.cuda_tile.enums import ComparisonPredicate, Signedness, SignednessAttr
from tileas_xdsl.dialects.cuda_tile.matches import shape_of
from tileas_xdsl.dialects.cuda_tile.tiles.constants import ConstantOp, boolean, constant_number
from tileas_xdsl.dialects.cuda_tile.tiles.conversions import ExtIOp
from tileas_xdsl.dialects.cuda_tile.tiles.integers import CmpIOp, XOrIOp
from tileas_xdsl.dialects.cuda_tile.tiles.shapes import SelectOp
from tileas_xdsl.dialects.cuda_tile.types.tile_types import element_of


class DecidedSelect(RewritePattern):
    """Both values are the same, or the condition is a constant."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SelectOp, rewriter: PatternRewriter) -> None:
        decided = constant_number(op.cond)
        if op.val_if_true is op.val_if_false or decided:
            rewriter.replace(op, [], [op.val_if_true])
        elif decided == 0:
            rewriter.replace(op, [], [op.val_if_false])


class SelectOfEqualOperands(RewritePattern):
    """`select (cmpi equal %a, %b), %a, %b` is `%b`, with `not_equal` it is `%a`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SelectOp, rewriter: PatternRewriter) -> None:
        compared = op.cond.owner
        if not isinstance(compared, CmpIOp):
            return
        if {compared.lhs, compared.rhs} != {op.val_if_true, op.val_if_false}:
            return
        match compared.comparison_predicate.data:
            case ComparisonPredicate.EQUAL:
                rewriter.replace(op, [], [op.val_if_false])
            case ComparisonPredicate.NOT_EQUAL:
                rewriter.replace(op, [], [op.val_if_true])
            case _:
                pass


class NestedSelect(RewritePattern):
    """Of a value that is selected by the same condition, one side alone can be meant."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SelectOp, rewriter: PatternRewriter) -> None:
        taken, other = op.val_if_true, op.val_if_false
        if isinstance(inner := taken.owner, SelectOp) and inner.cond is op.cond:
            taken = inner.val_if_true
        if isinstance(inner := other.owner, SelectOp) and inner.cond is op.cond:
            other = inner.val_if_false
        if (taken, other) != (op.val_if_true, op.val_if_false):
            rewriter.replace(op, _select(op.cond, taken, other))


class SelectOfNegation(RewritePattern):
    """`select (xori %p, true), %a, %b` is `select %p, %b, %a`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SelectOp, rewriter: PatternRewriter) -> None:
        negation = op.cond.owner
        if isinstance(negation, XOrIOp) and constant_number(negation.rhs):
            rewriter.replace(op, _select(negation.lhs, op.val_if_false, op.val_if_true))


class SelectOfZeroAndOne(RewritePattern):
    """Of 1 and 0 the condition itself, extended; of 0 and 1 its negation."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SelectOp, rewriter: PatternRewriter) -> None:
        sides = [constant_number(op.val_if_true), constant_number(op.val_if_false)]
        if None in sides or sorted(abs(side or 0) for side in sides) != [0, 1]:
            return
        element = element_of(op.result.type)
        if element != i1 and -1 in sides:
            return
        condition = op.cond
        if not sides[0]:
            true = boolean(True, shape_of(op.cond.type))
            negated = XOrIOp(operands=[condition, true.result], result_types=[condition.type])
            rewriter.insert([true, negated])
            condition = negated.result
        if element == i1:
            rewriter.replace(op, [], [condition])
            return
        signedness = SignednessAttr(Signedness.UNSIGNED)
        rewriter.replace(
            op,
            ExtIOp(
                operands=[condition],
                result_types=[op.result.type],
                properties={"signedness": signedness},
            ),
        )


class ConstantSelect(RewritePattern):
    """Integers of which all are known."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SelectOp, rewriter: PatternRewriter) -> None:
        literals: list[Any] = []
        for maker in (operand.owner for operand in op.operands):
            if not isinstance(maker, ConstantOp):
                return
            literals.append(maker.value)
        if not isinstance(literals[1].get_element_type(), IntegerType):
            return
        values = [literal.get_values() for literal in literals]
        found = [a if chosen else b for chosen, a, b in zip(*values, strict=True)]
        made = DenseIntOrFPElementsAttr.from_list(literals[1].type, found)
        rewriter.replace(op, ConstantOp.of(made))


def _select(condition: SSAValue, taken: SSAValue, other: SSAValue) -> SelectOp:
    return SelectOp(operands=[condition, taken, other], result_types=[taken.type])
