"""Where the lanes of one instruction access memory, relative to the first of them.

Instructions in loops access memory in the same pattern again and again, only from another first
address.  What depends on the pattern alone is computed once:

    addresses 0x1000 0x1008 0x1010    first 0x1000, relative (0, 8, 16): a run of 24 bytes
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array

MAX_PATTERNS = 4096


class AccessPattern:
    """Accesses of `size` bytes at addresses `relative` to the first one."""

    __slots__ = ("_elements", "_units", "apart", "bits", "high", "low", "relative", "run", "size")

    def __init__(self, relative: Array, size: int) -> None:
        self.relative, self.size = relative, size
        self.low, self.high = int(relative.min()), int(relative.max())
        self.bits = int(np.bitwise_or.reduce(relative))
        """The bits that any relative address has: their alignment."""
        steps = np.diff(relative)
        self.apart = bool((steps >= size).all())
        """Whether each access begins behind the one before it."""
        self.run = self._run(steps)
        """The bytes of the run that the lanes cover in order, or all of them; None for others."""
        self._elements: dict[tuple[int, int], Array] = {}
        self._units: dict[int, Array] = {}

    def _run(self, steps: Array) -> int | None:
        if not steps.any():
            return self.size
        return self.size * len(self.relative) if (steps == self.size).all() else None

    @property
    def is_ascending_run(self) -> bool:
        """Whether the lanes cover a run of memory in order, each its part of it."""
        return self.run == self.size * len(self.relative)

    def elements(self, size: int, count: int) -> Array:
        """Return indices of `count` elements of `size` bytes for each lane, from that at the first
        address on; the addresses are aligned to all of them."""
        found = self._elements.get((size, count))
        if found is None:
            found = (self.relative // size)[:, None]
            found = self._elements[size, count] = found + np.arange(count) if count > 1 else found
        return found

    def units(self, unit: int) -> Array:
        """Return the units that aligned accesses cover, from that of the first address on."""
        found = self._units.get(unit)
        if found is None:
            index = self.relative // unit
            if self.size > unit:
                index = (index[:, None] + np.arange(self.size // unit)).ravel()
            found = self._units[unit] = index
        return found


@lru_cache(maxsize=MAX_PATTERNS)
def _pattern(relative: bytes, size: int) -> AccessPattern:
    return AccessPattern(np.frombuffer(relative, np.int64), size)


_NONE = np.zeros(1, np.int64)
_latest: tuple[Array, int, tuple[int, AccessPattern]] = (_NONE, 1, (0, AccessPattern(_NONE, 1)))
"""The last addresses, their size and their pattern: the checks of an access and the access itself
pass the same array, which is never written in place."""


def pattern_of(addresses: Array, size: int) -> tuple[int, AccessPattern]:
    """Return the first of some addresses (int64), and the pattern of all."""
    global _latest
    asked, of_size, answer = _latest
    if asked is addresses and of_size == size:
        return answer
    first = int(addresses[0])
    answer = first, _pattern((addresses - first).tobytes(), size)
    _latest = addresses, size, answer
    return answer
