"""Launches whose extents are multiples of tiles, so that the last tile has all of its elements.

    keys  4096 in tiles of 128    32 tiles, all of them whole
          4000                    31 whole tiles, and 32 keys of another one

Code for any extent has masks for the last tile, in a loop of its own or under a branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.launches.few_tile_blocks import NO_NUMBER


@dataclass(frozen=True)
class WholeTiles:
    """The launches of a kernel whose extents tiles divide."""

    arguments: tuple[int, ...]
    """The arguments of the kernel that are extents."""
    tiles: tuple[int, ...]
    """The tile that has to divide each of them."""

    def suits(self, args: Sequence[Any], grid: Sequence[int], multiprocessors: int) -> bool:
        """Whether a launch is one, whatever its grid."""
        del grid, multiprocessors
        return self.may_suit(args)

    def may_suit(self, args: Sequence[Any]) -> bool:
        """Whether a launch with these arguments is one."""
        given = [args[n] if n < len(args) else None for n in self.arguments]
        return all(
            isinstance(extent, int | np.integer) and extent % tile == 0
            for extent, tile in zip(given, self.tiles, strict=True)
        )

    def unsuited(self, multiprocessors: int) -> range:
        """The numbers of tile blocks with which no launch is one, of those that may be."""
        del multiprocessors
        return NO_NUMBER
