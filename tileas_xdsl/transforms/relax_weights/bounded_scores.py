"""Scores that a hyperbolic tangent bounds: weights show its absolute error, near zero as near 1.

    %d = divf (mulf %s, 0.09), 50.0              %e = exp2 (mulf %s, 0.09 / 50 * 2 log2(e)) {ftz}
    %t = math.tanh %d                     ->     %i = divf 1.0, (fma %e, 0.5, 0.5) {approx, ftz}
    %b = mulf %t, 50.0                           %b = fma %i, -50.0, 50.0
    %p = exp(%b - %m)                            %p = exp(%b - %m)

The accurate function has a polynomial for small arguments, whose results it rounds to their own
last place: fourteen instructions for each score, where four are enough.  By `ex2.approx` and
`rcp.approx`, as recorded on a GPU, `1 - 2 / (exp(2 x) + 1)` is within 4 * 2**-24 of tanh(x) for all
x, and a weight, relative to itself, within the bound times that: 0.007 of half a last place of bf16
for 50.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import e, log2

from xdsl.builder import Builder
from xdsl.dialects import arith, math, tensor
from xdsl.dialects.builtin import FloatAttr, StringAttr, UnitAttr, f32
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.float_ranges import MAXIMA, combiner_of
from tileas_xdsl.analysis.values.rows.row_sums import plain, readers
from tileas_xdsl.analysis.values.rows.row_weights import Difference, SummedWeights
from tileas_xdsl.dialects.ir_queries import uniform_constant
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import FLUSH, ROUNDING, float_mode
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of

LARGEST = 64.0
"""Weights of scores within it are 2**-16 off at most, which is 1/16 of half a last place of f16."""

LEAST_NUMBER, LARGEST_NUMBER = 2.0**-32, 2.0**32
"""Scores times numbers within them, one after another, overflow only where tanh is 1 anyway."""


def bound_by_powers(weights: SummedWeights) -> None:
    """Compute scores that products are weighted by, and a tangent bounds, by a power of two."""
    difference = Difference.of(weights.power)
    if difference is None or not weights.are_multiplied:
        return
    for bounded in list(_bounded(difference)):
        if (scaled := _by_number(bounded)) is None:
            continue
        tangent, factor = scaled
        if (
            isinstance(function := plain(tangent).owner, math.TanhOp)
            and 0 < abs(factor) * difference.factor <= LARGEST
            and readers(function.result) == {bounded.owner}
            and element_of(bounded.type) == f32
            and float_mode(function).exact
        ):
            _replace(bounded, function, factor)


def _bounded(difference: Difference) -> Iterator[SSAValue]:
    """Yield the products that masked scores are made of, if only weights and maxima read them."""
    pending: list[tuple[SSAValue, object]] = [(difference.tile, difference.value.owner)]
    while pending:
        value, reader = pending.pop()
        score = plain(value)
        made = score.owner
        if any(_tile_read_by(op) is not reader and not _is_maximum(op) for op in readers(score)):
            continue
        if isinstance(made, arith.MulfOp):
            yield score
        elif isinstance(made, arith.SelectOp):
            pending += [(made.lhs, made), (made.rhs, made)]
        elif isinstance(made, GenerateOp):
            pending += [(side, made) for side in _selected(made)]


def _tile_read_by(op: Operation) -> Operation | None:
    """The operation on tiles that reads one: around elements, `generate`."""
    return op.parent_op() if isinstance(op, tensor.ExtractOp) else op


def _selected(op: GenerateOp) -> Iterator[SSAValue]:
    """Yield the tiles whose elements a mask keeps: `select %mask[%i, %j], %tile[%i, %j], -inf`."""
    block = op.body.block
    last = block.last_op
    choice = None if last is None else last.operands[0].owner
    if not isinstance(choice, arith.SelectOp):
        return
    for side in (choice.lhs, choice.rhs):
        read, is_alone = side.owner, {use.operation for use in side.uses} == {choice}
        if isinstance(read, tensor.ExtractOp) and is_alone and [*read.indices] == [*block.args]:
            yield read.tensor


def _is_maximum(op: Operation) -> bool:
    return isinstance(op, ReduceOp) and isinstance(combiner_of(op), MAXIMA)


def _by_number(tile: SSAValue) -> tuple[SSAValue, float] | None:
    """Read a tile as a multiple of another one: a product with a number, or a quotient by it."""
    made = tile.owner
    if not isinstance(made, arith.MulfOp | arith.DivfOp) or not float_mode(made).exact:
        return None
    sides = [(made.lhs, made.rhs)]
    if isinstance(made, arith.MulfOp):
        sides.append((made.rhs, made.lhs))
    for elements, side in sides:
        number = uniform_constant(side)
        value = number.value.data if isinstance(number, FloatAttr) else 0.0
        if LEAST_NUMBER <= abs(value) <= LARGEST_NUMBER:
            return elements, value if isinstance(made, arith.MulfOp) else 1 / value
    return None


def _replace(bounded: SSAValue, function: math.TanhOp, factor: float) -> None:
    """Replace `factor * tanh(argument)`; a NaN stays one, and an infinite power gives the bound."""
    elements, scale = function.operand, 2 * log2(e)
    while (scaled := _by_number(elements)) is not None:
        elements, scale = scaled[0], scale * scaled[1]
    made = bounded.owner
    assert isinstance(made, Operation)
    builder = Builder(InsertPoint.before(made))
    half, one, bound, minus, multiple = (
        constant(builder, number, bounded.type) for number in (0.5, 1.0, factor, -factor, scale)
    )
    power = math.Exp2Op(builder.insert(arith.MulfOp(elements, multiple)))
    power.attributes[FLUSH] = UnitAttr()
    sum_ = builder.insert(math.FmaOp(builder.insert(power).result, half, half))
    inverse = arith.DivfOp(one, sum_)
    inverse.attributes.update({ROUNDING: StringAttr("approx"), FLUSH: UnitAttr()})
    Rewriter.replace_op(made, math.FmaOp(builder.insert(inverse).result, minus, bound))
    if not function.result.uses:
        Rewriter.erase_op(function)
