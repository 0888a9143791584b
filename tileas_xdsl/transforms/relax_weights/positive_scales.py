"""Scores by a scale of either sign are scores of queries that have the sign, by its magnitude.

    %s = dot %q, %k, zero                        %g = select (%c < 0), -1, 1
    %t = mulf %s, (splat %c)                     %r = mulf %q, (splat %g)              // once
                                          ->     %s = dot %r, %k, zero
                                                 %t = mulf %s, (splat (max |%c|, 2**-100))

A product with -1 is exact, and so is a sum of such products.  Where a scale is positive maxima can
be scaled in the place of scores.  By 2**-100 in place of less, weights are 1 as by it.
"""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.dialects import arith, math, scf, tensor
from xdsl.dialects.builtin import TensorType, bf16, f16
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.float_ranges import FloatRanges
from tileas_xdsl.analysis.values.rows.row_sums import plain, readers
from tileas_xdsl.analysis.values.rows.row_weights import Difference, SummedWeights
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import enclosing_ops
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import float_mode
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of

LEAST = 2.0**-100
"""Products with it are zero beside 1, whatever scores of products are."""


@dataclass(frozen=True)
class _Scores:
    """Products that are scaled by a number that is known at run time."""

    product: DotOp
    scaled: arith.MulfOp
    repeated: tensor.SplatOp

    @staticmethod
    def of(tile: SSAValue) -> _Scores | None:
        """Read a tile as scaled scores."""
        scaled = tile.owner
        if not isinstance(scaled, arith.MulfOp) or not float_mode(scaled).exact:
            return None
        for score, scale in (scaled.operands, scaled.operands[::-1]):
            product, repeated = plain(score).owner, scale.owner
            if isinstance(product, DotOp) and isinstance(repeated, tensor.SplatOp):
                is_alone = readers(product.result) == {scaled}
                return _Scores(product, scaled, repeated) if is_alone else None
        return None

    @property
    def scale(self) -> SSAValue:
        """The number."""
        return self.repeated.input


def make_positive(weights: SummedWeights) -> None:
    """Let queries have the sign of the scale of scores, which weights of a loop are made of."""
    difference = Difference.of(weights.power)
    found = None if difference is None else _Scores.of(difference.tile)
    if found is None or weights.carried is None or FloatRanges().of(found.scale).low > 0:
        return
    loop, queries = weights.carried.loop, _stored(found.product.a)
    alike = None if queries is None else _alike(queries, found.scale)
    if queries is None or alike is None or not _is_in_front(loop, queries, alike):
        return
    builder = Builder(InsertPoint.before(loop))
    signed = _signed(builder, queries, found.scale)
    for use in list(queries.uses):
        if use.operation is not signed.owner:
            use.operation.operands[use.index] = signed
    least = constant(builder, LEAST, found.scale.type)
    magnitude = arith.MaximumfOp(builder.insert(math.AbsFOp(found.scale)).result, least)
    builder.insert(magnitude)
    for one in alike:
        repeated = tensor.SplatOp(magnitude.result, [], one.repeated.result.type)
        Rewriter.insert_op(repeated, InsertPoint.before(one.scaled))
        _replace(one.scaled, one.repeated.result, repeated.result)


def _stored(operand: SSAValue) -> SSAValue | None:
    """Return the tile of 16-bit floats that is copied to shared memory for a product."""
    made = operand.owner
    if not isinstance(made, ConvertLayoutOp) or element_of(operand.type) not in (f16, bf16):
        return None
    return made.source


def _alike(queries: SSAValue, scale: SSAValue) -> list[_Scores] | None:
    """Return the products that queries are A of, if all are scaled by the same number."""
    found: list[_Scores] = []
    for product in readers(queries):
        scaled = readers(product.results[0]) if isinstance(product, DotOp) else set[Operation]()
        scores = _Scores.of(scaled.pop().results[0]) if len(scaled) == 1 else None
        if scores is None or scores.product is not product or scores.scale is not scale:
            return None
        if _stored(scores.product.a) is not queries:
            return None
        found.append(scores)
    return found


def _is_in_front(loop: scf.ForOp, queries: SSAValue, alike: list[_Scores]) -> bool:
    """Whether queries are of the block that a loop is in, and products in it and behind it."""
    block = loop.parent
    owner = queries.owner
    if (owner if isinstance(owner, Block) else owner.parent) is not block:
        return False
    outer = [
        next((op for op in enclosing_ops(one.product) if op.parent is block), None) for one in alike
    ]
    return all(op is loop or (op is not None and loop.is_before_in_block(op)) for op in outer)


def _signed(builder: Builder, queries: SSAValue, scale: SSAValue) -> SSAValue:
    """Multiply queries by the sign of a scale."""
    type_ = SSAValue.get(queries, type=TensorType[Attribute]).type
    zero = constant(builder, 0.0, scale.type)
    is_negative = builder.insert(arith.CmpfOp(scale, zero, "olt")).result
    minus, plus = (constant(builder, number, type_.element_type) for number in (-1.0, 1.0))
    sign = builder.insert(arith.SelectOp(is_negative, minus, plus)).result
    repeated = builder.insert(tensor.SplatOp(sign, [], type_)).result
    return builder.insert(arith.MulfOp(queries, repeated)).result


def _replace(op: Operation, old: SSAValue, new: SSAValue) -> None:
    for index, operand in enumerate(op.operands):
        if operand is old:
            op.operands[index] = new
