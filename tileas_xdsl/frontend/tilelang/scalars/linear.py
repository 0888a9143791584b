"""Integers as sums of multiples, so that `(H + 64) - H` is the constant 64."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from tileas_xdsl.frontend.tilelang.traced.graph import Node

Sum: TypeAlias = Counter[str]
"""Coefficients by the text of an expression; the constant stands at `""`."""


def constant_of(node: Node, bound: Mapping[Node, Node]) -> int | None:
    """The value of an integer that no variable changes; `bound` has the values of names."""
    terms = sum_of(node, bound)
    varies = any(factor for name, factor in terms.items() if name)
    return None if varies else terms[""]


def sum_of(node: Node, bound: Mapping[Node, Node]) -> Sum:
    """The terms of an integer."""
    if (number := node.constant) is not None:
        return Counter({"": number})
    if node.kind == "tirx.Var" and node in bound:
        return sum_of(bound[node], bound)
    if node.kind in ("tirx.Add", "tirx.Sub"):
        total = sum_of(node.child("a"), bound)
        sign = 1 if node.kind == "tirx.Add" else -1
        for name, factor in sum_of(node.child("b"), bound).items():
            total[name] += sign * factor
        return total
    if node.kind == "tirx.Mul":
        sides = [sum_of(node.child(side), bound) for side in "ab"]
        for terms, other in (sides, sides[::-1]):
            if set(other) == {""}:
                return Counter({name: factor * other[""] for name, factor in terms.items()})
    return Counter({_text(node): 1})


def texts_of(nodes: Sequence[Node]) -> str:
    """Return texts of expressions, equal for lists of equal ones."""
    return json.dumps([_text_or_number(node) for node in nodes])


def _text(node: Node) -> str:
    """The same text for expressions that are equal."""
    if node.kind == "tirx.Var":
        return f"v{node.index}"
    if not node.kind.startswith("tirx.") or "b" not in node.data:
        return f"#{node.index}"
    return json.dumps(
        [node.kind, _text_or_number(node.child("a")), _text_or_number(node.child("b"))]
    )


def _text_or_number(node: Node) -> str:
    return _text(node) if node.constant is None else str(node.constant)
