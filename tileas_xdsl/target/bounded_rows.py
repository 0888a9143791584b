"""Launches whose rows are as long as a form of the code supposes, in tiles that reach behind them.

Tiles are powers of two, rows are not: of 8,192 places for a row of 5,120 elements three eighths are
behind its end, which code for any length learns from masks.  Code for rows of 4,097 to 5,120
elements has no registers for the last three eighths, and code for rows of just 5,120 no masks:

    eighth of the tile     1    2    3    4    5    6    7    8
    rows of 4,097 to 5,119 ==== ==== ==== ==== mask -    -    -
    rows of 5,120          ==== ==== ==== ==== ==== -    -    -
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.few_tile_blocks import NO_NUMBER

PARTS = 8
"""Parts of a tile that forms of the code tell apart."""

MIN_PART = 256
"""Elements of a part at least: vectors of 16 bytes for the lanes of a warp, of 16-bit elements."""


@dataclass(frozen=True)
class BoundedRows:
    """The launches with rows of `least` to `most` elements."""

    least: int
    most: int
    arguments: tuple[int, ...]
    """The arguments of the kernel that are extents of rows."""

    @property
    def is_exact(self) -> bool:
        """Whether the length is known."""
        return self.least == self.most

    def suits(self, args: Sequence[Any], grid: Sequence[int], multiprocessors: int) -> bool:
        """Whether a launch is one, whatever its grid: bits of a row depend on its length alone."""
        del grid, multiprocessors
        return self.may_suit(args)

    def may_suit(self, args: Sequence[Any]) -> bool:
        """Whether a launch with these arguments may be one."""
        lengths = [args[n] if n < len(args) else None for n in self.arguments]
        return all(
            isinstance(n, int | np.integer) and self.least <= n <= self.most for n in lengths
        )

    def unsuited(self, multiprocessors: int) -> range:
        """The numbers of tile blocks with which no launch is one, of those that may be."""
        del multiprocessors
        return NO_NUMBER


def part_of(width: int) -> int:
    """Return the elements of the parts of a tile; as many as it has where there are no parts."""
    return min(max(width // PARTS, MIN_PART), width)


def bounded_rows(width: int, arguments: Sequence[int]) -> tuple[BoundedRows, ...]:
    """Return the questions for tiles of so many columns: the exact lengths, and those between."""
    part, given = part_of(width), tuple(arguments)
    ends = range(part, width + 1, part)
    between = [BoundedRows(end - part + 1, end - 1, given) for end in ends]
    return (*(BoundedRows(end, end, given) for end in ends), *between)
