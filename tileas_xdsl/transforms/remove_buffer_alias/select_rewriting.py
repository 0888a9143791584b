"""Move a select of two views with the same geometry in front of the view."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter

from tileas_xdsl.analysis.memory.buffer_aliases import AliasView
from tileas_xdsl.analysis.values.loop_carried_values import Carried
from tileas_xdsl.transforms.remove_buffer_alias.alias_plan import Plan


def movable_selects(plan: Plan) -> Sequence[Carried]:
    """The selections that stay and whose arms show one allocation in one way, numbers aside."""
    return [merge for merge in plan.aliases.merges if _can_move(merge, plan)]


def move_selects(plan: Plan) -> None:
    """Move selections behind the windows that they choose from."""
    for merge in movable_selects(plan):
        _move(merge.op)


def _can_move(merge: Carried, plan: Plan) -> bool:
    op = merge.op
    if not isinstance(op, arith.SelectOp) or plan.aliases.allocation_of(op.result) is None:
        return False
    one, other = _window(op.lhs), _window(op.rhs)
    if one is None or other is None:
        return False
    return (
        type(one) is type(other)
        and one.properties == other.properties
        and one.attributes == other.attributes
        and tuple(one.operand_types) == tuple(other.operand_types)
    )


def _window(value: SSAValue) -> Operation | None:
    return value.op if isinstance(value, OpResult) and isinstance(value.op, AliasView) else None


def _move(op: Operation) -> None:
    assert isinstance(op, arith.SelectOp)
    one, other = _window(op.lhs), _window(op.rhs)
    assert one is not None
    assert other is not None
    window = one.clone()
    window.operands = [
        _selected(op, a, b) for a, b in zip(one.operands, other.operands, strict=True)
    ]
    window.location = op.location
    window.results[0].name_hint = op.result.name_hint
    Rewriter.replace_op(op, window)
    for arm in dict.fromkeys((one, other)):
        if not any(result.first_use for result in arm.results):
            Rewriter.erase_op(arm)


def _selected(op: arith.SelectOp, one: SSAValue, other: SSAValue) -> SSAValue:
    if one is other:
        return one
    select = arith.SelectOp(op.cond, one, other)
    select.location = op.location
    assert op.parent is not None
    op.parent.insert_ops_before([select], op)
    return select.result
