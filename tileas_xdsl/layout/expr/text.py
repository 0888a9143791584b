"""How expressions are written: Python's operators, and no more parentheses than needed.

`d0 * 16 + d1 // 4`; an expression of variables without names is a dynamic leaf of CuTe IR: `?`,
`?{div=4}`, `?{i64 div=8}`.
"""

from __future__ import annotations

from collections.abc import Callable

DEFAULT_WIDTH = 32
"""Bits of a variable that does not say how wide it is."""

_SIGNS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "floordiv": "//",
    "floormod": "%",
    "shl": "<<",
    "shr": ">>",
    "and": "&",
    "xor": "^",
    "eq": "==",
    "lt": "<",
}
"""The operations that have a sign; the others are written as words between the operands."""

SUM, TERM = range(2)
"""How tightly operators bind: sums, then all others, which are read from the left."""


def binary_text(kind: str, operand: Callable[[bool, int], str], at_least: int = SUM) -> str:
    """An operation, in parentheses where it binds less than its place needs.

    `operand` writes the right operand (True) or the left one, for a place that binds as tightly.
    """
    binds = SUM if kind in ("add", "sub") else TERM
    left, right = operand(False, binds), operand(True, binds + (kind != "add"))
    sign = _SIGNS.get(kind, kind)
    if kind == "add" and right.startswith("-"):
        sign, right = "-", right[1:]
    text = f"{left} {sign} {right}"
    return f"({text})" if binds < at_least else text


def dynamic_leaf(width: int, divisor: int) -> str:
    """`?{i64 div=8}`: the width where it is not the usual one, then what divides the number."""
    facts = [f"i{width}"] if width != DEFAULT_WIDTH else []
    facts += [f"div={divisor}"] if divisor != 1 else []
    return f"?{{{' '.join(facts)}}}" if facts else "?"
