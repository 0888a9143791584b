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
from math import frexp, inf

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, math, tensor
from xdsl.dialects.builtin import FloatAttr, ModuleOp, UnitAttr, f32
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.row_sums import readers, rows_of, without_layout
from tileas_xdsl.analysis.values.row_weights import Difference, Power, RowWeights, shares_of
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import uniform_constant
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import FLUSH, float_mode
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of

LOG2_E = 1.4426950408889634


@dataclass(frozen=True)
class TileasRelaxWeights(ModulePass):
    """Take weights of rows from the instruction, for powers of two, that flushes small results.

    Needs: kernels of tiles, whose element-wise operations are not fused yet.

    Leaves: powers of differences from the maximum of a row, of f32, that only sums of 1 or more and
    roundings to 16 bits or less read, or shares of the sum that are rounded so
    (`analysis/values/row_weights.py`), as `exp2` with `nv_tileas.ftz`; constants that the argument
    is multiplied by are one, and shares are products with the inverse of the sum.

    Idempotent; it has no diagnostics and never stops a pipeline.
    """

    name = "tileas-relax-weights"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for power in list(RowWeights().found(op)):
            mode = float_mode(power)
            if element_of(power.result.type) == f32 and not (mode.ftz or mode.approximate):
                for share in _shares(power):
                    _multiply_by_inverse(share)
                _relax(power)


def _shares(power: Power) -> Sequence[arith.DivfOp]:
    """Return the quotients of weights and their sum, which are rounded to few bits."""
    sums = [op for op in readers(power.result) if isinstance(op, ReduceOp)]
    return [share for op in sums for share in shares_of(power, op) if float_mode(share).exact]


def _multiply_by_inverse(share: arith.DivfOp) -> None:
    """Divide 1 by the sum of a row, once, in place of each of its weights by it."""
    repeated = without_layout(share.rhs).owner
    assert isinstance(repeated, GenerateOp), "sums of rows are repeated along them"
    inverse = repeated.clone()
    last = inverse.body.block.last_op
    read = None if last is None else last.operands[0].owner
    assert isinstance(read, tensor.ExtractOp), "sums of rows are read as they are"
    builder = Builder(InsertPoint.before(share))
    one = constant(builder, 1.0, read.tensor.type)
    read.operands[0] = builder.insert(arith.DivfOp(one, read.tensor)).result
    builder.insert(inverse)
    Rewriter.replace_op(share, arith.MulfOp(share.lhs, inverse.result))


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


@dataclass(frozen=True)
class _Scaled:
    """A tile that is a positive multiple of another one."""

    elements: SSAValue
    factor: SSAValue | None
    """A tile of the scale, if it is not 1."""
    scale: float

    @staticmethod
    def of(tile: SSAValue) -> _Scaled | None:
        """Read products with a constant, and sums with zeros, as a mask that is added may be."""
        match tile.owner:
            case arith.MulfOp() as op:
                (elements, factor), zero = _constant_last(op.lhs, op.rhs), None
            case math.FmaOp() as op:
                (elements, factor), zero = _constant_last(op.a, op.b), op.c
            case arith.AddfOp() as op:
                (elements, zero), factor = _constant_last(op.lhs, op.rhs), None
            case _:
                return None
        scale = 1.0 if factor is None else _number(factor)
        is_sum = zero is None or _number(zero) == 0
        if scale is None or not 0 < scale < inf or not is_sum or not float_mode(op).exact:
            return None
        return _Scaled(elements, factor, scale)


def _constant_last(one: SSAValue, other: SSAValue) -> tuple[SSAValue, SSAValue]:
    return (other, one) if _number(other) is None else (one, other)


def _number(tile: SSAValue) -> float | None:
    """Return the number that all elements of a tile are, or all that it repeats."""
    rows = rows_of(tile)
    constant_ = uniform_constant(tile if rows is None else rows[0])
    return constant_.value.data if isinstance(constant_, FloatAttr) else None


def _with_scale(difference: Difference) -> SSAValue:
    """Return a difference whose maximum is that of unscaled elements, multiplied by their scale.

    Rounding keeps the order of numbers, so that a positive scale gives the same maximum; which zero
    it is no power shows.
    """
    minus, scaled = difference.value.owner, _Scaled.of(difference.tile)
    if scaled is None or not isinstance(minus, arith.SubfOp) or not float_mode(minus).exact:
        return difference.value
    readers = [use.operation for use in difference.tile.uses]
    maxima = [op for op in readers if isinstance(op, ReduceOp)]
    if len(readers) != 2 or len(maxima) != 1 or minus not in readers:
        return difference.value
    _scale_maximum(maxima[0], scaled)
    made = _difference(scaled, minus.rhs)
    Rewriter.replace_op(minus, made)
    return made[-1].results[0]


def _difference(scaled: _Scaled, of_rows: SSAValue) -> Sequence[Operation]:
    """Subtract numbers of rows from scaled elements.

    Products with a power of two are exact, but for subnormal ones, whose rounding no power shows: a
    fused difference rounds as two operations do.
    """
    elements, factor = scaled.elements, scaled.factor
    if factor is None:
        return [arith.SubfOp(elements, of_rows)]
    if _is_power_of_two(scaled.scale):
        negated = arith.NegfOp(of_rows)
        return [negated, math.FmaOp(elements, factor, negated)]
    product = arith.MulfOp(elements, factor)
    return [product, arith.SubfOp(product, of_rows)]


def _scale_maximum(maximum: ReduceOp, scaled: _Scaled) -> None:
    """Multiply the maxima of rows in place of their elements."""
    maximum.operands[0] = scaled.elements
    if scaled.factor is None:
        return
    read, builder = list(maximum.result.uses), Builder(InsertPoint.after(maximum))
    factor = constant(builder, scaled.scale, maximum.result.type)
    product = builder.insert(arith.MulfOp(maximum.result, factor)).result
    for use in read:
        use.operation.operands[use.index] = product


def _is_power_of_two(number: float) -> bool:
    """Whether products with a number are exact, and no larger than what it multiplies."""
    return 0 < number <= 1 and frexp(number)[0] == frexp(1.0)[0]
