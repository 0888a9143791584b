"""Two loops, one just inside the other, become one.

for %i in 0..%n step 1 {                   for %k in 0..%n * 4 step 1 {
  for %j in 8..16 step 2 { f(%i, %j) }  ->   f(%k / 4, 8 + 2 * (%k % 4))
}                                          }
"""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FixedBitwidthType, IndexType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.nv_tileas.builders.arith import (
    add,
    ceil_div,
    constant,
    div,
    maximum,
    mul,
    rem,
    sub,
)


@dataclass(frozen=True)
class _Range:
    """The range of a loop; `trips` is None where its end is not known."""

    first: int
    step: int
    trips: int | None


class CoalesceNestedLoops(RewritePattern):
    """A loop that holds nothing but a loop with constant bounds becomes one loop over the product.

    Loops that carry values, a pipeline iterator for one, and loops with attributes stay.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ForOp, rewriter: PatternRewriter) -> None:
        inner = _only_inner_loop(op)
        if inner is None or inner.attributes or op.attributes:
            return
        if _only_inner_loop(inner) is not None:
            return  # the innermost pair first: what is left is perfectly nested again
        outer_range, inner_range = _range(op), _range(inner)
        if outer_range is None or inner_range is None or not inner_range.trips:
            return
        if not _product_fits(op.lb.type, outer_range, inner_range.trips):
            return
        _coalesce(op, inner, outer_range, inner_range, rewriter)


def _only_inner_loop(op: scf.ForOp) -> scf.ForOp | None:
    """The loop that is all that `op` does, constants and its terminator aside."""
    inner = [child for child in op.body.block.ops if not isinstance(child, arith.ConstantOp)]
    if len(inner) != 2 or not isinstance(inner[0], scf.ForOp) or op.iter_args:
        return None
    if inner[0].iter_args or inner[0].lb.type != op.lb.type:
        return None
    return inner[0]


def _range(op: scf.ForOp) -> _Range | None:
    first, step, end = constant_integer(op.lb), constant_integer(op.step), constant_integer(op.ub)
    if first is None or step is None or step < 1:
        return None
    if end is None:
        return _Range(first, step, None) if first >= 0 else None
    return _Range(first, step, max(0, -((first - end) // step)))


def _product_fits(type_: Attribute, outer: _Range, inner_trips: int) -> bool:
    """Whether the induction variable can count all iterations.

    A loop over `index` with an end that is not known counts to less than 2**63 in any life.
    """
    if outer.trips is None:
        return isinstance(type_, IndexType)
    bits = type_.bitwidth if isinstance(type_, FixedBitwidthType) else 64
    return outer.trips * inner_trips < 1 << (bits - 1)


def _coalesce(
    op: scf.ForOp, inner: scf.ForOp, outer: _Range, within: _Range, rewriter: PatternRewriter
) -> None:
    type_, trip_count = op.lb.type, within.trips
    assert trip_count is not None
    for child in list(op.body.block.ops):
        if isinstance(child, arith.ConstantOp):
            child.detach()
            rewriter.insert(child, InsertPoint.before(op))
    body = Block(arg_types=[type_])
    _compute_variables(op, inner, (outer, within), body, rewriter)
    new = scf.ForOp(
        constant(rewriter, 0, type_),
        _all_trips(rewriter, op, outer, trip_count),
        constant(rewriter, 1, type_),
        [],
        Region(body),
    )
    rewriter.replace(op, new, [])


def _compute_variables(
    op: scf.ForOp,
    inner: scf.ForOp,
    ranges: tuple[_Range, _Range],
    body: Block,
    rewriter: PatternRewriter,
) -> None:
    """Move the inner body to `body`, with the induction variables by division and remainder."""
    outer, within = ranges
    builder = Builder(InsertPoint.at_end(body))
    counter = body.args[0]
    trip_count = constant(builder, within.trips or 0, counter.type)
    variables = (
        _variable(builder, div(builder, counter, trip_count), outer),
        _variable(builder, rem(builder, counter, trip_count), within),
    )
    for variable, loop in zip(variables, (op, inner), strict=True):
        variable.name_hint = loop.body.block.args[0].name_hint
    rewriter.replace_all_uses_with(op.body.block.args[0], variables[0])
    rewriter.inline_block(inner.body.block, InsertPoint.at_end(body), [variables[1]])


def _variable(builder: Builder, position: SSAValue, range_: _Range) -> SSAValue:
    if range_.step != 1:
        position = mul(builder, position, constant(builder, range_.step, position.type))
    if range_.first != 0:
        position = add(builder, position, constant(builder, range_.first, position.type))
    return position


def _all_trips(builder: Builder, op: scf.ForOp, outer: _Range, inner_trips: int) -> SSAValue:
    """How often the body of the inner loop runs."""
    type_ = op.lb.type
    if outer.trips is not None:
        return constant(builder, outer.trips * inner_trips, type_)
    end = maximum(builder, op.ub, op.lb)
    trips = ceil_div(builder, sub(builder, end, op.lb), op.step)
    return mul(builder, trips, constant(builder, inner_trips, type_))
