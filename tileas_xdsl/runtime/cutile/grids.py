"""Grids of tile blocks as programs give them."""

from __future__ import annotations

from typing import Any, cast

MAX_BLOCKS = (1 << 24) - 1
"""Blocks along an axis of a grid, as cuTile has it."""


def checked_grid(grid: Any) -> tuple[int, int, int]:
    """Return three extents; raises as cuTile for what is no grid."""
    if not isinstance(grid, tuple):
        raise TypeError("Grid must be a tuple")
    given = cast("tuple[Any, ...]", grid)
    if len(given) > 3:
        raise ValueError(f"Grid dimensions must be at most 3, got length {len(given)}")
    extents: tuple[Any, ...] = (*given, 1, 1, 1)
    for axis, extent in enumerate(extents):
        if extent > MAX_BLOCKS:
            raise ValueError(
                f"Grid[{axis}] exceeds 24-bit limit: max={MAX_BLOCKS}, got={extent}. "
                "Use multiple kernel launches for larger workloads."
            )
        if extent < 0:
            raise OverflowError("can't convert negative value to unsigned int")
    return extents[0], extents[1], extents[2]
