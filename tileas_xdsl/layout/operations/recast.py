"""Layouts read in wider or narrower elements (CuTe `upcast`, `downcast`, `recast_layout`).

A contiguous mode changes its extent, every other mode its stride. Two f16 as one 32-bit word, and
12 elements of 16 bits as 24-bit ones:

>>> print(upcast(Layout((8, 4), (1, 8)), 2))
(4,4):(1,4)
>>> print(downcast(Layout((8, 4), (1, 8)), 2))
(16,4):(1,16)
>>> print(recast_layout(Layout(12, 1), 16, 24))
8:1

Source: CUTLASS `include/cute/layout.hpp`. What CuTe asserts is raised as `LayoutError` here.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import Any, overload

from tileas_xdsl.layout.axes import AxisSum
from tileas_xdsl.layout.composed import AnyLayout, ComposedLayout
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import is_tuple, product, shape_div
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.layout import Layout, as_layout


def _map(layout: Layout, f: Callable[[int, Any], tuple[Any, Any]]) -> Layout:
    def tree(s: Any, d: Any) -> tuple[Any, Any]:
        if not is_tuple(s):
            return f(s, d)
        pairs = [tree(x, y) for x, y in zip(s, d, strict=True)]
        return tuple(p[0] for p in pairs), tuple(p[1] for p in pairs)

    return Layout(*tree(layout.shape, layout.stride))


@overload
def upcast(layout: Layout, n: int) -> Layout: ...
@overload
def upcast(layout: ComposedLayout, n: int) -> ComposedLayout: ...
def upcast(layout: AnyLayout, n: int) -> AnyLayout:
    """Count in vectors of `n` elements: contiguous modes shrink, other strides shrink.

    The swizzle of a composed layout moves along.  Raises `LayoutError` when an extent, a stride or
    an offset is no multiple or divisor of `n`.
    """
    if n < 1:
        raise LayoutError(f"upcast: {n} elements are no vector")
    return _recast_composed(layout, 1, n) if isinstance(layout, ComposedLayout) else _up(layout, n)


def _up(layout: Any, n: int) -> Layout:
    layout = as_layout(layout)

    def leaf(s: int, d: Any) -> tuple[Any, Any]:
        if d == 0:
            return s, d
        if isinstance(d, AxisSum):
            raise LayoutError(f"upcast: stride {d} of {layout} has named axes")
        if n % abs(d) and abs(d) % n:
            raise LayoutError(
                f"upcast of {layout}: neither of stride {d} and {n} divides the other"
            )
        per_vector = product(shape_div(n, abs(d)))
        if s % per_vector and per_vector % s:
            raise LayoutError(
                f"upcast of {layout}: neither of extent {s} and {per_vector} divides the other"
            )
        return ceil_div(s, per_vector), (1 if d > 0 else -1) * product(shape_div(abs(d), n))

    return _map(layout, leaf)


@overload
def downcast(layout: Layout, n: int) -> Layout: ...
@overload
def downcast(layout: ComposedLayout, n: int) -> ComposedLayout: ...
def downcast(layout: AnyLayout, n: int) -> AnyLayout:
    """Count in `n`-ths of an element: contiguous modes grow, other strides grow.

    Where no mode is contiguous, each element is seen by its first part, as in CuTe.  The swizzle of
    a composed layout moves along.
    """
    if n < 1:
        raise LayoutError(f"downcast: an element does not have {n} parts")
    if isinstance(layout, ComposedLayout):
        return _recast_composed(layout, n, 1)
    return _down(layout, n)


def _down(layout: Any, n: int) -> Layout:
    def leaf(s: int, d: Any) -> tuple[Any, Any]:
        return (s * n, d) if d in (1, -1) else (s, d * n)

    return _map(as_layout(layout), leaf)


def recast_layout(layout: Any, old_bits: int, new_bits: int) -> Any:
    """`layout`, which counts elements of `old_bits`, counting elements of `new_bits`.

    Where neither width is a multiple of the other, elements are joined until their width is a
    multiple of both, then divided: 16 to 24 bits is three to one, and one to two.  The swizzle of
    a composed layout moves along: it permutes the same bits of the address.

    Raises `LayoutError` when elements cannot be joined.
    """
    if isinstance(layout, ComposedLayout):
        return _recast_composed(layout, old_bits, new_bits)
    common = gcd(old_bits, new_bits)
    joined, parts = new_bits // common, old_bits // common
    if joined > 1:
        layout = _up(layout, joined)
    return layout if parts == 1 else _down(layout, parts)


def _recast_composed(layout: ComposedLayout, old_bits: int, new_bits: int) -> ComposedLayout:
    if layout.offset * old_bits % new_bits:
        raise LayoutError(
            f"the offset of {layout}, {layout.offset * old_bits} bits, "
            f"is no multiple of {new_bits} bits"
        )
    return ComposedLayout(
        layout.swizzle.recast(old_bits, new_bits),
        layout.offset * old_bits // new_bits,
        recast_layout(layout.inner, old_bits, new_bits),
    )
