"""Ranges of the operands of divisions and powers, attached when tiles become fragments.

    arith.divf %a, %b {nv_tileas.operand_ranges = [0.0, 1.0, 0.0, 0.0, inf, 0.0]}
    math.exp %x {nv_tileas.operand_ranges = [-inf, 0.0, 0.0]}

are the bounds of each operand, and its smallest magnitude but zero.  Reductions across threads hide
them from an analysis of fragments, and loops over chunks of rows from one of tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ArrayAttr, f64
from xdsl.ir import Operation

from tileas_xdsl.analysis.values.float_intervals import FloatRange
from tileas_xdsl.analysis.values.float_ranges import FloatRanges
from tileas_xdsl.dialects.interned import float_attr

OPERAND_RANGES = "nv_tileas.operand_ranges"

BOUNDS = 3
"""Numbers of a range."""


RANGED = (arith.DivfOp, math.ExpOp, math.Log2Op, math.LogOp)
"""What is expanded by the ranges of its operands."""


def keep_operand_ranges(op: Operation) -> None:
    """Write the ranges of all operands to an operation on floats."""
    found = operand_ranges(op, FloatRanges())
    numbers = [x for one in found for x in (one.low, one.high, one.least)]
    op.attributes[OPERAND_RANGES] = ArrayAttr([float_attr(x, f64) for x in numbers])


def operand_ranges(op: Operation, ranges: FloatRanges) -> Sequence[FloatRange]:
    """The ranges of all operands: what was written to the operation and what is found."""
    found = [ranges.of(value) for value in op.operands]
    given: Any = op.attributes.get(OPERAND_RANGES)
    if given is None:
        return found
    numbers = [x.value.data for x in given]
    kept = [FloatRange(*numbers[k : k + BOUNDS]) for k in range(0, len(numbers), BOUNDS)]
    return [one.meet(other) for one, other in zip(found, kept, strict=True)]
