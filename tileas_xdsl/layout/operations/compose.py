"""Functional composition of layouts, refused where the result is not a layout.

Each leaf `extent:stride` of the right layout walks the merged modes of the left one: whole modes
are stepped past, the rest of the stride steps inside a mode, and the elements are taken from there
on.  Leaves are independent only while their digits never carry from one mode into the next, which
is checked too (CuTe leaves it to the caller).

Source: CUTLASS include/cute/layout.hpp (composition), media/docs/cpp/cute/02_layout_algebra.md.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, NamedTuple

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout import int_tuple
from tileas_xdsl.layout.axes import AxisSum, Offset, mode_path
from tileas_xdsl.layout.composed import AnyLayout, ComposedLayout
from tileas_xdsl.layout.errors import CompositionError, LayoutError
from tileas_xdsl.layout.int_tuple import IntTuple, is_tuple, show
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.layout import Layout, as_layout, make_layout
from tileas_xdsl.layout.operations.simplify import Mode, extended, from_modes, merged
from tileas_xdsl.layout.swizzle import Swizzle


def composition(a: Any, b: Any) -> Any:
    """The layout `R` with `R(i) == a(b(i))` for all i, compatible with `b`.

    `b` is a layout, an integer (that many first elements), a tuple (mode by mode; modes of `a` that
    it does not name are dropped, as in CuTe) or None (all of `a`).  Strides of `b` may be
    coordinates (`2@1`): they walk the mode of `a` that they name.  With a `Swizzle` on the left or
    a composed layout on the right the result is a `ComposedLayout`.

    Raises `CompositionError` where the composition is no layout.
    """
    if isinstance(a, Swizzle) or isinstance(b, ComposedLayout):
        return ComposedLayout(a, 0, b)
    if isinstance(a, ComposedLayout):
        return ComposedLayout(a.outer, a.offset, composition(a.inner, b))
    return _compose(a, b)


def _compose(a: Layout, b: Any) -> Layout:
    if b is None:
        return a
    if is_tuple(b):
        if len(b) > a.rank:
            raise LayoutError(f"cannot compose {a} by {show(b)}: the tiler has more modes")
        return make_layout(_compose(mode, tile) for mode, tile in zip(a, b, strict=False))
    composer = _Composer(a, tile_layout(b))
    result = composer.tree(composer.b.shape, composer.b.stride)
    composer.check_carries()
    return result


def tile_layout(b: Any) -> Layout:
    """A tiler as a layout: an integer 1 has stride 0, as CuTe's compact strides have it."""
    return Layout(1, 0) if isinstance(b, int) and b == 1 else as_layout(b)


class _Digit(NamedTuple):
    """Part of a leaf of the right layout: it steps along one mode of the left layout."""

    mode: int
    extent: int
    step: int


@dataclass
class _Composer:
    """One composition; `walks` remembers the digits that each mode of `a` has been walked with."""

    a: Layout
    b: Layout
    walks: dict[tuple[int, ...], _Walk] = field(default_factory=dict[tuple[int, ...], "_Walk"])

    def tree(self, shape: Any, stride: Any) -> Layout:
        if is_tuple(shape):
            return make_layout([self.tree(s, d) for s, d in zip(shape, stride, strict=True)])
        if isinstance(stride, AxisSum):
            return self.coordinate(shape, stride)
        if shape == 1:
            return from_modes(self.leaf((), shape, stride))
        return from_modes(merged(self.leaf((), shape, stride)))

    def coordinate(self, extent: int, stride: AxisSum) -> Layout:
        parts = [self.leaf(self.path(axis), extent, k) for axis, k in stride.terms]
        shapes = {tuple(s for s, _ in part) for part in parts}
        if len(shapes) != 1:
            raise LayoutError(
                f"cannot compose {self.a} with {self.b}: the sum of coordinates {stride} walks "
                f"modes of unlike shapes {', '.join(sorted(show(s) for s in shapes))}"
            )
        columns = zip(*parts, strict=True)
        return from_modes(merged([(ms[0][0], sum(d for _, d in ms)) for ms in columns]))

    def path(self, axis: str) -> tuple[int, ...]:
        path = mode_path(axis)
        if path is None:
            raise LayoutError(
                f"cannot compose {self.a} with {self.b}: "
                f"axis '{axis}' is not a mode of the left layout"
            )
        return path

    def leaf(self, path: tuple[int, ...], extent: int, stride: int) -> list[Mode]:
        if path not in self.walks:
            self.walks[path] = _Walk(self.mode_at(path), self.b)
        return self.walks[path].leaf(extent, stride)

    def mode_at(self, path: tuple[int, ...]) -> Layout:
        mode = self.a
        for i in path:
            if i >= mode.rank:
                raise LayoutError(f"cannot compose {self.a} with {self.b}: {mode} has no mode {i}")
            mode = mode[i]
        return mode

    def check_carries(self) -> None:
        for walk in self.walks.values():
            walk.check_carries()


class _Walk:
    """All leaves of the right layout that walk one left layout."""

    def __init__(self, left: Layout, right: Layout) -> None:
        self.left = left
        self.right = right
        self.modes = extended(left)
        self.digits: list[_Digit] = []

    def leaf(self, extent: int, stride: int) -> list[Mode]:
        """The modes of the composition with `extent:stride`."""
        if stride == 0:
            return [(extent, 0)]
        if extent == 1:
            return [(1, self.unit_stride(stride))]
        sign = int_tuple.signum(stride)
        digits = [
            _Digit(mode, extent, sign * step)
            for mode, extent, step in self.walk(extent, abs(stride))
        ]
        self.digits.extend(digits)
        return [(digit.extent, digit.step * self.modes[digit.mode][1]) for digit in digits]

    def unit_stride(self, stride: int) -> Offset:
        """The stride of one element, of which no offset depends, as CuTe's walk leaves it."""
        sign = int_tuple.signum(stride)
        rest = abs(stride)
        for available, _ in self.modes[:-1]:
            rest = ceil_div(rest, available)
        return sign * rest * self.modes[-1][1]

    def walk(self, extent: int, stride: int) -> list[_Digit]:
        first, last = 0, len(self.modes) - 1
        while first < last and stride % self.modes[first][0] == 0:
            stride //= self.modes[first][0]
            first += 1
        available = self.modes[first][0]
        if first == last or (available % stride and (extent - 1) * stride < available):
            return [_Digit(first, extent, stride)]
        if available % stride:
            raise self.error("stride", first, (available, stride))
        return self.take(extent, first, stride)

    def take(self, extent: int, first: int, step: int) -> list[_Digit]:
        """The first `extent` elements from mode `first` on, every `step`-th of that mode."""
        result: list[_Digit] = []
        for mode in range(first, len(self.modes) - 1):
            available = self.modes[mode][0] // step
            if extent <= available:
                break
            if extent % available:
                raise self.error("shape", mode, (extent, available))
            if available > 1:
                result.append(_Digit(mode, available, step))
            extent //= available
            step = 1
        else:
            mode = len(self.modes) - 1
        return [*result, _Digit(mode, extent, step)]

    def check_carries(self) -> None:
        """Refuse digits that add up past the extent of a mode, or step both ways."""
        if len(self.modes) == 1:
            return
        reach: dict[int, int] = {}
        for digit in self.digits:
            reach[digit.mode] = reach.get(digit.mode, 0) + (digit.extent - 1) * abs(digit.step)
        for mode, furthest in sorted(reach.items()):
            if mode < len(self.modes) - 1 and furthest >= self.modes[mode][0]:
                raise self.error("carry", mode, (furthest, self.modes[mode][0]))
        signs = {int_tuple.signum(digit.step) for digit in self.digits}
        if len(signs) > 1 and len(reach) > 1:
            raise LayoutError(
                f"cannot compose {self.left} with {self.right}: its strides step both ways through "
                f"more than one mode of {from_modes(self.modes)}"
            )

    def error(self, condition: str, mode: int, numbers: tuple[int, int]) -> CompositionError:
        coalesced = from_modes(self.modes)
        subject = f"mode {mode} of {coalesced}"
        if coalesced != self.left:
            subject += f" (that is {self.left}, coalesced)"
        one, other = numbers
        reason = {
            "stride": f"stride divisibility at {subject}: "
            f"its extent {one} and the step {other} do not divide one another",
            "shape": f"shape divisibility at {subject}: "
            f"the {one} elements left are no multiple of its extent {other}",
            "carry": f"carry at {subject}: the digits of the right layout add up to {one}, "
            f"past its extent {other}",
        }[condition]
        message = f"cannot compose {self.left} with {self.right}: {reason}"
        return CompositionError(message, condition, mode, numbers)


def with_shape(layout: AnyLayout, shape: IntTuple) -> Any:
    """`layout` read with the coordinates of another shape of the same size."""
    return composition(layout, Layout(shape))
