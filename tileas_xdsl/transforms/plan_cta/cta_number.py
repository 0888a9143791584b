"""Which part of its tile block a CTA computes."""

from __future__ import annotations

from xdsl.dialects import arith, func, gpu
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

_AXES = (gpu.DimensionEnum.X, gpu.DimensionEnum.Y, gpu.DimensionEnum.Z)


def part_of_cta(kernel: func.FuncOp, count: int, axis: int = 0) -> SSAValue:
    """Return the number of a CTA among the `count` that follow each other along an axis."""
    cta = gpu.BlockIdOp(gpu.DimensionAttr(_AXES[axis]))
    number = index_constant(count)
    part = arith.RemUIOp(cta.result, number.result)
    Rewriter.insert_op([cta, number, part], InsertPoint.at_start(kernel.body.block))
    return part.result


def index_constant(number: int) -> arith.ConstantOp:
    """Make a constant of type index."""
    return arith.ConstantOp(IntegerAttr(number, IndexType()))
