"""Branches that leave scaled scores as they are in most rounds, as a mask that the last ones need.

    %s = mulf %dot, 0.3
    %p = cmpi sge, (128 * %j), %row
    %t = scf.if %p { ...; %m = select ..., %s, -inf; yield %m } else { yield %s }

Where %p does not hold %t is %s, and the branch is left out as a mask is: what a number multiplies
is then read by what subtracts maxima, so that the number goes into its powers, and a tangent in
front of it need not be exact (`tileas-relax-weights`).  Without such a number a branch around masks
skips as much as a loop of its own does.
"""

from __future__ import annotations

from xdsl.dialects import arith, scf, tensor
from xdsl.ir import Operation, Region, SSAValue

from tileas_xdsl.analysis.values.rows.row_sums import plain
from tileas_xdsl.dialects.ir_queries import uniform_constant
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of


def idle_side(branch: scf.IfOp) -> bool | None:
    """Return what the condition is where a branch leaves scaled tiles as they are.

    None if that is on no side, or on both.
    """
    sides = (_idle(branch.true_region), _idle(branch.false_region))
    if (sides[0] is None) is (sides[1] is None):
        return None
    idle = sides[0] or sides[1]
    assert idle is not None
    return sides[0] is not None if any(map(_is_scaled, idle.operands)) else None


def decides_branch(condition: SSAValue) -> bool:
    """Whether such a branch depends on a number that is true or false."""
    return any(
        (isinstance(op := use.operation, scf.IfOp) and idle_side(op) is not None)
        or (isinstance(op, arith.AndIOp | arith.OrIOp | arith.XOrIOp) and decides_branch(op.result))
        for use in condition.uses
    )


def _idle(region: Region) -> Operation | None:
    """Return what ends a region that does nothing else."""
    block = region.block if region.blocks else None
    return block.last_op if block is not None and block.first_op is block.last_op else None


def _is_scaled(value: SSAValue) -> bool:
    """Whether a tile is a product with a number."""
    made = plain(value).owner
    return (
        bool(shape_of(value.type))
        and isinstance(made, arith.MulfOp)
        and any(
            isinstance(side.owner, tensor.SplatOp) or uniform_constant(side) is not None
            for side in made.operands
        )
    )
