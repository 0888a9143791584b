"""Launches whose rows are as long as specialized code supposes, in tiles that reach behind them.

Tiles are powers of two, rows are not: of 8,192 places for a row of 5,120 elements three eighths are
behind its end, which code for any length learns from masks.  Code for rows of 4,097 to 5,119
elements has no registers for the last three eighths, and code for rows of just 5,120 no masks:

    eighth of the tile     1    2    3    4    5    6    7    8
    rows of 4,097 to 5,104 ==== ==== ==== ==== mask -    -    -
    rows of 5,120          ==== ==== ==== ==== ==== -    -    -

Operands of products are the same: of a depth of 128 a row of 80 elements has five instructions of
16, whether or not it fills the last one.

Rows that begin between vectors are held from a vector on (`tileas-rotate-rows`): those of 5,105 to
5,119 elements may reach into the next eighth, and have code of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.launches.few_tile_blocks import NO_NUMBER

PARTS = 8
"""Parts of a tile that specializations distinguish."""

MIN_PART = 256
"""Elements of a part at least: vectors of 16 bytes for the lanes of a warp, of 16-bit elements."""

ROOM = 16
"""Elements of which the shortest are 16 bytes: a row begins fewer than so many behind a vector."""


@dataclass(frozen=True)
class BoundedRows:
    """The launches of a kernel with rows of `least` to `most` elements.

    Those of all specializations together are evaluated first, then half, until one is left.
    """

    width: int
    """Elements of a row of the tile."""
    arguments: tuple[int, ...]
    """The arguments of the kernel that are extents of rows."""
    first: int
    """The first of the specializations, of which each part has as many as `ends`."""
    last: int
    step: int = 0
    """Elements that an instruction multiplies; 0 for rows that nothing multiplies."""

    @staticmethod
    def of(width: int, arguments: Sequence[int], step: int = 0) -> BoundedRows:
        """The launches with rows that the tile holds."""
        made = BoundedRows(width, tuple(arguments), 0, 0, step)
        return replace(made, last=len(made.ends) * (width // made.part) - 1)

    @property
    def part(self) -> int:
        """Elements of a part of the tile."""
        return part_of(self.width, self.step)

    @property
    def ends(self) -> Sequence[int]:
        """The last lengths of the specializations of a part, in which rows end.

        Of rows that nothing multiplies, which may be rotated, some leave room for a vector.
        """
        room = () if self.step else (self.part - ROOM,)
        return (*room, self.part - 1, self.part)

    @property
    def least(self) -> int:
        """The fewest elements of a row."""
        part, index = divmod(self.first, len(self.ends))
        return part * self.part + (0, *self.ends)[index] + 1

    @property
    def most(self) -> int:
        """The most elements of a row."""
        part, index = divmod(self.last, len(self.ends))
        return part * self.part + self.ends[index]

    @property
    def gains(self) -> bool:
        """Whether code for these lengths has fewer masks than that for all, or fewer registers.

        Rows that leave no room for a vector gain nothing: layer_norm f16 of 4,095 columns in a tile
        of 4,096 runs at 3,306 GB/s as any row, and at 3,130 as one of 3,585 to 4,095 (H200).
        """
        if self.step:
            return self.most <= self.width - self.part
        return self.least == self.most or self.most <= self.width - ROOM

    def halves(self) -> tuple[BoundedRows, BoundedRows] | None:
        """Return the launches with shorter and with longer rows; None if one code is for all."""
        if self.first == self.last:
            return None
        middle = (self.first + self.last) // 2
        return replace(self, last=middle), replace(self, first=middle + 1)

    def suits(self, args: Sequence[Any], grid: Sequence[int], multiprocessors: int) -> bool:
        """Whether a launch is one, whatever its grid: the bits of a row depend on its length.

        Those of a rotated row depend on the element of a vector at which it begins, too.
        """
        del grid, multiprocessors
        return self.may_suit(args)

    def may_suit(self, args: Sequence[Any]) -> bool:
        """Whether a launch with these arguments may be one."""
        given = (args[n] if n < len(args) else None for n in self.arguments)
        return all(isinstance(n, int | np.integer) and self.least <= n <= self.most for n in given)

    def unsuited(self, multiprocessors: int) -> range:
        """The numbers of tile blocks with which no launch is one, of those that may be."""
        del multiprocessors
        return NO_NUMBER


def part_of(width: int, step: int = 0) -> int:
    """Return the elements of the parts of a tile; all of them where there is one part."""
    return min(max(width // PARTS, step or MIN_PART), width)
