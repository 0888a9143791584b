"""What indices of a loop are equal to in all of its rounds, modulo a power of two.

%step = maxui (andi %ctas, -8), 8
scf.for %i = %first to %end step %step { ... %i ... }      %i = %first modulo 8
"""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.ir import BlockArgument, SSAValue

from tileas_xdsl.analysis.values.rows.divisors import row_divisor


def of_first_round(value: SSAValue, modulus: int) -> SSAValue:
    """Return a number from in front of loops that equals one of a round, or that one.

    Modulo a power of two; the number may be of another integer type.
    """
    found = value
    while isinstance(found.owner, arith.IndexCastOp):
        found = found.owner.input
    if not isinstance(found, BlockArgument):
        return value
    loop = found.block.parent_op()
    if not isinstance(loop, scf.ForOp) or found.index or row_divisor(loop.step) % modulus:
        return value
    return of_first_round(loop.lb, modulus)
