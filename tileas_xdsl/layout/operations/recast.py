"""Layouts read in wider or narrower elements.  Source: CUTLASS include/cute/layout.hpp."""

from __future__ import annotations

from collections.abc import Callable
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

    The swizzle of a composed layout moves along.  Raises `LayoutError` when no mode is contiguous.
    """
    if n < 1:
        raise LayoutError(f"downcast: an element does not have {n} parts")
    if isinstance(layout, ComposedLayout):
        return _recast_composed(layout, n, 1)
    return _down(layout, n)


def _down(layout: Any, n: int) -> Layout:
    layout = as_layout(layout)
    if n > 1 and not any(d in (1, -1) for _, d in layout.leaves()):
        raise LayoutError(f"downcast of {layout}: no mode has adjacent elements")

    def leaf(s: int, d: Any) -> tuple[Any, Any]:
        return (s * n, d) if d in (1, -1) else (s, d * n)

    return _map(layout, leaf)


def recast_layout(layout: Any, old_bits: int, new_bits: int) -> Any:
    """`layout`, which counts elements of `old_bits`, counting elements of `new_bits`.

    The swizzle of a composed layout moves along: it permutes the same bits of the address.
    """
    if isinstance(layout, ComposedLayout):
        return _recast_composed(layout, old_bits, new_bits)
    if new_bits == old_bits:
        return layout
    if new_bits % old_bits == 0:
        return _up(layout, new_bits // old_bits)
    if old_bits % new_bits == 0:
        return _down(layout, old_bits // new_bits)
    raise LayoutError(f"cannot recast {layout} from {old_bits}-bit to {new_bits}-bit elements")


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
