"""Compact layouts of the shape of another: for a copy, and for one in registers.

Source: CUTLASS include/cute/layout.hpp, `make_layout_like` and `make_fragment_like`.
"""

from __future__ import annotations

from typing import Any

from tileas_xdsl.layout import int_tuple
from tileas_xdsl.layout.axes import AxisSum, Offset
from tileas_xdsl.layout.composed import innermost
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import is_tuple
from tileas_xdsl.layout.layout import Layout, as_layout, layout_for, make_layout, map_leaves


def make_layout_like(layout: Layout) -> Layout:
    """A compact layout of the same shape whose modes keep their order; stride-0 modes stay 0."""
    layout = layout_for(layout, "make_layout_like")
    filtered = int_tuple.filter_zeros(layout.stride, layout.shape)
    flat_shape = int_tuple.flat(filtered)
    flat_stride = [abs(_plain(d)) for d in int_tuple.flat(layout.stride)]
    strides = [0] * len(flat_shape)
    current = 1
    for k in sorted(range(len(flat_shape)), key=lambda k: flat_stride[k]):
        if flat_shape[k] > 1:
            strides[k] = current
            current *= flat_shape[k]
    remaining = iter(strides)
    return Layout(layout.shape, map_leaves(lambda _: next(remaining), layout.stride))


def make_fragment_like(layout: Any) -> Layout:
    """A compact layout for a register copy of `layout`: mode 0 is contiguous, the rest in order.

    What is composed outside stays in memory: registers are not swizzled.
    """
    layout = as_layout(innermost(layout))
    if layout.rank <= 1 or layout.depth == 0:
        return make_layout_like(layout)
    first, *others = layout
    kept = Layout(int_tuple.filter_zeros(first.stride, first.shape))
    head = Layout(first.shape, _zero_where(first.stride, kept.stride))
    rest = make_layout_like(make_layout(others))
    return make_layout(head, *(_scaled(mode, kept.size()) for mode in rest))


def _scaled(layout: Layout, factor: int) -> Layout:
    return Layout(layout.shape, map_leaves(lambda d: d * factor, layout.stride))


def _zero_where(stride: Any, replacement: Any) -> Any:
    if is_tuple(stride):
        return tuple(_zero_where(d, r) for d, r in zip(stride, replacement, strict=True))
    return 0 if stride == 0 else replacement


def _plain(d: Offset) -> int:
    if isinstance(d, AxisSum):
        raise LayoutError(f"stride {d} has named axes where an integer is needed")
    return d


# Queries under CuTe's names: of layouts as of shapes
