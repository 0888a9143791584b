"""What operations ask of their operands in the algebra."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tileas_xdsl.dialects.cute.base.symbolic_values import Number, Tile, Tree, View, type_of
from tileas_xdsl.layout import AxisSum, ComposedLayout, Layout
from tileas_xdsl.layout.composed import innermost
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.expr.expression import Expression
from tileas_xdsl.layout.int_tuple import flat, is_tuple

AnyLayout: TypeAlias = Layout | ComposedLayout


def tree_of(value: Any, what: str) -> Any:
    """The tuple that a value is; an integer is a leaf."""
    if isinstance(value, Tree):
        return value.tree
    if isinstance(value, Number):
        return value.number
    raise LayoutError(f"{what} is a tuple of integers, not {type_of(value)}")


def numbers_of(value: Any, what: str) -> Any:
    """As `tree_of`, of integers only: no underscores and no multiples of basis vectors."""
    tree = tree_of(value, what)
    for leaf in flat(tree):
        if not isinstance(leaf, (int, Expression)):
            raise LayoutError(f"{what} has integers, not {type_of(value)}")
    return tree


def extents_of(value: Any, what: str) -> Any:
    """As `numbers_of`, of extents: those that are known are at least 1."""
    tree = numbers_of(value, what)
    if any(isinstance(leaf, int) and leaf < 1 for leaf in flat(tree)):
        raise LayoutError(f"{what} has extents of at least 1, not {type_of(value)}")
    return tree


def layout_of(value: Any) -> AnyLayout | None:
    """The layout that a value is or has; None for any other."""
    if isinstance(value, (Layout, ComposedLayout)):
        return value
    return value.layout if isinstance(value, View) else None


def with_layout(value: Any, layout: AnyLayout) -> Any:
    """The value with another layout: a view keeps its iterator."""
    return View(value.iterator, layout) if isinstance(value, View) else layout


def on_layout(value: Any, f: Callable[[Any], Any]) -> Any:
    """`f` of a layout, or of the layout of a view."""
    layout = layout_of(value)
    if layout is None:
        raise LayoutError(f"expected a layout or a view, not {type_of(value)}")
    return with_layout(value, f(layout))


def shape_of(value: Any) -> Any:
    """The shape of a layout or view, or the tuple itself."""
    layout = layout_of(value)
    return layout.shape if layout is not None else extents_of(value, "a shape")


def tiler_of(value: Any) -> Any:
    """A tiler as the layout package takes it: a layout, or mode by mode for a tile or a shape."""
    if isinstance(value, Tile):
        return value.modes
    if isinstance(value, Tree):
        return extents_of(value, "a tiler")
    return value


def is_static(tree: Any) -> bool:
    """Whether no number of a tree is known at run time only."""
    return not any(_is_dynamic(leaf) for leaf in flat(tree))


def _is_dynamic(leaf: Any) -> bool:
    if isinstance(leaf, AxisSum):
        return any(isinstance(k, Expression) for _, k in leaf.terms)
    return isinstance(leaf, Expression)


def has_bases(tree: Any) -> bool:
    """Whether a leaf is a multiple of a basis vector."""
    return any(isinstance(leaf, AxisSum) for leaf in flat(tree))


def has_static_shape(layout: AnyLayout) -> bool:
    """Whether all extents are known."""
    return is_static(layout.shape)


def is_static_layout(layout: AnyLayout) -> bool:
    """Whether all extents and strides are known."""
    plain = innermost(layout)
    return is_static(plain.shape) and is_static(plain.stride)


def at(tree: Any, path: Sequence[int]) -> Any:
    """The part of a tuple, layout or tile at a path of modes; `IndexError` if there is none."""
    for mode in path:
        if is_tuple(tree) or isinstance(tree, (Layout, ComposedLayout)):
            if not 0 <= mode < len(tree):
                raise IndexError(mode)
            tree = tree[mode]
        elif mode != 0:
            raise IndexError(mode)
    return tree
