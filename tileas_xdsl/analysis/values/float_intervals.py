"""Interval arithmetic of floats: what operations on elements make of intervals."""

from __future__ import annotations

import math as numbers
from collections.abc import Callable, Mapping
from functools import partial

from xdsl.dialects import arith, math, tensor, vector
from xdsl.ir import Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import SliceFragmentOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp

SMALLEST_NORMAL = 2.0**-126


LARGEST_F32 = (2 - 2.0**-23) * 2.0**127


APPROXIMATE = 2.0**-15
"""The relative error of approximate instructions, of powers 2**-16 at most."""


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


def _of_inverse_root(a: FloatRange) -> FloatRange:
    """That of -0.0, which no interval of numbers tells from 0.0, is -inf."""
    return NOT_NEGATIVE if a.low > 0 else UNKNOWN


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
    math.RsqrtOp: _of_inverse_root,
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
