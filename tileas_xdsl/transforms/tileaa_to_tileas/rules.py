"""Rules: by operation class, the operations that replace it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.interned import integer_attr
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.xdsl_ops import cast_op, constant_op

OpT = TypeVar("OpT", bound=Operation)
INDEX = IndexType()


@dataclass(frozen=True)
class Insert:
    """Puts operations in front of the one that is rewritten, or at the end of a block."""

    put: Callable[[Operation], object]

    def __call__(self, op: OpT) -> OpT:
        self.put(op)
        return op

    def index(self, number: int) -> SSAValue:
        """A constant index."""
        return self(constant_op(integer_attr(number, INDEX))).result

    def cast(self, value: SSAValue, type_: Attribute) -> SSAValue:
        """An index as an integer, or the other way round."""
        return (
            value if value.type == type_ else self(cast_op(arith.IndexCastOp, value, type_)).result
        )


Rule: TypeAlias = Callable[[Any, Insert], Sequence[SSAValue]]
"""Inserts the replacement of an operation, and returns the values for its results."""

Element: TypeAlias = Callable[[Insert, Sequence[SSAValue]], SSAValue]
"""The element at coordinates."""


class ApplyRule(RewritePattern):
    """Replace an operation whose class has a rule by the operations that the rule inserts."""

    def __init__(self, rules: Mapping[type[Operation], Rule]) -> None:
        self.rules = rules
        self.root_kinds = tuple(rules)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if (rule := self.rules.get(type(op))) is None:
            return
        values = rule(op, Insert(rewriter.insert))
        for value, result in zip(values, op.results, strict=True):
            if value.name_hint is None:
                value.name_hint = result.name_hint
        rewriter.replace(op, [], values)


def generated(insert: Insert, element: Attribute, shape: Sequence[int], at: Element) -> SSAValue:
    """A tile whose elements are computed from their coordinates."""
    block = Block(arg_types=[INDEX] * len(shape))
    inside = Insert(block.add_op)
    inside(YieldOp(at(inside, block.args)))
    return insert(GenerateOp(TensorType(element, shape), block)).result
