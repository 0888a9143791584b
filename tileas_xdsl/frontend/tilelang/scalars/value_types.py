"""The type of a scalar expression: `index` for integers that follow from loops and extents.

Integers of 32 and 64 bits with a variable of a loop, a block index or an extent in them are
`index`, so that layout inference sees them; those that follow from data keep their width.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute

from tileas_xdsl.frontend.tilelang.scalars.element_types import BOOLEAN, scalar_type
from tileas_xdsl.frontend.tilelang.traced.graph import Node

TypeOf: TypeAlias = Callable[[Node], Attribute]
"""The type of the value of a variable."""

_INDICES = ("int32", "int64")

_LIKE_OPERANDS = (
    *("tirx.if_then_else", "tirx.bitwise_and", "tirx.bitwise_or", "tirx.bitwise_xor"),
    *("tirx.shift_left", "tirx.shift_right"),
)
"""Calls whose result has the type of their last two operands."""


def natural_type(node: Node, variables: TypeOf) -> Attribute | None:
    """The type that a value has by itself; None for literals, which take any, and other types."""
    if node.kind == "tirx.Var":
        return variables(node)
    if node.kind == "ir.IntImm" and node.dtype != BOOLEAN:
        return None
    if node.dtype not in _INDICES:
        return scalar_type(node.dtype)
    if node.kind == "tirx.Cast":
        inner = node.child("value")
        found = natural_type(inner, variables) if inner.dtype in _INDICES else None
        return found if isinstance(found, IndexType) else scalar_type(node.dtype)
    operands = _operands(node)
    types = [natural_type(operand, variables) for operand in operands]
    if any(isinstance(type_, IndexType) for type_ in types):
        return IndexType()
    if operands and all(type_ is None for type_ in types):
        return None
    return scalar_type(node.dtype)


def _operands(node: Node) -> Sequence[Node]:
    """The operands whose type the result has."""
    if node.kind == "tirx.Select":
        return [node.child("true_value"), node.child("false_value")]
    if node.kind == "tirx.Call" and node.child("op").data in _LIKE_OPERANDS:
        return node.children("args")[-2:]
    return [node.child("a"), node.child("b")] if "b" in node.data else []


def literal_type(node: Node) -> Attribute | None:
    """The type of an integer that nothing around it gives one: those of indices are indices."""
    return IndexType() if node.dtype in _INDICES else scalar_type(node.dtype)
