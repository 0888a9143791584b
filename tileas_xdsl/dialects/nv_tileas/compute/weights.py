"""Weights that products take: `math.exp2 %y {nv_tileas.ftz, nv_tileas.weight}`.

Their argument is a difference from the maximum of a row, and they are rounded to 16 bits or less
for a product: an argument that is 2**-16 off moves a weight by 0.02 of its last place.
"""

from __future__ import annotations

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

WEIGHT = "nv_tileas.weight"


def mark_weight(op: Operation) -> None:
    """Let what makes instructions of a power round its argument as is fastest."""
    op.attributes[WEIGHT] = UnitAttr()


def is_weight(op: Operation) -> bool:
    """Whether a power is a weight that a product takes."""
    return WEIGHT in op.attributes
