"""Layouts made of digits: extents with their strides, lowest first, over one or all coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeAlias

from tileas_xdsl.layout.axes import Offset
from tileas_xdsl.layout.layout import Layout, make_layout
from tileas_xdsl.layout.operations.compose import composition
from tileas_xdsl.layout.operations.simplify import coalesce, from_modes, merged

Digit: TypeAlias = tuple[int, Offset]
"""Extent and stride of a digit."""


def layout_of_line(digits: Sequence[Digit], shape: tuple[int, ...]) -> Layout:
    """The layout of a tile by the digits of the row-major position of an element.

    >>> str(layout_of_line([(2, 1), (8, 4)], (4, 4)))
    '(4,(2,2)):(8,(1,4))'
    """
    line = from_modes(merged(digits))
    steps = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    modes: list[Layout] = [
        coalesce(composition(line, Layout(extent, step)))
        for extent, step in zip(shape, steps, strict=True)
    ]
    return make_layout(*modes) if modes else Layout((), ())


def layout_of_modes(*modes: Sequence[Digit]) -> Layout:
    """The layout whose coordinates have these digits each."""
    return make_layout(*(from_modes(merged(mode)) for mode in modes))


def with_replicas(layout: Layout, digits: Sequence[Digit]) -> Layout:
    """A layout with a last mode that counts the copies of each element, if there are several."""
    replicas = from_modes(merged(digits))
    return layout if replicas.size() == 1 else make_layout(*layout, replicas)
