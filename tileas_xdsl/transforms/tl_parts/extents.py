"""How extents are cut: into the powers of two that they are the sum of, the largest first.

>>> [*segments(192, ())]
[Segment(start=0, length=128), Segment(start=128, length=64)]
>>> [*segments(64, (32,))]
[Segment(start=0, length=32), Segment(start=32, length=32)]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product

from tileas_xdsl.data_classes import dataclass


@dataclass(frozen=True)
class Segment:
    """A part of an axis."""

    start: int
    length: int


Box = tuple[Segment, ...]
"""A part of a buffer or of a loop, by axis."""


def starts(extent: int) -> Sequence[int]:
    """Return where the parts of an axis begin: `extent` is written in binary."""
    found = [0]
    for bit in reversed(range(extent.bit_length())):
        if extent >> bit & 1:
            found.append(found[-1] + (1 << bit))
    return found[:-1]


def segments(extent: int, cuts: Iterable[int]) -> Iterator[Segment]:
    """Cut an axis where it must be for powers of two, and at some more places."""
    ends = sorted({*starts(extent), *(cut for cut in cuts if 0 < cut < extent), extent})
    for start, end in pairwise(ends):
        yield Segment(start, end - start)


def boxes(extents: Sequence[int], cuts: Sequence[Iterable[int]]) -> Sequence[Box]:
    """Cut a box along each axis; in row-major order."""
    axes = [[*segments(n, more)] for n, more in zip(extents, cuts, strict=True)]
    return [*product(*axes)]
