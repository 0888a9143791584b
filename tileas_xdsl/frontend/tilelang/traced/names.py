"""The variables and buffers that a statement or an expression names."""

from __future__ import annotations

from collections.abc import Iterator

from tileas_xdsl.frontend.tilelang.traced.graph import Node

_FIELDS = (
    *("a", "b", "value", "condition", "true_value", "false_value", "min", "extent"),
    *("body", "then_case", "else_case", "block"),
)
_LISTS = ("seq", "args", "indices")


def operands(node: Node) -> Iterator[Node]:
    """The parts of a statement or expression, in the order in which they are evaluated."""
    if not node.kind.startswith("tirx.") or node.kind in ("tirx.StringImm", "tirx.Var"):
        return
    for name in _FIELDS:
        if (found := node.optional(name)) is not None:
            yield found
    for name in _LISTS:
        if name in node.data:
            yield from node.children(name)


def names_of(node: Node, known: dict[Node, frozenset[Node]]) -> frozenset[Node]:
    """What a statement or an expression names; `known` keeps what was found."""
    if node.kind == "tirx.Var":
        return frozenset([node])
    if node not in known:
        found = [names_of(part, known) for part in operands(node)]
        own = [node.child("buffer")] if node.kind in ("tirx.BufferLoad", "tirx.BufferStore") else []
        known[node] = frozenset(own).union(*found)
    return known[node]
