"""What all of a float goes to: roundings to few bits, which show no last place of an f32.

    %e = exp %x;  %d = addf 1.0, %e;  %q = divf %s, %d
    %p = mulf %q, 0.01;  %m = select %mask, %p, 0.0;  %r = truncf %m : f16

Products, quotients, selections and sums of one sign pass relative errors on as they are: `%q` and
`%e` may be some units of f32 off, and `%r` is as close to the exact number as before, but for
2**-11 of half a unit of its own for each of them.  Differences do not: nothing that is read by one
is found.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import arith, math, tensor
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Operation, SSAValue, Use

from tileas_xdsl.analysis.values.float_ranges import FloatRanges
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import SATURATE
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ExpandDimsOp, GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of
from tileas_xdsl.target.math_functions import MATH_FUNCTIONS

ROUNDED_BITS = 16
"""Floats of so many bits or less show 12 bits of a value at most."""

MAX_STEPS = 8
"""Operations between a value and its roundings, each of which rounds too."""

_SAME = (arith.NegfOp, ConvertLayoutOp, ExpandDimsOp, tensor.ExtractOp)
"""What gives elements of its first operand, or their negatives."""


def is_rounding(op: Operation) -> bool:
    """Whether an operation rounds to floats of 16 bits or less."""
    if not isinstance(op, arith.TruncFOp):
        return False
    element = element_of(op.result.type)
    return isinstance(element, AnyFloat) and element.bitwidth <= ROUNDED_BITS


def largest_gain(value: SSAValue, ranges: FloatRanges, steps: int = MAX_STEPS) -> float | None:
    """Return by what a value is multiplied, at most, before all that is made of it is rounded.

    None if something else is made of it, or what does not pass relative errors on.
    """
    gains = [_gain_of(use, ranges, steps - 1) if steps else None for use in value.uses]
    known = [gain for gain in gains if gain is not None]
    return max(known) if known and len(known) == len(gains) else None


def _gain_of(use: Use, ranges: FloatRanges, steps: int) -> float | None:
    op, factor = use.operation, 1.0
    if is_rounding(op):
        return factor
    result = op.results[0] if op.results else None
    match op:
        case Operation() if isinstance(op, _SAME) and use.index == 0:
            pass
        case YieldOp() if isinstance(tile := op.parent_op(), GenerateOp):
            result = tile.result
        case arith.SelectOp() if use.index:
            pass
        case arith.MulfOp() if SATURATE not in op.attributes:
            factor = ranges.of(op.operands[1 - use.index]).largest
        case arith.DivfOp() if use.index:
            pass
        case arith.DivfOp():
            low = ranges.of(op.rhs).low
            factor = 1 / low if low > 0 else float("inf")
        case arith.AddfOp() if SATURATE not in op.attributes and _has_one_sign(op, ranges):
            pass
        case _:
            return None
    if result is None or (gain := largest_gain(result, ranges, steps)) is None:
        return None
    return factor * gain


def _has_one_sign(op: arith.AddfOp, ranges: FloatRanges) -> bool:
    """Whether both terms of a sum are not negative, or not positive."""
    terms = [ranges.of(term) for term in op.operands]
    return all(term.low >= 0 for term in terms) or all(term.high <= 0 for term in terms)


def is_inexact(value: SSAValue, steps: int = MAX_STEPS) -> bool:
    """Whether a value is made of a function that is not rounded correctly, as `exp` is not."""
    op = value.owner
    if not isinstance(op, Operation) or not steps:
        return False
    function = MATH_FUNCTIONS.get(op.name.removeprefix("math."))
    if op.name.startswith("math.") and function is not None and function.bound > 0:
        return True
    return any(is_inexact(operand, steps - 1) for operand in _made_of(op))


def _made_of(op: Operation) -> Iterator[SSAValue]:
    """The operands that a sum, a product or a selection has its errors of."""
    match op:
        case arith.AddfOp() | arith.SubfOp() | arith.MulfOp() | arith.DivfOp() | math.FmaOp():
            yield from op.operands
        case arith.NegfOp() | ConvertLayoutOp() | ExpandDimsOp():
            yield op.operands[0]
        case _:
            pass
