"""Scaled scores: their maximum is that of unscaled ones, multiplied by the scale.

    %t = mulf %s, 0.3                            %r = reduce max of %s
    %r = reduce max of %t                  ->    %m = mulf %r, 0.3        // for each row
    %x = subf %t, %r                             %x = subf (mulf %s, 0.3), %m

The maximum is what products wait for, and rows are fewer than elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import frexp, inf

from xdsl.builder import Builder
from xdsl.dialects import arith, math, tensor
from xdsl.dialects.builtin import FloatAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.float_ranges import FloatRanges
from tileas_xdsl.analysis.values.rows.row_sums import rows_of
from tileas_xdsl.analysis.values.rows.row_weights import Difference
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import uniform_constant
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import float_mode
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp


@dataclass(frozen=True)
class Scale:
    """A positive number, or the multiple of one that is known at run time."""

    number: float = 1.0
    scalar: SSAValue | None = None

    def times(self, number: float) -> Scale:
        """A multiple."""
        return Scale(self.number * number, self.scalar)

    def tile(self, builder: Builder, like: SSAValue) -> SSAValue:
        """A tile of it, of the type of another one."""
        type_ = SSAValue.get(like, type=TensorType[Attribute]).type
        if self.scalar is None:
            return constant(builder, self.number, type_)
        scalar = self.scalar
        if self.number != 1:
            number = constant(builder, self.number, scalar.type)
            scalar = builder.insert(arith.MulfOp(scalar, number)).result
        return builder.insert(tensor.SplatOp(scalar, [], type_)).result


ONE = Scale()


@dataclass(frozen=True)
class Scaled:
    """A tile that is a positive multiple of another one."""

    elements: SSAValue
    factor: SSAValue | None
    """A tile of the scale, if it is not 1."""
    scale: Scale

    @staticmethod
    def of(tile: SSAValue) -> Scaled | None:
        """Read products with a number, and sums with zeros, as a mask that is added may be."""
        match tile.owner:
            case arith.MulfOp() as op:
                (elements, factor), zero = _number_last(op.lhs, op.rhs), None
            case math.FmaOp() as op:
                (elements, factor), zero = _number_last(op.a, op.b), op.c
            case arith.AddfOp() as op:
                (elements, zero), factor = _number_last(op.lhs, op.rhs), None
            case _:
                return None
        scale = ONE if factor is None else _scale(factor)
        is_sum = zero is None or _number(zero) == 0
        if scale is None or not is_sum or not float_mode(op).exact:
            return None
        return Scaled(elements, factor, scale)


def _number_last(one: SSAValue, other: SSAValue) -> tuple[SSAValue, SSAValue]:
    is_last = _number(other) is not None or isinstance(other.owner, tensor.SplatOp)
    return (one, other) if is_last else (other, one)


def _scale(tile: SSAValue) -> Scale | None:
    """Return the positive number that a tile is full of."""
    number, made = _number(tile), tile.owner
    if number is not None:
        return Scale(number) if 0 < number < inf else None
    is_positive = isinstance(made, tensor.SplatOp) and FloatRanges().of(tile).low > 0
    return Scale(scalar=made.input) if isinstance(made, tensor.SplatOp) and is_positive else None


def _number(tile: SSAValue) -> float | None:
    """Return the number that all elements of a tile are, or all that it repeats."""
    rows = rows_of(tile)
    constant_ = uniform_constant(tile if rows is None else rows[0])
    return constant_.value.data if isinstance(constant_, FloatAttr) else None


def with_scale(difference: Difference) -> SSAValue:
    """Return a difference whose maximum is that of unscaled elements, multiplied by their scale.

    Rounding keeps the order of numbers, so that a positive scale gives the same maximum; which zero
    it is no power shows.
    """
    minus, scaled = difference.value.owner, Scaled.of(difference.tile)
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


def _difference(scaled: Scaled, of_rows: SSAValue) -> Sequence[Operation]:
    """Subtract numbers of rows from scaled elements.

    Products with a power of two are exact, but for subnormal ones, whose rounding no power shows: a
    fused difference rounds as two operations do.
    """
    elements, factor = scaled.elements, scaled.factor
    if factor is None:
        return [arith.SubfOp(elements, of_rows)]
    if scaled.scale.scalar is None and _is_power_of_two(scaled.scale.number):
        negated = arith.NegfOp(of_rows)
        return [negated, math.FmaOp(elements, factor, negated)]
    product = arith.MulfOp(elements, factor)
    return [product, arith.SubfOp(product, of_rows)]


def _scale_maximum(maximum: ReduceOp, scaled: Scaled) -> None:
    """Multiply the maxima of rows in place of their elements."""
    maximum.operands[0] = scaled.elements
    if scaled.factor is None:
        return
    read, builder = list(maximum.result.uses), Builder(InsertPoint.after(maximum))
    factor = scaled.scale.tile(builder, maximum.result)
    product = builder.insert(arith.MulfOp(maximum.result, factor)).result
    for use in read:
        use.operation.operands[use.index] = product


def _is_power_of_two(number: float) -> bool:
    """Whether products with a number are exact, and no larger than what it multiplies."""
    return 0 < number <= 1 and frexp(number)[0] == frexp(1.0)[0]
