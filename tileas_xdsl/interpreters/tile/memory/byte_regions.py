"""Byte regions of an access to one memory, and overlap tests.

A region is a set of runs of equal length: those of a strided window, or runs at given offsets.
The overlap of two regions is decided exactly; the usual cases (contiguous ones, windows of one
matrix) in constant time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Offsets: TypeAlias = NDArray[np.int64]


class Region:
    """A set of `run`-byte runs within [`low`, `high`)."""

    def __init__(
        self,
        low: int,
        high: int,
        run: int,
        outer: tuple[tuple[int, int], ...] = (),
        offsets: Offsets | None = None,
    ) -> None:
        self.low = low
        self.high = high
        self.run = run
        self.outer = outer
        """(stride, count) of the dimensions around a run, the widest stride first."""
        self._offsets = offsets

    @property
    def byte_offsets(self) -> Offsets:
        """The offset of every byte of every run."""
        return (self.starts[:, None] + np.arange(self.run, dtype=np.int64)).reshape(-1)

    @staticmethod
    def of_window(
        offset: int, shape: Sequence[int], strides: Sequence[int], itemsize: int
    ) -> Region:
        """Return the region of a view with non-negative strides in bytes."""
        run = itemsize
        outer: list[tuple[int, int]] = []
        high = offset + itemsize
        dims = [(s, n) for s, n in zip(strides, shape, strict=True) if n > 1 and s > 0]
        dims.sort()
        for stride, count in dims:
            high += (count - 1) * stride
            if not outer and stride == run:
                run *= count
            elif outer and stride == outer[-1][0] * outer[-1][1]:
                outer[-1] = (outer[-1][0], outer[-1][1] * count)
            else:
                outer.append((stride, count))
        return Region(offset, high, run, tuple(reversed(outer)))

    @staticmethod
    def of_elements(offsets: NDArray[np.int64], itemsize: int) -> Region:
        """Return the region of elements at byte offsets (not empty; any order, duplicates)."""
        unique = offsets if ascends(offsets) else np.unique(offsets)
        low, high = int(unique[0]), int(unique[-1]) + itemsize
        if (np.diff(unique) == itemsize).all():
            return Region(low, high, high - low)
        return Region(low, high, itemsize, (), unique)

    @property
    def is_contiguous(self) -> bool:
        """Whether the region is one run."""
        return not self.outer and self._offsets is None

    @cached_property
    def starts(self) -> Offsets:
        """The offsets of the runs, ascending."""
        if self._offsets is not None:
            return self._offsets
        starts = np.zeros(1, dtype=np.int64)
        for stride, count in self.outer:
            starts = (starts[:, None] + np.arange(count, dtype=np.int64) * stride).reshape(-1)
        return np.sort(starts) + self.low

    def covers(self, other: Region) -> bool:
        """Return whether this region surely contains `other`; if strided, only an equal window."""
        if self.is_contiguous:
            return self.low <= other.low and other.high <= self.high
        return self.is_like(other)

    def is_like(self, other: Region) -> bool:
        """Return whether both are the same window."""
        if self._offsets is not None or other._offsets is not None:
            return False
        return (self.low, self.run, self.outer) == (other.low, other.run, other.outer)

    def overlaps(self, other: Region) -> bool:
        """Return whether the regions have a byte in common."""
        if self.high <= other.low or other.high <= self.low:
            return False
        if self.is_contiguous and other.is_contiguous:
            return True
        if self.outer and _strides(self.outer) == _strides(other.outer):
            known = _windows_overlap(self, other)
            if known is not None:
                return known
        return _runs_overlap(self, other)

    def first_common(self, other: Region) -> int:
        """Return the first common byte of overlapping regions."""
        own, others = self.byte_offsets, other.byte_offsets
        return int(np.intersect1d(own, others)[0])


def ascends(offsets: Offsets) -> bool:
    """Return whether the offsets are strictly ascending."""
    return bool((offsets[1:] > offsets[:-1]).all())


def _strides(outer: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    return tuple([stride for stride, _ in outer])


def _windows_overlap(a: Region, b: Region) -> bool | None:
    """Return whether views with equal strides overlap; None where one wraps around a stride."""
    digits_a, digits_b = _digits(a), _digits(b)
    if digits_a is None or digits_b is None:
        return None
    return all(
        low < other_high and other_low < high
        for (low, high), (other_low, other_high) in zip(digits_a, digits_b, strict=True)
    )


def _digits(region: Region) -> list[tuple[int, int]] | None:
    """Return the range of each digit of the offset, None where the window wraps around a stride."""
    rest, around = region.low, None
    intervals: list[tuple[int, int]] = []
    for stride, count in (*region.outer, (1, region.run)):
        digit, rest = divmod(rest, stride)
        if around is not None and (around % stride or digit + count > around // stride):
            return None
        intervals.append((digit, digit + count))
        around = stride
    return intervals


def _runs_overlap(a: Region, b: Region) -> bool:
    """Return whether any run of `a` overlaps one of `b`; runs of a region are disjoint,
    ascending."""
    starts, others = a.starts, b.starts
    before = np.searchsorted(others, starts + a.run) - 1
    found = before >= 0
    return bool(np.any(others[before[found]] + b.run > starts[found]))
