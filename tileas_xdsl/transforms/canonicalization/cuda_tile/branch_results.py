"""Results of branches that nothing needs, that do not depend on the side, or that are selections.

%r:3 = if %p -> (tile<i32>, tile<i32>, tile<i32>) {
  yield %a, %a, %b
} else {
  %s = addi %a, %b
  yield %b, %a, %s
}
// becomes, for %r#0 and %r#1
select %p, %a, %b
%a
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import Float4E2M1FNType, i1
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tileas_xdsl.dialects.cuda_tile.structure.control import IfOp, YieldOp
from tileas_xdsl.dialects.cuda_tile.tiles.constants import ConstantOp
from tileas_xdsl.dialects.cuda_tile.tiles.shapes import BroadcastOp, ReshapeOp, SelectOp
from tileas_xdsl.dialects.cuda_tile.types.tile_types import TileType
from tileas_xdsl.transforms.canonicalization.cuda_tile.branches import branch


class ResultsFromOutside(RewritePattern):
    """Results that are known without the operations of either side."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IfOp, rewriter: PatternRewriter) -> None:
        ends = _yields(op)
        if not ends:
            return
        kept = list[int]()
        replaced = list[SSAValue | None]()
        for index, result in enumerate(op.results):
            values = [end.values[index] for end in ends]
            if result.first_use is None:
                replaced.append(None)
            elif (found := _outer_value(op, values, rewriter)) is not None:
                replaced.append(found)
            else:
                kept.append(index)
                replaced.append(result)
        if len(kept) == len(op.results):
            return
        for end in ends:
            values = [end.values[index] for index in kept]
            rewriter.replace(end, YieldOp(operands=[values]))
        made = branch(
            op.condition,
            [op.results[index] for index in kept],
            op.detach_region(0),
            op.detach_region(0),
        )
        rewriter.insert(made)
        for index, result in zip(kept, made.results, strict=True):
            replaced[index] = result
        rewriter.replace(op, [], replaced)


def _yields(op: IfOp) -> Sequence[YieldOp]:
    """What ends the sides behind which the branch goes on."""
    ends = [region.block.last_op for region in op.regions if region.blocks]
    return [end for end in ends if isinstance(end, YieldOp)]


def _outer_value(
    op: IfOp, values: Sequence[SSAValue], rewriter: PatternRewriter
) -> SSAValue | None:
    """The value in front of the branch of a result for which the sides yield `values`."""
    is_same = all(value is values[0] for value in values)
    if not all(_is_outside(op, value) for value in values):
        return None
    if not is_same and not _is_selectable(values[0]):
        return None
    for value in values:
        _move_out(op, value, rewriter)
    return values[0] if is_same else _selected(op, values, rewriter)


def _is_outside(op: IfOp, value: SSAValue) -> bool:
    """Whether a value is there in front of the branch, or is a constant, which can be."""
    owner = value.owner
    return isinstance(owner, ConstantOp) or not op.is_ancestor(owner)


def _is_selectable(value: SSAValue) -> bool:
    return isinstance(value.type, TileType) and not isinstance(
        value.type.element_type, Float4E2M1FNType
    )


def _move_out(op: IfOp, value: SSAValue, rewriter: PatternRewriter) -> None:
    owner = value.owner
    if isinstance(owner, ConstantOp) and op.is_ancestor(owner):
        owner.detach()
        rewriter.insert(owner, InsertPoint.before(op))


def _selected(op: IfOp, values: Sequence[SSAValue], rewriter: PatternRewriter) -> SSAValue:
    """A selection by the condition, which gets the shape of the values."""
    type_ = values[0].type
    assert isinstance(type_, TileType)
    condition = op.condition
    shape = type_.get_shape()
    if shape:
        ones = ReshapeOp(operands=[condition], result_types=[TileType((1,) * len(shape), i1)])
        whole = BroadcastOp(operands=[ones.result], result_types=[TileType(shape, i1)])
        rewriter.insert([ones, whole])
        condition = whole.result
    made = SelectOp(operands=[condition, *values], result_types=[type_])
    rewriter.insert(made)
    return made.result
