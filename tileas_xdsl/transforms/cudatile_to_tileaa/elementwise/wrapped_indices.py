"""Indices that wrap around an extent are below it: they need no bounds check of each element.

    %r = remi %x, %n signed                          (`x % n` of Python has the sign of n)
    %m = select ((%r < 0) ^ (%n < 0)) & (%r != 0), %r + %n, %r
    %ok = cmpi less_than exti %m, exti %n, unsigned         ->    %ok = %n > 0, for all elements

That needs an extent that is known not to be negative, as those of arrays are; without one the
remainder is undefined, and nothing is accessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.ir import SSAValue

from tileas_xdsl.dialects.cuda_tile.enums import ComparisonPredicate, Signedness
from tileas_xdsl.dialects.cuda_tile.matches import shape_of
from tileas_xdsl.dialects.cuda_tile.tiles.constants import constant_number
from tileas_xdsl.dialects.cuda_tile.tiles.conversions import ExtIOp
from tileas_xdsl.dialects.cuda_tile.tiles.integers import AddIOp, AndIOp, CmpIOp, RemIOp, XOrIOp
from tileas_xdsl.dialects.cuda_tile.tiles.misc import AssumeOp
from tileas_xdsl.dialects.cuda_tile.tiles.shapes import BroadcastOp, ReshapeOp, SelectOp
from tileas_xdsl.dialects.cuda_tile.types.predicates import BoundedAttr

_Shown: TypeAlias = BroadcastOp | ReshapeOp | ExtIOp | AssumeOp


def extent_of_wrapped(op: CmpIOp) -> SSAValue | None:
    """Return the extent, a number, that an index is compared with and wraps around; else None."""
    if op.comparison_predicate.data is not ComparisonPredicate.LESS_THAN:
        return None
    extent, wrapped = _number(op.rhs), _number(op.lhs).owner
    is_unsigned = op.signedness.data is Signedness.UNSIGNED
    if shape_of(extent.type) or not is_unsigned or not _is_not_negative(op.rhs):
        return None
    if not isinstance(wrapped, SelectOp) or not is_python_remainder(wrapped):
        return None
    remainder = wrapped.val_if_false.owner
    assert isinstance(remainder, RemIOp)
    return extent if _number(remainder.rhs) is extent else None


def _number(value: SSAValue) -> SSAValue:
    """Return what a value shows in another shape, or extended by its sign."""
    while isinstance(owner := value.owner, _Shown):
        if isinstance(owner, ExtIOp) and owner.signedness.data is not Signedness.SIGNED:
            return value
        value = owner.operands[0]
    return value


def _is_not_negative(value: SSAValue) -> bool:
    """Whether an extent is said to be 0 at least on the way from its number."""
    while isinstance(owner := value.owner, _Shown):
        if isinstance(owner, AssumeOp) and isinstance(owner.predicate, BoundedAttr):
            lower, _ = owner.predicate.bounds
            if lower is not None and lower >= 0:
                return True
        value = owner.operands[0]
    return False


def is_python_remainder(op: SelectOp) -> bool:
    """Whether a selection makes a remainder with the sign of the divisor of one by truncation."""
    remainder, added, condition = op.val_if_false.owner, op.val_if_true.owner, op.cond.owner
    if not isinstance(remainder, RemIOp) or remainder.signedness.data is not Signedness.SIGNED:
        return False
    left, by = remainder.result, remainder.rhs
    if not isinstance(added, AddIOp) or set(added.operands) != {left, by}:
        return False
    if not isinstance(condition, AndIOp):
        return False
    differ, is_left = sorted(
        (one.owner for one in condition.operands), key=lambda one: isinstance(one, CmpIOp)
    )
    return (
        isinstance(differ, XOrIOp)
        and _tell_signs(differ.operands, left, by)
        and isinstance(is_left, CmpIOp)
        and is_left.comparison_predicate.data is ComparisonPredicate.NOT_EQUAL
        and is_left.lhs is left
        and constant_number(is_left.rhs) == 0
    )


def _tell_signs(conditions: Sequence[SSAValue], left: SSAValue, by: SSAValue) -> bool:
    """Whether one condition says that `left` is negative, and the other that `by` is.

    Of a divisor that is a positive number cuTile says `false`.
    """
    told = {_negative(one) for one in conditions}
    is_positive = (constant_number(by) or 0) > 0
    return told == {left, by} or (
        is_positive and told == {left, None} and 0 in map(constant_number, conditions)
    )


def _negative(condition: SSAValue) -> SSAValue | None:
    """Return the value that a condition says to be negative."""
    op = condition.owner
    if not isinstance(op, CmpIOp) or op.signedness.data is not Signedness.SIGNED:
        return None
    is_less = op.comparison_predicate.data is ComparisonPredicate.LESS_THAN
    return op.lhs if is_less and constant_number(op.rhs) == 0 else None
