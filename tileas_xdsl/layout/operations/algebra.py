"""Complements, inverses, kernels and common parts of layouts.

Each function states the post-condition that its tests check.  `L(i)` is the offset of the i-th
coordinate in colexicographic order.  Source: CUTLASS include/cute/layout.hpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import gcd
from typing import Any, NamedTuple

import numpy as np

from tileas_xdsl.layout import int_tuple
from tileas_xdsl.layout.axes import ANONYMOUS, AxisSum, Offset, coefficient_of, terms_of
from tileas_xdsl.layout.composed import AnyLayout, ComposedLayout, innermost
from tileas_xdsl.layout.errors import CompositionError, LayoutError
from tileas_xdsl.layout.int_tuple import IntTuple, ceil_div, is_tuple, product, show
from tileas_xdsl.layout.layout import Layout, as_layout, layout_for, make_layout
from tileas_xdsl.layout.operations.compose import composition
from tileas_xdsl.layout.operations.modes import TRIVIAL
from tileas_xdsl.layout.operations.simplify import Mode, coalesce, filter, from_modes, merged


def complement(layout: AnyLayout | IntTuple, max_idx: Any = None) -> Layout:
    """An increasing layout whose offsets, but for 0, miss those of `layout`, up to `max_idx`.

    Where strides divide one another `size(R) >= size(max_idx) / size(filter(layout))`.  `max_idx`
    (CuTe's cotarget) is a size, a shape or a layout, by default the cosize of `layout`; the last
    modes of `R` divide a shape from the left, and a shape that they would not cover is refused.
    Integer strides, not negative; the digits of `layout` must not overlap, but for stride-0 modes.

    Of a composed layout it is the complement of the plain layout inside, as in CuTe: its offsets
    are those before what is composed outside.
    """
    layout = as_layout(innermost(layout))
    if max_idx is None:
        max_idx = filter(layout).cosize()
    target = max_idx.shape if isinstance(max_idx, (Layout, ComposedLayout)) else max_idx
    result: list[Mode] = []
    current = 1
    for d, s in sorted((_positive(d, layout), s) for s, d in filter(layout).leaves() if s > 1):
        if d < current:
            raise LayoutError(
                f"{layout} has no complement: its digits overlap, "
                f"stride {d} lies below {current}, where the digits of smaller strides end"
            )
        result.append((d // current, current))
        current = s * d
    rest = ceil_div(target, current)
    if is_tuple(target) and product(rest) * current < product(target):
        raise LayoutError(
            f"{layout} has no complement up to {show(target)}: {current} does not divide it mode "
            f"by mode, {product(rest) * current} of {product(target)} offsets would be covered"
        )
    strides = int_tuple.prefix_product(rest, current)
    result.extend(zip(int_tuple.flat(rest), int_tuple.flat(strides), strict=True))
    return from_modes(merged(result))


def _positive(d: Offset, layout: Layout) -> int:
    if isinstance(d, AxisSum):
        raise LayoutError(f"{layout} has named axes: take its complement along one axis")
    if d < 0:
        raise LayoutError(f"{layout} has no complement: stride {d} is negative")
    return d


class _AxisMode(NamedTuple):
    """A digit of the domain that moves along an axis."""

    step: int
    """How far it moves along that axis."""
    extent: int
    weight: int
    """What one step of the digit counts in the domain index."""
    pure: bool
    """Whether it moves along no other axis."""


def _axis_modes(layout: Layout, axis: str) -> list[_AxisMode]:
    """The merged modes of `layout` that move along `axis`, smallest step first."""
    modes = merged(layout.leaves())
    weights = int_tuple.escan([s for s, _ in modes])
    found = [
        _AxisMode(coefficient_of(d, axis), s, weight, len(terms_of(d)) == 1)
        for (s, d), weight in zip(modes, weights, strict=True)
        if coefficient_of(d, axis)
    ]
    return sorted(found, key=lambda mode: abs(mode.step))


def _inverse_axes(layout: Layout, axes: Sequence[str] | None) -> tuple[str, ...]:
    if axes is None:
        return layout.axes() or (ANONYMOUS,)
    missing = set(layout.axes()) - set(axes)
    if missing:
        raise LayoutError(
            f"the inverse of {layout} needs its axes {', '.join(sorted(missing))} too"
        )
    return tuple(axes)


def right_inverse(layout: Any, axes: Sequence[str] | None = None) -> Any:
    """The largest layout `R` that this method finds with `layout(R(i)) == i` for all i.

    With named axes `R` has one mode per axis, in the order of `axes` (default: of appearance), and
    `layout(R(c))` is `c` on every axis.  The chain of strides ends where signs change; with several
    axes where a stride is negative, since an index below zero would move along other modes too.
    """
    if layout is None:
        return None
    if isinstance(layout, ComposedLayout):
        return _right_inverse_composed(layout)
    layout = as_layout(layout)
    names = _inverse_axes(layout, axes)
    sign = 1 if len(names) > 1 else 0
    return unwrap_single([_right_inverse_on(layout, axis, sign) for axis in names])


def _right_inverse_on(layout: Layout, axis: str, sign: int) -> Layout:
    """The inverse along one axis; strides have the sign, or all the same one if it is 0."""
    result: list[Mode] = []
    current = 1
    for mode in _axis_modes(layout, axis):
        if abs(mode.step) < current:
            continue
        if abs(mode.step) > current or mode.step * sign < 0 or not mode.pure:
            break
        sign = int_tuple.signum(mode.step)
        result.append((mode.extent, sign * mode.weight))
        current *= mode.extent
    return from_modes(merged(result))


def unwrap_single(modes: list[Layout]) -> Layout:
    """The only layout of a list of one, else all of them as modes."""
    return modes[0] if len(modes) == 1 else make_layout(modes)


def left_inverse(layout: Any, axes: Sequence[str] | None = None) -> Any:
    """A layout `R` with `R(layout(i)) == i` for all i; `layout` must be injective.

    With named axes `R` takes one coordinate per axis, as `right_inverse`.  Between strides `R`
    counts on, as in CuTe: `left_inverse((2,3):(1,8))` is `(8,3):(1,2)`.
    """
    if layout is None:
        return None
    if isinstance(layout, ComposedLayout):
        return _undone(layout, left_inverse(_plain_inner(layout)), layout.cosize())
    layout = as_layout(layout)
    names = _inverse_axes(layout, axes)
    for s, d in merged(layout.leaves()):
        if len(terms_of(d)) != 1:
            raise LayoutError(
                f"{layout} has no left inverse: extent {s} with stride {d} feeds "
                f"{'no axis' if d == 0 else 'several axes'}"
            )
    return unwrap_single([_left_inverse_on(layout, axis) for axis in names])


def _left_inverse_on(layout: Layout, axis: str) -> Layout:
    modes = _axis_modes(layout, axis)
    if not modes:
        return TRIVIAL
    sign = int_tuple.signum(modes[0].step)
    if any(mode.step * sign < 0 for mode in modes):
        raise LayoutError(f"{layout} has no left inverse as a layout: its strides change sign")
    result: list[Mode] = [(abs(modes[0].step), 0)]
    for mode, following in pairwise(modes):
        if abs(mode.step) * mode.extent > abs(following.step):
            raise LayoutError(
                f"{layout} has no left inverse as a layout: "
                f"strides {mode.step} and {following.step} overlap"
            )
        if following.step % mode.step:
            raise LayoutError(
                f"{layout} has no left inverse as a layout: "
                f"stride {mode.step} does not divide {following.step}"
            )
        result.append((following.step // mode.step, sign * mode.weight))
    result.append((modes[-1].extent, sign * modes[-1].weight))
    return from_modes(merged(result))


def _plain_inner(layout: ComposedLayout) -> Layout:
    if isinstance(layout.inner, ComposedLayout):
        raise LayoutError(f"{layout} is composed twice: invert it in two steps")
    return layout.inner


def _undone(layout: ComposedLayout, inverse: Layout, size: int) -> ComposedLayout:
    """`inverse(unswizzle(i) - offset)` for i < `size`; a swizzle is its own inverse."""
    return ComposedLayout(inverse, -layout.offset, ComposedLayout(layout.swizzle, 0, Layout(size)))


def _right_inverse_composed(layout: ComposedLayout) -> ComposedLayout:
    inverse = right_inverse(_plain_inner(layout))
    reached = layout.swizzle(np.arange(inverse.size(), dtype=np.int64)) - layout.offset
    misses = np.flatnonzero((reached < 0) | (reached >= inverse.size()))
    size = int(misses[0]) if misses.size else inverse.size()
    if size == 0:
        raise LayoutError(f"{layout} has no right inverse: it does not reach offset 0")
    return _undone(layout, inverse, size)


def nullspace(layout: Layout | IntTuple) -> Layout:
    """The layout `R` of all domain indices of stride-0 modes: `layout(R(i)) == 0`.

    `size(R) == size(layout) / size(filter_zeros(layout))`.
    """
    leaves = layout_for(layout, "nullspace").leaves()
    rstrides = int_tuple.escan([s for s, _ in leaves])
    return from_modes([(s, r) for (s, d), r in zip(leaves, rstrides, strict=True) if d == 0])


# What two layouts share


def _common_prefix(a: Any, b: Any, operation: str) -> tuple[Layout, int]:
    a, b = layout_for(a, operation), layout_for(b, operation)
    inverse: Layout = right_inverse(b)
    try:
        composed: Layout = composition(a, inverse)
    except CompositionError:
        return inverse, 1
    common = coalesce(composed)
    extent, stride = common.leaves()[0]
    return inverse, extent if stride == 1 else 1


def max_common_layout(a: Layout, b: Layout) -> Layout:
    """The longest `R` found with `a(R(i)) == i` and `b(R(i)) == i` for all i."""
    inverse, extent = _common_prefix(a, b, "max_common_layout")
    return composition(inverse, Layout(extent)) if extent > 1 else TRIVIAL


def max_common_vector(a: Layout, b: Layout) -> int:
    """How many elements from offset 0 on are contiguous and the same in both layouts."""
    return _common_prefix(a, b, "max_common_vector")[1]


def domain_distribute(shape: IntTuple, count: int) -> Layout:
    """A layout of up to `count` indices spread over `shape` so that it divides the shape evenly."""
    flat_shape = int_tuple.flat(shape)
    result: list[int] = []
    for s in flat_shape:
        part = gcd(s, count)
        result.append(part)
        count //= part
    return coalesce(Layout(tuple(result), int_tuple.escan(flat_shape)))
