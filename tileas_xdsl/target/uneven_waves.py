"""Launches whose last wave of tile blocks leaves most multiprocessors idle.

288 tile blocks on 132 multiprocessors, one each: three waves for the work of 2.18
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.integers import ceil_div

MIN_GAIN = 1.2
"""Waves of a launch over those that its tile blocks fill, from which on sharing pays.  To transfer
sums takes a part of the gain: 3072^3 in 128x256 tiles, 1.20 of 1.38 times (H200, 2026-11-29)."""


@dataclass(frozen=True)
class UnevenWaves:
    """The launches of a persistent kernel that gain where CTAs share the tile blocks of a wave."""

    together: int
    """CTAs that share a multiprocessor."""
    ctas: int
    """CTAs that compute a tile block together."""

    def suits(self, args: Sequence[Any], grid: Sequence[int], multiprocessors: int) -> bool:
        """Whether a launch is one."""
        del args
        at_once, count = self._at_once(multiprocessors), prod(grid)
        return count > at_once and ceil_div(count, at_once) * at_once >= MIN_GAIN * count

    def may_suit(self, args: Sequence[Any]) -> bool:
        """The grid alone decides."""
        del args
        return True

    def unsuited(self, multiprocessors: int) -> range:
        """The numbers of tile blocks with which no launch is one."""
        return range(self._at_once(multiprocessors) + 1)

    def _at_once(self, multiprocessors: int) -> int:
        return max(self.together * multiprocessors // self.ctas, 1)
