"""Strides of arrays: which are those of row-major ones, whatever the extents are at run time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX

from tileas_xdsl.frontend.tilelang.traced.graph import Node

_SAMPLES = ((7, 13), (11, 101), (1009, 17))
"""Multipliers and offsets that give different values to different variables."""


def strides_of(buffer: Node) -> Sequence[int] | None:
    """The strides in elements, dynamic ones as `DYNAMIC_INDEX`; None for a row-major array.

    Strides that are expressions are compared by evaluating them for several values of their
    variables.
    """
    strides, shape = buffer.children("strides"), buffer.children("shape")
    if not strides or all(_is_row_major(strides, shape, sample) for sample in _SAMPLES):
        return None
    return [DYNAMIC_INDEX if s.constant is None else s.constant for s in strides]


def _is_row_major(strides: Sequence[Node], shape: Sequence[Node], sample: tuple[int, int]) -> bool:
    values: dict[Node, int] = {}
    extents = [_value(extent, values, sample) for extent in shape]
    given = [_value(stride, values, sample) for stride in strides]
    known = [n for n in extents if n is not None]
    if len(known) != len(extents):
        return False
    wanted = [prod(known[axis + 1 :]) for axis in range(len(known))]
    return given == wanted


_OPERATIONS: Mapping[str, str] = {
    "tirx.Add": "__add__",
    "tirx.Sub": "__sub__",
    "tirx.Mul": "__mul__",
    "tirx.FloorDiv": "__floordiv__",
    "tirx.FloorMod": "__mod__",
}


def _value(node: Node, values: dict[Node, int], sample: tuple[int, int]) -> int | None:
    """The value of an expression where each variable has one of its own."""
    if node.constant is not None:
        return node.constant
    if node.kind == "tirx.Var":
        factor, start = sample
        return values.setdefault(node, start + factor * (len(values) + 1))
    if node.kind == "tirx.Cast":
        return _value(node.child("value"), values, sample)
    operation = _OPERATIONS.get(node.kind)
    if operation is None:
        return None
    sides = [_value(node.child(side), values, sample) for side in "ab"]
    if sides[0] is None or sides[1] is None:
        return None
    return int(getattr(sides[0], operation)(sides[1]))
