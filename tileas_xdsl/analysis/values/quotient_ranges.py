"""Operand ranges of integer divisions, attached when tiles become fragments.

    arith.divf %a, %b {nv_tileas.operand_ranges = [0.0, 1.0, 0.0, 0.0, inf, 0.0]}

are the bounds of dividends, of which 0 is the smallest magnitude but zero, then those of divisors.
Reductions across threads hide them from an analysis of fragments.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import ArrayAttr, FloatAttr, f64

from tileas_xdsl.analysis.values.float_ranges import FloatRange, FloatRanges

OPERAND_RANGES = "nv_tileas.operand_ranges"


def keep_operand_ranges(op: arith.DivfOp) -> None:
    """Write the ranges of both operands to a division."""
    ranges = FloatRanges()
    found = [ranges.of(value) for value in op.operands]
    numbers = [x for one in found for x in (one.low, one.high, one.least)]
    op.attributes[OPERAND_RANGES] = ArrayAttr([FloatAttr(x, f64) for x in numbers])


def operand_ranges(op: arith.DivfOp, ranges: FloatRanges) -> tuple[FloatRange, FloatRange]:
    """The ranges of dividend and divisor: what was written to it and what is found."""
    dividend, divisor = (ranges.of(value) for value in op.operands)
    given: Any = op.attributes.get(OPERAND_RANGES)
    if given is None:
        return dividend, divisor
    numbers = [x.value.data for x in given]
    return (
        dividend.meet(FloatRange(*numbers[:3])),
        divisor.meet(FloatRange(*numbers[3:])),
    )
