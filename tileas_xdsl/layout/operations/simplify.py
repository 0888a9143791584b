"""Layouts with fewer modes: coalesce and filter.

The coalesced form is unique: two layouts of one size are the same function exactly if they coalesce
to the same modes.  Source: CUTLASS include/cute/layout.hpp.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tileas_xdsl.layout import int_tuple
from tileas_xdsl.layout.axes import Offset
from tileas_xdsl.layout.composed import lifted
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import is_tuple, show
from tileas_xdsl.layout.integers import Symbolic
from tileas_xdsl.layout.layout import Layout, make_layout, trusted
from tileas_xdsl.layout.operations.modes import TRIVIAL

Mode: TypeAlias = tuple[int, Offset]
"""Extent and stride of one leaf."""


def from_modes(modes: Sequence[Mode]) -> Layout:
    """The flat layout of `modes`; one mode is not wrapped, none is `1:0`."""
    if not modes:
        return TRIVIAL
    if len(modes) == 1:
        return trusted(*modes[0])
    return trusted(tuple([s for s, _ in modes]), tuple([d for _, d in modes]))


def merged(modes: Sequence[Mode]) -> list[Mode]:
    """The fewest modes that count on as `modes` do; none for a single coordinate."""
    result: list[Mode] = []
    for s, d in modes:
        if s == 1:
            continue
        if result and result[-1][0] * result[-1][1] == d:
            result[-1] = (result[-1][0] * s, result[-1][1])
        else:
            result.append((s, d))
    return result


def extended(layout: Layout) -> list[Mode]:
    """The merged modes of the same function on all integers: the last one never vanishes."""
    leaves = layout.leaves()
    if not leaves:
        return [(1, 0)]
    last_extent, last_stride = leaves[-1]
    if not isinstance(last_extent, Symbolic):
        last_extent = max(last_extent, 2)
    return merged((*leaves[:-1], (last_extent, last_stride)))


@lifted
def coalesce(layout: Layout, profile: Any = None) -> Layout:
    """The flat layout with fewest modes that is the same function on `range(size(layout))`.

    With a tuple `profile` each of its modes is coalesced on its own and further modes are kept.
    """
    if is_tuple(profile):
        return _by_profile(layout, profile, coalesce)
    return from_modes(merged(layout.leaves()))


@lifted
def filter(layout: Layout, profile: Any = None) -> Layout:
    """`layout` without its stride-0 and extent-1 modes, coalesced: the same image."""
    if is_tuple(profile):
        return _by_profile(layout, profile, filter)
    return from_modes(merged([(s, d) for s, d in layout.leaves() if d != 0]))


@lifted
def filter_zeros(layout: Layout) -> Layout:
    """`layout` with extent 1 in its stride-0 modes; the profile is kept."""
    return Layout(int_tuple.filter_zeros(layout.stride, layout.shape), layout.stride)


def _by_profile(
    layout: Layout, profile: tuple[Any, ...], simplify: Callable[[Layout, Any], Layout]
) -> Layout:
    if len(profile) > layout.rank:
        raise LayoutError(f"profile {show(profile)} has more modes than {layout}")
    modes = [simplify(mode, p) for mode, p in zip(layout, profile, strict=False)]
    return make_layout(*modes, *tuple(layout)[len(profile) :])


def same_function(a: Layout, b: Layout) -> bool:
    """Whether two layouts map every index of one size to equal offsets."""
    return a.size() == b.size() and merged(a.leaves()) == merged(b.leaves())
