"""Where a product ends in tiles that are wider: `nv_tileas.ends = array<i64: 128, 80, 128, 96>`.

Of 128 columns the first 80 are of interest, others may be any numbers; of a depth of 128 the first
96 count: behind it, A and B are zero.
The extents of the tiles are said too, so that a product of other tiles, as of parts, has no ends.
"""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Operation

ENDS = "nv_tileas.ends"


def set_ends(op: Operation, columns: tuple[int, int], depth: tuple[int, int]) -> None:
    """Write of how many columns, and of which depth, a product is: the tile's, and its own."""
    op.attributes[ENDS] = DenseArrayBase.from_list(i64, [*columns, *depth])


def ends_of(op: Operation, columns: int, depth: int) -> tuple[int, int]:
    """Return how many columns and which depth a product of tiles has."""
    found = op.attributes.get(ENDS)
    if not isinstance(found, DenseArrayBase):
        return columns, depth
    all_columns, own_columns, whole_depth, own_depth = found.get_values()
    is_same = (all_columns, whole_depth) == (columns, depth)
    return (int(own_columns), int(own_depth)) if is_same else (columns, depth)


def exchange_ends(op: Operation, columns: int) -> None:
    """Let a product of the transposes, which has other columns, end at the depth alone."""
    found = op.attributes.get(ENDS)
    if isinstance(found, DenseArrayBase):
        *_, whole, own = (int(number) for number in found.get_values())
        set_ends(op, (columns, columns), (whole, own))
