"""Loops carry maxima of scores that are not scaled; differences are.

    scf.for carrying %m from -inf {              scf.for carrying %u from -inf {
      %s = dot %q, %k, zero                        %s = dot %q, %k, zero
      %t = mulf %s, 0.3                            %v = max(%u, reduce max of %s)
      %n = max(%m, reduce max of %t)      ->       %p = exp2((%s - %v) * 0.3 log2(e))
      %p = exp(%t - %n)                            %f = exp2((%u - %v) * 0.3 log2(e))
      %f = exp(%m - %n)                            ...
      ...                                        }
    }                                            %m = mulf %u, 0.3

A product for each score less, before the maximum or behind it.  The argument of a power is nearer
to that of exact numbers: what the program rounds are its two sides, by 2**-24 of each.  That is a
score that is one unit off, and a sum of products is several.  Scales below 1 make no number
infinite.

The loop behind it, over masked scores, begins with %u; one that begins with a number of its own
(the score of a sink) with that number divided by the scale.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint

from tileas_xdsl.analysis.values.rows.row_sums import plain, readers
from tileas_xdsl.analysis.values.rows.row_weights import (
    CarriedRows,
    Difference,
    Power,
    SummedWeights,
)
from tileas_xdsl.dialects.ir_queries import uniform_constant
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import float_mode
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.transforms.relax_weights.masked_scores import (
    Masked,
    scale_behind_masks,
    unscaled,
)
from tileas_xdsl.transforms.relax_weights.scaled_scores import ONE, Scale, Scaled

LEAST_SCALE = 2.0**-32
"""Numbers of a program are divided by scales down to it."""


def carry_unscaled(weights: SummedWeights) -> Scale:
    """Let a loop carry maxima of unscaled scores, if it can; return the scale that is left out."""
    found, difference = weights.carried, Difference.of(weights.power)
    factor = weights.relaxed_factor()
    if found is None or difference is None or factor is None:
        return ONE
    scaled = Scaled.of(scale_behind_masks(difference.tile))
    difference = Difference.of(weights.power)
    assert difference is not None, "its tile is a product now, and no other one"
    if scaled is None or scaled.factor is None or not _are_scores(scaled.elements):
        return ONE
    if scaled.scale.scalar is None and scaled.scale.number > 1:
        return ONE
    minus, maximum = difference.value.owner, _maximum(difference)
    if maximum is None or not isinstance(minus, arith.SubfOp) or not float_mode(minus).exact:
        return ONE
    if not _reads_differences(found, difference, factor):
        return ONE
    if (begin := _unscaled_rows(found.first[1], scaled.scale, found.loop)) is None:
        return ONE
    found.loop.operands[3 + found.most] = begin
    maximum.operands[0] = minus.operands[0] = scaled.elements
    _scale_behind(found, scaled.scale)
    return scaled.scale


def _are_scores(tile: SSAValue) -> bool:
    """Whether a tile is a product, or one that is masked."""
    masked = Masked.of(tile)
    return isinstance(plain(tile).owner, DotOp) if masked is None else _are_scores(masked.tile)


def _maximum(difference: Difference) -> ReduceOp | None:
    """Return the reduction that, with the difference, is all that reads scaled scores."""
    read = [use.operation for use in difference.tile.uses]
    maxima = [op for op in read if isinstance(op, ReduceOp)]
    is_all = len(read) == 2 and difference.value.owner in read
    return maxima[0] if is_all and len(maxima) == 1 else None


def _unscaled_rows(rows: SSAValue, scale: Scale, loop: scf.ForOp) -> SSAValue | None:
    """Return what a scale multiplies to the numbers that a loop begins with."""
    builder = Builder(InsertPoint.before(loop))
    if isinstance(number := uniform_constant(rows), FloatAttr):
        least = unscaled(number.value.data, scale)
        return None if least is None else constant(builder, least, rows.type)
    scaled = Scaled.of(rows)
    if scaled is not None and scaled.factor is not None and scaled.scale == scale:
        return scaled.elements
    if scale.scalar is not None or scale.number < LEAST_SCALE:
        return None
    return builder.insert(arith.DivfOp(rows, scale.tile(builder, rows))).result


def _reads_differences(carried: CarriedRows, difference: Difference, factor: Power) -> bool:
    """Whether a loop reads its maxima for the next ones and for the arguments of powers alone.

    What stands in the place of a maximum of -inf may be between.
    """
    faded = Difference.of(factor)
    assert faded is not None, "factors are powers of differences"
    before, behind = carried.loop.body.block.args[carried.most + 1], carried.next_most
    arguments = {faded.value.owner, difference.value.owner}
    between = _between(behind, (faded.of_rows, difference.of_rows))
    last = carried.loop.body.block.last_op
    return readers(before) == {behind.owner, faded.value.owner} and all(
        op is last or op in arguments or op.parent_op() in between
        for value in (behind, *(tile.result for tile in between))
        for op in readers(value)
    )


def _between(maxima: SSAValue, read: Sequence[SSAValue]) -> set[GenerateOp]:
    """Return the tiles that maxima become before they are subtracted."""
    pending, found = [plain(value) for value in read], set[GenerateOp]()
    while pending:
        made = pending.pop().owner
        if not isinstance(made, GenerateOp) or made in found or made is maxima.owner:
            continue
        found.add(made)
        pending += [
            plain(op.tensor) for op in made.body.block.ops if isinstance(op, tensor.ExtractOp)
        ]
    return found


def _scale_behind(carried: CarriedRows, scale: Scale) -> None:
    """Scale the maxima that a loop leaves."""
    result = carried.results[1]
    if not (read := list(result.uses)):
        return
    builder = Builder(InsertPoint.after(carried.loop))
    product = arith.MulfOp(result, scale.tile(builder, result))
    builder.insert(product)
    for use in read:
        use.operation.operands[use.index] = product.result
