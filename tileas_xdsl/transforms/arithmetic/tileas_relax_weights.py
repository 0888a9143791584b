"""The pass `tileas-relax-weights`: weights of rows are as exact as their sums and roundings show.

    %x = subf %s, %m : 128x128xf32            // %m: the maximum of each row so far
    %p = math.exp %x                    ->    %y = mulf %x, 1.442695    %p = math.exp2 %y {ftz}
    %l = reduce add of %p
    %q = truncf %p : f16

The accurate exponential keeps `x log2(e)` in two numbers and rounds subnormal results, which takes
seven instructions beside `ex2`.  One is enough for what is seen of weights: without the others a
weight is `|x| 2**-24` off, and zero below 2**-126.  Of `q`, where |x| is 104 at most, that is
0.0007 of the last place more than rounding.  Of a sum of n weights it is 2**-24 times the mean of
|x| by weights, which is their entropy less the logarithm of the sum: ln(n) at most, as the sum is 1
or more; adding them up may round as much.

    %d = divf %p, %l             ->    %i = divf 1.0, %l   %d = mulf %p, %i
    %q = truncf %d : f16

Shares of the sum that are rounded are weights, too; with the inverse of a sum, for each row, they
are 2**-24 further off than quotients.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, math, tensor
from xdsl.dialects.builtin import ModuleOp, UnitAttr, f32
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.rows.row_sums import ScaledSum, readers, without_layout
from tileas_xdsl.analysis.values.rows.row_weights import Difference, Power, RowWeights, shares_of
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import FLUSH, float_mode
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.compute.weights import mark_weight
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of
from tileas_xdsl.transforms.relax_weights.bounded_scores import bound_by_powers
from tileas_xdsl.transforms.relax_weights.positive_scales import make_positive
from tileas_xdsl.transforms.relax_weights.scaled_scores import ONE, Scale, with_scale
from tileas_xdsl.transforms.relax_weights.unscaled_maxima import carry_unscaled

LOG2_E = 1.4426950408889634


@dataclass(frozen=True)
class TileasRelaxWeights(ModulePass):
    """Take weights of rows from the instruction, for powers of two, that flushes small results.

    Needs: kernels of tiles, whose element-wise operations are not fused yet.

    Leaves: powers of differences from the maximum of a row, of f32, that only sums of 1 or more and
    roundings to 16 bits or less read, or shares of the sum that are rounded so
    (`values/rows/row_weights.py`), as `exp2` with `nv_tileas.ftz`; constants that the argument
    is multiplied by are one, and shares are products with the inverse of the sum.

    Idempotent; it has no diagnostics and never stops a pipeline.
    """

    name = "tileas-relax-weights"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for weights in list(RowWeights().found(op)):
            for quotient in weights.quotients:
                if float_mode(quotient).exact:
                    _multiply_by_inverse(quotient)
            make_positive(weights)
            bound_by_powers(weights)
            for total, product in weights.late_products():
                _accumulate(total, product)
            scale, are_multiplied = carry_unscaled(weights), weights.are_multiplied
            for power in (weights.relaxed_factor(), weights.power):
                if power is not None and (_is_accurate(power) or scale != ONE):
                    for share in _shares(power):
                        _multiply_by_inverse(share)
                    relaxed = _relax(power, scale)
                    if power is weights.power and are_multiplied:
                        mark_weight(relaxed)


def _is_accurate(power: Power) -> bool:
    """Whether a program does not leave a power to the instruction itself."""
    mode = float_mode(power)
    return element_of(power.result.type) == f32 and not (mode.ftz or mode.approximate)


def _accumulate(total: ScaledSum, product: DotOp) -> None:
    """Let a product begin with what it is added to."""
    left, right = total.product.operands[:2]
    scaled = arith.MulfOp(left, right)
    made = product.clone()
    made.operands[2] = scaled.result
    Rewriter.replace_op(total.op, [scaled, made])
    for op in dict.fromkeys((total.product, product)):
        if op is not total.op and op.parent is not None and not op.results[0].uses:
            Rewriter.erase_op(op)


def _shares(power: Power) -> Sequence[arith.DivfOp]:
    """Return the quotients of weights and their sum, which are rounded to few bits."""
    sums = [op for op in readers(power.result) if isinstance(op, ReduceOp)]
    return [share for op in sums for share in shares_of(power, op) if float_mode(share).exact]


def _multiply_by_inverse(share: arith.DivfOp) -> None:
    """Divide 1 by the sum of a row, once, in place of each of its weights by it."""
    repeated = without_layout(share.rhs).owner
    assert isinstance(repeated, GenerateOp | tensor.SplatOp), "sums of rows are repeated along them"
    inverse = repeated.clone()
    read = inverse if isinstance(inverse, tensor.SplatOp) else _read_by(inverse)
    builder = Builder(InsertPoint.before(share))
    one = constant(builder, 1.0, read.operands[0].type)
    read.operands[0] = builder.insert(arith.DivfOp(one, read.operands[0])).result
    builder.insert(inverse)
    Rewriter.replace_op(share, arith.MulfOp(share.lhs, inverse.result))


def _read_by(repeated: GenerateOp) -> tensor.ExtractOp:
    """Return what takes the numbers of rows that a tile repeats."""
    last = repeated.body.block.last_op
    read = None if last is None else last.operands[0].owner
    assert isinstance(read, tensor.ExtractOp), "sums of rows are read as they are"
    return read


def _relax(power: Power, scale: Scale) -> Power:
    """Let an instruction compute a power; its argument is multiplied by a scale, too."""
    difference = Difference.of(power)
    assert difference is not None, "weights are powers of differences"
    value, relaxed = with_scale(difference), power
    base = LOG2_E if isinstance(power, math.ExpOp) else 1.0
    if (factor := scale.times(base)) != ONE:
        builder = Builder(InsertPoint.before(power))
        factor = factor.times(difference.factor).tile(builder, power.result)
        relaxed = math.Exp2Op(builder.insert(arith.MulfOp(value, factor)))
        Rewriter.replace_op(power, relaxed)
    relaxed.attributes[FLUSH] = UnitAttr()
    return relaxed
