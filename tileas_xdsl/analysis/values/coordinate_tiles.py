"""Tiles of integers that are computed from coordinates, constants and scalars alone.

    %j = generate { yield %column }           the coordinate
    %i = addi (splat %row_offset), %j         computed from it and a scalar
    %p = addptr (splat %base), %i             an address
    %k = load %p                              not: what memory holds takes registers

Such tiles take no registers over their lives.  The thread code computes each address and each
condition in front of its access (`scalarize-vectors`), as a base register and a constant where
they are affine, so that only tiles with other contents count in estimates of register pressure.
Rematerialisation in the sense of Briggs, Cooper and Torczon (PLDI 1992): cheap to compute again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

TileSources = Callable[[SSAValue], "Sequence[SSAValue] | None"]
"""The tiles that a tile is computed from by pure integer arithmetic; None if in another way.

It describes a dialect: coordinates and tiles that repeat one number are computed from no tile.
"""


def is_from_coordinates(value: SSAValue, sources: TileSources) -> bool:
    """Return whether a tile is integer arithmetic on coordinates, constants and scalars."""
    pending, seen = [value], set[SSAValue]()
    while pending:
        found = pending.pop()
        if found in seen:
            continue
        seen.add(found)
        if (read := sources(found)) is None:
            return False
        pending += read
    return True
