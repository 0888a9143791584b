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
"""

from __future__ import annotations

from math import frexp, inf

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, ModuleOp, UnitAttr, f32
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.row_weights import Difference, Power, RowWeights
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import uniform_constant
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import FLUSH, float_mode
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of

LOG2_E = 1.4426950408889634


@dataclass(frozen=True)
class TileasRelaxWeights(ModulePass):
    """Take weights of rows from the instruction, for powers of two, that flushes small results.

    Needs: kernels of tiles, whose element-wise operations are not fused yet.

    Leaves: powers of differences from the maximum of a row, of f32, that only sums of 1 or more and
    roundings to 16 bits or less read (`analysis/values/row_weights.py`), as `exp2` with
    `nv_tileas.ftz`; constants that the argument is multiplied by are one.

    Idempotent; it has no diagnostics and never stops a pipeline.
    """

    name = "tileas-relax-weights"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for power in list(RowWeights().found(op)):
            mode = float_mode(power)
            if element_of(power.result.type) == f32 and not (mode.ftz or mode.approximate):
                _relax(power)


def _relax(power: Power) -> None:
    """Let an instruction compute a power."""
    difference = Difference.of(power)
    assert difference is not None, "weights are powers of differences"
    value, relaxed = _with_scale(difference), power
    if isinstance(power, math.ExpOp):
        builder = Builder(InsertPoint.before(power))
        factor = constant(builder, LOG2_E * difference.factor, power.result.type)
        relaxed = math.Exp2Op(builder.insert(arith.MulfOp(value, factor)))
        Rewriter.replace_op(power, relaxed)
    relaxed.attributes[FLUSH] = UnitAttr()


def _with_scale(difference: Difference) -> SSAValue:
    """Return a difference whose maximum is that of unscaled elements, multiplied by their scale.

    Rounding keeps the order of numbers, so that a positive scale gives the same maximum.  Products
    with a power of two are exact, but for subnormal ones, whose rounding no power shows: a fused
    difference rounds as two operations do.
    """
    product, minus = difference.tile.owner, difference.value.owner
    if not isinstance(product, arith.MulfOp) or not isinstance(minus, arith.SubfOp):
        return difference.value
    if not (float_mode(product).exact and float_mode(minus).exact):
        return difference.value
    scale = uniform_constant(product.rhs)
    readers = [use.operation for use in product.result.uses]
    maxima = [op for op in readers if isinstance(op, ReduceOp)]
    if not isinstance(scale, FloatAttr) or not 0 < scale.value.data < inf:
        return difference.value
    if len(readers) != 2 or len(maxima) != 1 or minus not in readers:
        return difference.value
    _scale_maximum(maxima[0], product.lhs, scale.value.data)
    if not _is_power_of_two(scale.value.data):
        product.detach()
        Rewriter.insert_op(product, InsertPoint.before(minus))
        return difference.value
    negated = arith.NegfOp(minus.rhs)
    fused = math.FmaOp(product.lhs, product.rhs, negated)
    Rewriter.replace_op(minus, [negated, fused])
    return fused.result


def _scale_maximum(maximum: ReduceOp, elements: SSAValue, scale: float) -> None:
    """Multiply the maxima of rows in place of their elements."""
    read, builder = list(maximum.result.uses), Builder(InsertPoint.after(maximum))
    factor = constant(builder, scale, maximum.result.type)
    scaled = builder.insert(arith.MulfOp(maximum.result, factor)).result
    for use in read:
        use.operation.operands[use.index] = scaled
    maximum.operands[0] = elements


def _is_power_of_two(number: float) -> bool:
    """Whether products with a number are exact, and no larger than what it multiplies."""
    return 0 < number <= 1 and frexp(number)[0] == frexp(1.0)[0]
