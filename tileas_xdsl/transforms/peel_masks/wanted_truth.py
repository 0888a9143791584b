"""What a comparison of a mask says of elements that are kept: that it holds, or that it does not.

select (column < %n), %s, -inf        kept where it holds
select (column >= %n), -inf, %s       kept where it does not
if (64 * %j >= %n) { masked }         of a branch: where it does nothing
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import arith, scf, tensor
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.ir_queries import uniform_constant, uniform_integer
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp, GenerateOp
from tileas_xdsl.transforms.peel_masks.masking_branches import idle_side

_KEEPING = (arith.AndIOp, arith.OrIOp, tensor.ExtractOp, ExpandDimsOp)
"""What says as much as one of its operands."""


def wanted_truth(mask: SSAValue) -> bool:
    """Return what a mask is where elements are kept: what the first selection by it says."""
    return next(_wanted(mask), True)


def _wanted(mask: SSAValue) -> Iterator[bool]:
    for use in mask.uses:
        op = use.operation
        match op:
            case arith.SelectOp() if use.index == 0:
                yield not _is_constant(op.lhs) or _is_constant(op.rhs)
            case scf.IfOp() if (idle := idle_side(op)) is not None:
                yield idle
            case arith.XOrIOp() if is_negation(op):
                yield from (not wanted for wanted in _wanted(op.result))
            case YieldOp() if isinstance(tile := op.parent_op(), GenerateOp):
                yield from _wanted(tile.result)
            case Operation() if isinstance(op, _KEEPING):
                yield from _wanted(op.results[0])
            case _:
                pass


def is_negation(op: arith.XOrIOp) -> bool:
    """Whether an operation makes true of false."""
    return uniform_integer(op.rhs) in (1, -1)


def _is_constant(value: SSAValue) -> bool:
    """Whether all elements are one constant, a number as it is read of a tile, too."""
    read = value.owner
    tile = read.tensor if isinstance(read, tensor.ExtractOp) else value
    return uniform_constant(tile) is not None
