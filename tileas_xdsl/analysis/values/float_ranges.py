"""Interval analysis of floats, for tiles, fragments and scalars.

    %m = reduce max of %x                 [-inf, inf]
    %d = arith.subf %x, broadcast of %m   [-inf, 0]      no element exceeds the largest of its row
    %e = math.exp %d                      [0, 1]
    %s = reduce add of %e                 [0, inf]

A range holds for every element that is a number: any element may be NaN, too.  Values that a loop
carries are not negative if the first one is not and the body keeps that, by induction.
"""

from __future__ import annotations

import math as numbers
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import partial
from typing import Any, cast

from xdsl.dialects import arith, math, scf, tensor, vector
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    TensorType,
    VectorType,
    bf16,
    f16,
    f32,
    f64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import MakeFragmentOp, SliceFragmentOp
from tileas_xdsl.dialects.cute_nvgpu import ShuffleOp
from tileas_xdsl.dialects.dense_elements import is_splat
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import SATURATE
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, GenerateOp

LEAST_OF_F16 = 2.0**-24
SMALLEST_NORMAL = 2.0**-126
LARGEST_F32 = (2 - 2.0**-23) * 2.0**127
LARGEST: Mapping[Attribute, float] = {
    f16: 65504.0,
    bf16: (2 - 2.0**-7) * 2.0**127,
    f32: LARGEST_F32,
}
"""The largest finite numbers of types."""
APPROXIMATE = 2.0**-15
"""The relative error of approximate instructions, of powers 2**-16 at most."""
MAX_DEPTH = 64
"""Operations that are followed from a value; past them nothing is known."""


@dataclass(frozen=True, slots=True)
class FloatRange:
    """An interval that contains all elements that are numbers."""

    low: float = -numbers.inf
    high: float = numbers.inf
    least: float = 0.0
    """No element that is not zero is closer to it."""
    number: bool = False
    """Whether no element is NaN."""
    finite: float = numbers.inf
    """No element but infinities is farther from zero."""

    @property
    def largest(self) -> float:
        """The bound of magnitudes."""
        return max(abs(self.low), abs(self.high))

    def join(self, other: FloatRange) -> FloatRange:
        """The range of either."""
        return FloatRange(
            min(self.low, other.low),
            max(self.high, other.high),
            min(self.least, other.least),
            self.number and other.number,
            max(self.finite, other.finite),
        )

    @property
    def signs(self) -> FloatRange:
        """The bounds by zero, which hold however far results are rounded."""
        return FloatRange(
            0.0 if self.low >= 0 else -numbers.inf, 0.0 if self.high <= 0 else numbers.inf
        )

    def meet(self, other: FloatRange) -> FloatRange:
        """The range of both."""
        return FloatRange(
            max(self.low, other.low),
            min(self.high, other.high),
            max(self.least, other.least),
            finite=min(self.finite, other.finite),
        )


def is_plain_inverse(dividend: FloatRange, divisor: FloatRange) -> bool:
    """Whether quotients are inverses of what is 2**-126 to 2**126, infinite, or no number."""
    is_inverse = dividend.low == dividend.high == 1
    return is_inverse and divisor.low * 2.0**126 >= 1 and divisor.finite <= 2.0**126


UNKNOWN = FloatRange()
NOT_NEGATIVE = FloatRange(0.0)


def _outward(
    low: float, high: float, slack: float = 2.0**-22, finite: float = numbers.inf
) -> FloatRange:
    """Bounds that rounding to f32 and flushing do not exceed; those that are NaN are none."""
    low, high = low - abs(low) * slack, high + abs(high) * slack
    below = 0.0 if 0 <= low < SMALLEST_NORMAL else low
    above = 0.0 if -SMALLEST_NORMAL < high <= 0 else high
    return FloatRange(
        -numbers.inf if numbers.isnan(low) or low < -LARGEST_F32 else below,
        numbers.inf if numbers.isnan(high) or high > LARGEST_F32 else above,
        finite=finite * (1 + slack),
    )


def _of_sum(a: FloatRange, b: FloatRange) -> FloatRange:
    return _outward(a.low + b.low, a.high + b.high, finite=a.finite + b.finite)


def _negated(a: FloatRange) -> FloatRange:
    return FloatRange(-a.high, -a.low, a.least, a.number, a.finite)


def _of_product(a: FloatRange, b: FloatRange) -> FloatRange:
    """Zero times infinity is NaN, which no range excludes."""
    ends = [0.0 if 0 in (x, y) else x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return _outward(min(ends), max(ends), finite=a.finite * b.finite)


def _of_difference(a: FloatRange, b: FloatRange) -> FloatRange:
    return _of_sum(a, _negated(b))


def _of_fma(a: FloatRange, b: FloatRange, c: FloatRange) -> FloatRange:
    return _of_sum(_of_product(a, b), c)


def _of_quotient(a: FloatRange, b: FloatRange) -> FloatRange:
    if b.low <= 0:
        return UNKNOWN
    inverse = _outward(1 / b.high, 1 / b.low, APPROXIMATE)
    return _of_product(a, inverse)


def _of_magnitude(a: FloatRange) -> FloatRange:
    low = 0.0 if a.low <= 0 <= a.high else min(abs(a.low), abs(a.high))
    return FloatRange(low, a.largest, a.least, a.number, a.finite)


def _power(base: float, exponent: float) -> float:
    try:
        return base**exponent
    except OverflowError:
        return numbers.inf


def _of_power(base: float, a: FloatRange) -> FloatRange:
    """1 for zero exactly, and monotonic there."""
    found = _outward(_power(base, a.low), _power(base, a.high), APPROXIMATE)
    return FloatRange(
        1.0 if a.low == 0 else max(0.0, found.low), 1.0 if a.high == 0 else found.high
    )


def _of_rounding(a: FloatRange) -> FloatRange:
    return a.signs


def _of_root(_: FloatRange) -> FloatRange:
    return NOT_NEGATIVE


def _of_sigmoid(_: FloatRange) -> FloatRange:
    return FloatRange(-1.0, 1.0)


def _largest(a: FloatRange, b: FloatRange) -> FloatRange:
    """The larger one; NaN stays."""
    finite = max(a.finite, b.finite)
    return FloatRange(max(a.low, b.low), max(a.high, b.high), min(a.least, b.least), finite=finite)


def _largest_number(a: FloatRange, b: FloatRange) -> FloatRange:
    """The larger one, or the only one that is a number."""
    found = _largest(a, b)
    alone = [one for one, other in ((a, b), (b, a)) if not other.number]
    return FloatRange(
        min(found.low, *(one.low for one in alone)) if alone else found.low,
        found.high,
        found.least,
        a.number or b.number,
        found.finite,
    )


def _smallest(a: FloatRange, b: FloatRange) -> FloatRange:
    return _negated(_largest(_negated(a), _negated(b)))


def _smallest_number(a: FloatRange, b: FloatRange) -> FloatRange:
    return _negated(_largest_number(_negated(a), _negated(b)))


def _same(a: FloatRange) -> FloatRange:
    return a


RULES: Mapping[type[Operation], Callable[..., FloatRange]] = {
    arith.AddfOp: _of_sum,
    arith.SubfOp: _of_difference,
    arith.MulfOp: _of_product,
    arith.DivfOp: _of_quotient,
    arith.NegfOp: _negated,
    arith.ExtFOp: _same,
    arith.TruncFOp: _of_rounding,
    arith.MaximumfOp: _largest,
    arith.MaxnumfOp: _largest_number,
    arith.MinimumfOp: _smallest,
    arith.MinnumfOp: _smallest_number,
    math.AbsFOp: _of_magnitude,
    math.ErfOp: _of_sigmoid,
    math.Exp2Op: partial(_of_power, 2.0),
    math.ExpOp: partial(_of_power, numbers.e),
    math.FmaOp: _of_fma,
    math.RsqrtOp: _of_root,
    math.SqrtOp: _of_root,
    math.TanhOp: _of_sigmoid,
    tensor.SplatOp: _same,
    vector.BroadcastOp: _same,
    ConvertLayoutOp: _same,
    SliceFragmentOp: _same,
}
"""By operation, the range of its result by those of its operands."""

EXACT = (
    arith.ExtFOp, arith.NegfOp, arith.MaximumfOp, arith.MaxnumfOp, arith.MinimumfOp,
    arith.MinnumfOp, math.AbsFOp, tensor.SplatOp, vector.BroadcastOp, ConvertLayoutOp,
    SliceFragmentOp,
)  # fmt: skip
"""What rounds nothing; other operations on floats of 16 bits and less keep signs alone."""

JOINED = (MakeFragmentOp, vector.ExtractOp)
"""What gives elements of any of its operands."""

FIRST = (ShuffleOp, tensor.ExtractOp)
"""What gives elements of its first operand."""

MAXIMA = (arith.MaximumfOp, arith.MaxnumfOp)

EXTREMES = (*MAXIMA, arith.MinimumfOp, arith.MinnumfOp)


@dataclass
class FloatRanges:
    """Answers for values of IR that does not change in between."""

    known: dict[SSAValue, FloatRange] = field(default_factory=dict[SSAValue, FloatRange])
    not_negative: dict[scf.ForOp, frozenset[int]] = field(
        default_factory=dict[scf.ForOp, frozenset[int]]
    )
    """By loop, the indices of the values it carries that are never negative."""

    def of(self, value: SSAValue, depth: int = 0) -> FloatRange:
        """The range of a float, a fragment or a tile of floats."""
        if value in self.known:
            return self.known[value]
        if depth > MAX_DEPTH:
            return _of_type(value)
        found = self._found(value, depth + 1)
        own = _of_type(value)
        self.known[value] = replace(
            found, least=max(found.least, own.least), finite=min(found.finite, own.finite)
        )
        return self.known[value]

    def _found(self, value: SSAValue, depth: int) -> FloatRange:
        if isinstance(value, BlockArgument):
            return self._of_argument(value, depth)
        assert isinstance(value, OpResult)
        op = value.op
        match op:
            case arith.ConstantOp():
                return _of_constant(op)
            case arith.SelectOp():
                return self.of(op.lhs, depth).join(self.of(op.rhs, depth))
            case scf.ForOp():
                return self._of_carried(op, value.index, depth)
            case GenerateOp():
                return self._of_body(op.body.block, depth)
            case ReduceOp():
                return self._of_reduction(op, value.index, depth)
            # `x - max(x)` is at most 0, and `x * x` at least 0, whatever x is: intervals of the
            # operands alone would not show either.
            case arith.SubfOp() if _is_of_row(op.rhs, op.lhs) and SATURATE not in op.attributes:
                return FloatRange(high=0.0)
            case arith.MulfOp() if op.lhs == op.rhs and SATURATE not in op.attributes:
                return NOT_NEGATIVE
            case _:
                return self._by_rule(op, depth)

    def _by_rule(self, op: Operation, depth: int) -> FloatRange:
        if isinstance(op, FIRST):
            return self.of(op.operands[0], depth)
        if isinstance(op, JOINED):
            found = [self.of(value, depth) for value in op.operands]
            whole = found[0]
            for other in found[1:]:
                whole = whole.join(other)
            return whole
        rule = RULES.get(type(op))
        if rule is None:
            return UNKNOWN
        if SATURATE in op.attributes:
            return FloatRange(0.0, 1.0, number=True)
        found = rule(*(self.of(v, depth) for v in op.operands))
        rounds = not isinstance(op, EXACT) and _element(op.results[0]) not in (f32, f64)
        return found.signs if rounds else found

    def _of_body(self, block: Block, depth: int) -> FloatRange:
        last = block.last_op
        return self.of(last.operands[0], depth) if isinstance(last, YieldOp) else UNKNOWN

    def _of_reduction(self, op: ReduceOp, index: int, depth: int) -> FloatRange:
        combiner = combiner_of(op)
        if combiner is None or len(op.sources) > 1:
            return UNKNOWN
        source = self.of(op.sources[index], depth)
        if isinstance(combiner, EXTREMES):
            return source
        is_sum = isinstance(combiner, arith.AddfOp)
        return source.signs if is_sum and source.low >= 0 else UNKNOWN

    def _of_argument(self, value: BlockArgument, depth: int) -> FloatRange:
        op = value.block.parent_op()
        if not isinstance(op, scf.ForOp) or value.index == 0:
            return UNKNOWN
        return self._of_carried(op, value.index - 1, depth)

    def _of_carried(self, op: scf.ForOp, index: int, depth: int) -> FloatRange:
        if op not in self.not_negative:
            self.not_negative[op] = self._not_negative_carried(op, depth)
        return NOT_NEGATIVE if index in self.not_negative[op] else UNKNOWN

    def _not_negative_carried(self, op: scf.ForOp, depth: int) -> frozenset[int]:
        """The carried values that are not negative, by one induction over all of them.

        Assumed are all whose first value is not negative; what the body then yields negative is
        dropped until nothing changes: the greatest fixed point, which also proves values that
        depend on each other.  One per value would visit the body exponentially often.
        """
        last = op.body.block.last_op
        if last is None:
            return frozenset()
        kept = frozenset(
            i for i, value in enumerate(op.iter_args)
            if isinstance(_element(value), AnyFloat) and self.of(value, depth).low >= 0
        )  # fmt: skip
        while kept:
            carried = {op.body.block.args[i + 1]: NOT_NEGATIVE for i in kept}
            carried |= {a: UNKNOWN for a in op.body.block.args[1:] if a not in carried}
            assumed = FloatRanges({**self.known, **carried}, dict(self.not_negative))
            proven = frozenset(i for i in kept if assumed.of(last.operands[i], depth).low >= 0)
            if proven == kept:
                self.known, self.not_negative = assumed.known, assumed.not_negative
                return kept
            kept = proven
        return frozenset()


def _of_type(value: SSAValue) -> FloatRange:
    element = _element(value)
    least = LEAST_OF_F16 if element == f16 else 0.0
    return FloatRange(least=least, finite=LARGEST.get(element, numbers.inf))


def _element(value: SSAValue) -> Attribute:
    """The type of an element of a tile or a fragment, or of a scalar."""
    type_: Any = value.type
    return type_.element_type if _is_shaped(value) else type_


def _is_shaped(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType | VectorType)


def _of_constant(op: arith.ConstantOp) -> FloatRange:
    attribute: Any = op.value
    if isinstance(attribute, FloatAttr):
        numbers_: list[Any] = [attribute.value.data]
    elif isinstance(attribute, DenseIntOrFPElementsAttr):
        dense = cast("DenseIntOrFPElementsAttr[Any]", attribute)
        numbers_ = [next(iter(dense.iter_values()))] if is_splat(dense) else []
    else:
        return UNKNOWN
    if not numbers_ or not isinstance(numbers_[0], float) or numbers.isnan(numbers_[0]):
        return UNKNOWN
    (number,) = numbers_
    least = abs(number) or numbers.inf
    return FloatRange(number, number, least, number=True, finite=abs(number))


def combiner_of(op: ReduceOp) -> Operation | None:
    """The only operation of a reduction, on its accumulator and the next element."""
    block = op.body.block
    first, last = block.first_op, block.last_op
    if first is None or first.next_op is not last or len(block.args) != 2:
        return None
    return first if set(first.operands) == set(block.args) else None


def _is_of_row(largest: SSAValue, tile: SSAValue) -> bool:
    """Whether a tile has at each element the maximum of a row, or more, of another."""
    match largest.owner:
        case ConvertLayoutOp() as op:
            return _is_of_row(op.operands[0], tile)
        case GenerateOp() as op:
            last = op.body.block.last_op
            return last is not None and _extracts_largest(op, last.operands[0], tile)
        case _:
            return False


def _extracts_largest(op: GenerateOp, value: SSAValue, tile: SSAValue) -> bool:
    """Whether the body reads, at its own coordinates, the maximum along one dimension of a tile."""
    read = value.owner
    if not isinstance(read, tensor.ExtractOp):
        return False
    maximum = _reduced_maximum(read.tensor)
    if maximum is None:
        return False
    rest: list[SSAValue] = list(op.body.block.args)
    del rest[maximum.axis.value.data]
    extents = maximum.outputs[0].type.get_shape()
    own = (
        extent == 1 or index == argument
        for extent, index, argument in zip(extents, read.indices, rest, strict=True)
    )
    return _without_layout(maximum.sources[0]) == _without_layout(tile) and all(own)


def _reduced_maximum(value: SSAValue) -> ReduceOp | None:
    """The reduction of which a tile has the maxima, or the larger of one and a constant."""
    owner = _without_layout(value).owner
    if isinstance(owner, MAXIMA):
        found = [side for side in owner.operands if not isinstance(side.owner, arith.ConstantOp)]
        owner = _without_layout(found[0]).owner if len(found) == 1 else owner
    if not isinstance(owner, ReduceOp) or len(owner.sources) != 1:
        return None
    return owner if isinstance(combiner_of(owner), MAXIMA) else None


def _without_layout(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, ConvertLayoutOp):
        value = value.owner.operands[0]
    return value
