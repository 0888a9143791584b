"""Groups of overlapping half-open intervals, such as the memory that array arguments share."""

from __future__ import annotations

from collections.abc import Sequence


def connected(intervals: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return the positions of intervals that overlap, directly or through others, group by group.

    Groups are in the order of their first member; an empty interval overlaps none.

    >>> connected([(0, 8), (16, 24), (4, 12)])
    [[0, 2], [1]]
    """
    order = sorted(range(len(intervals)), key=lambda position: intervals[position])
    groups: list[list[int]] = []
    end = 0
    for position in order:
        begin, stop = intervals[position]
        if groups and begin < min(end, stop):
            groups[-1].append(position)
        else:
            groups.append([position])
            end = stop
        end = max(end, stop)
    return sorted(sorted(group) for group in groups)
