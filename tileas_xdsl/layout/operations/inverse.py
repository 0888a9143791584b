"""Closed-form inverses with their image guard: how code finds what a thread or register holds.

Lowering needs, for an injective layout `f` from indices to axes (thread, value), a *section*: a
formula that gives the index back, and a guard that is true exactly on the image of `f`.  In digit
form both are free: digit k is `axis // step % extent`, and the gaps between digits must be 0.

    >>> from tileas_xdsl.layout import E, Layout
    >>> print(invert(Layout((2, 2), (E("thread", 16), E("thread", 32))), {"thread": 64}))
    i0 = thread // 16 % 2
    i1 = thread // 32
    if thread % 16 == 0
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout import int_tuple
from tileas_xdsl.layout.axes import ANONYMOUS, terms_of
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.layout import Layout, layout_for
from tileas_xdsl.layout.tables import Table


@dataclass(frozen=True, slots=True)
class Digit:
    """`axis // step % extent`: one digit of a coordinate on an axis."""

    axis: str
    step: int
    extent: int

    def read(self, points: Mapping[str, Table]) -> Table:
        """The digit of every point."""
        return points[self.axis] // self.step % self.extent

    def formula(self, bound: int | None) -> str:
        """The digit as text; no `%` where the axis ends, at `bound`, within this digit."""
        name = self.axis or "offset"
        quotient = f"{name} // {self.step}" if self.step > 1 else name
        return (
            quotient
            if bound is not None and bound <= self.step * self.extent
            else f"{quotient} % {self.extent}"
        )


@dataclass(frozen=True, slots=True)
class Section:
    """The inverse of a layout: `digits` gives back the leaf coordinates of its domain, in order.

    `guards` are digits that must be 0 and `bounds` exclusive limits of axes: a point is in the
    image exactly if all hold.  `origin` is subtracted from each axis first.  A leaf of extent 1 has
    no digit (None).
    """

    shape: tuple[int, ...]
    digits: tuple[Digit | None, ...]
    guards: tuple[Digit, ...]
    bounds: tuple[tuple[str, int], ...]
    extents: tuple[tuple[str, int], ...]

    def index(self, points: Mapping[str, Table]) -> Table:
        """The colexicographic index of every point of the image; meaningless elsewhere."""
        shape = np.broadcast_shapes(*(np.shape(p) for p in points.values()))
        result = np.zeros(shape, dtype=np.int64)
        for digit, weight in zip(self.digits, int_tuple.escan(self.shape), strict=True):
            if digit is not None:
                result = result + digit.read(points) * weight
        return result

    def guard(self, points: Mapping[str, Table]) -> NDArray[np.bool_]:
        """Whether each point is in the image."""
        inside = np.ones(np.broadcast_shapes(*(np.shape(p) for p in points.values())), dtype=bool)
        for axis, bound in self.bounds:
            inside = inside & (points[axis] < bound)
        for digit in self.guards:
            inside = inside & (digit.read(points) == 0)
        return inside

    @property
    def conditions(self) -> tuple[str, ...]:
        """The guard as text, one condition an entry; empty where every point is in the image."""
        limits = dict(self.extents)
        digits = tuple(f"{d.formula(limits.get(d.axis))} == 0" for d in self.guards)
        return (*digits, *(f"{axis or 'offset'} < {bound}" for axis, bound in self.bounds))

    def __str__(self) -> str:
        ends = {**dict(self.extents), **dict(self.bounds)}
        lines = [
            f"i{k} = {digit.formula(ends.get(digit.axis)) if digit else 0}"
            for k, digit in enumerate(self.digits)
        ]
        if self.conditions:
            lines.append(f"if {' and '.join(self.conditions)}")
        return "\n".join(lines)


def invert(layout: Layout, extents: Mapping[str, int] | None = None) -> Section:
    """The section of an injective layout whose digits do not overlap.

    `extents` are the sizes of the axes (default: as far as the layout reaches); they decide whether
    a bound is part of the guard.  Raises `LayoutError` where a leaf feeds no axis, several axes or
    steps backwards, or where digits overlap: the layout is then not injective or not digit-wise.
    """
    layout = layout_for(layout, "invert")
    spans = layout.extents()
    sizes = {axis: spans.get(axis, 1) for axis in {*spans, *(extents or {})}} | dict(extents or {})
    leaves = layout.leaves()
    digits: list[Digit | None] = [None] * len(leaves)
    for k, (extent, stride) in enumerate(leaves):
        if extent > 1:
            digits[k] = _digit_of(layout, extent, terms_of(stride))
    guards: list[Digit] = []
    bounds: list[tuple[str, int]] = []
    for axis in sorted(sizes):
        # By rising stride the digits of an axis have to fit below one another. A gap between two is
        # a coordinate that must be 0, and positions above the last one are out of bounds.
        on_axis = [digit for digit in digits if digit is not None and digit.axis == axis]
        gaps, end = _gaps(layout, sorted(on_axis, key=lambda digit: digit.step), axis)
        guards.extend(gaps)
        if end < sizes[axis]:
            bounds.append((axis, end))
    return Section(
        tuple(extent for extent, _ in leaves),
        tuple(digits),
        tuple(guards),
        tuple(bounds),
        tuple(sorted(sizes.items())),
    )


def _digit_of(layout: Layout, extent: int, terms: tuple[tuple[str, int], ...]) -> Digit:
    if len(terms) != 1:
        feeds = "no axis" if not terms else "several axes"
        raise LayoutError(
            f"{layout} has no inverse by digits: a leaf of extent {extent} feeds {feeds}"
        )
    axis, step = terms[0]
    if step < 0:
        raise LayoutError(f"{layout} has no inverse by digits: stride {step} is negative")
    return Digit(axis, step, extent)


def _gaps(layout: Layout, digits: list[Digit], axis: str) -> tuple[list[Digit], int]:
    """The complement digits below and between `digits` (sorted), and where the last one ends."""
    gaps: list[Digit] = []
    end = 1
    for digit in digits:
        if digit.step % end:
            where = f"axis '{axis}'" if axis != ANONYMOUS else "its offsets"
            raise LayoutError(
                f"{layout} has no inverse by digits: on {where} stride {digit.step} "
                f"is no multiple of {end}, where the digits below end"
            )
        if digit.step > end:
            gaps.append(Digit(axis, end, digit.step // end))
        end = digit.step * digit.extent
    return gaps, end
