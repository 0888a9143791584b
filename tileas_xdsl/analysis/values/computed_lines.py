"""Lines of columns that are computed of coordinates and numbers, and of nothing that is loaded.

    %columns = generate { ^bb0(%i: index): yield (index_cast %i) }
    %line = mulf (splat %slope), (sitofp (addi %columns, (splat %first))) : tensor<1x128xf32>

Each warp may compute all of such a line.
"""

from __future__ import annotations

from math import prod

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import is_side_effect_free
from tileas_xdsl.dialects.memoized_walks import memoized_walk
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of


def is_computed_line(value: SSAValue) -> bool:
    """Return whether a tile is one row of columns, of which no element is loaded or carried."""
    *rows, columns = shape_of(value.type) or (1,)
    return columns > 1 and prod(rows) == 1 and _is_computed(value)


@memoized_walk
def _is_computed(value: SSAValue) -> bool:
    if prod(shape_of(value.type) or ()) == 1:
        return True  # A number.
    made = value.owner
    if not isinstance(made, Operation):
        return False
    read = (operand for op in operations_in(made) for operand in op.operands)
    return is_side_effect_free(made) and all(map(_is_computed, read))
