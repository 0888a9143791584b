"""The least and the largest value of an index, from the extents of loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import TypeAlias

from tileas_xdsl.frontend.tilelang.traced.graph import Node

Range: TypeAlias = tuple[int, int]

_CORNERS: Mapping[str, Callable[[int, int], int]] = {
    "tirx.Add": lambda a, b: a + b,
    "tirx.Sub": lambda a, b: a - b,
    "tirx.Mul": lambda a, b: a * b,
    "tirx.Min": min,
    "tirx.Max": max,
}
"""Operations whose extremes are among those of the ends of their operands."""


def range_of(node: Node, extents: Mapping[Node, range]) -> Range | None:
    """The range of an integer; None where it depends on data or on dynamic extents."""
    if (number := node.constant) is not None:
        return number, number
    if node.kind == "tirx.Var":
        values = extents.get(node)
        return None if not values else (values[0], values[-1])
    if not node.kind.startswith("tirx.") or "b" not in node.data:
        return None
    sides = [range_of(node.child(side), extents) for side in "ab"]
    if sides[0] is None or sides[1] is None:
        return None
    return _combined(node.kind, sides[0], sides[1])


def _combined(kind: str, left: Range, right: Range) -> Range | None:
    if kind in _CORNERS:
        corners = [_CORNERS[kind](a, b) for a, b in product(left, right)]
        return min(corners), max(corners)
    if right[0] != right[1] or right[0] < 1:
        return None
    if kind == "tirx.FloorDiv":
        return left[0] // right[0], left[1] // right[0]
    return (0, right[0] - 1) if kind == "tirx.FloorMod" else None
