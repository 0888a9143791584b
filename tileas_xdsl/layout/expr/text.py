"""How expressions are written: Python's operators, and no more parentheses than needed.

`d0 * 16 + d1 // 4`; an expression of variables without names is a dynamic leaf of CuTe IR: `?`,
`?{div=4}`, `?{i64 div=8}`.
"""

from __future__ import annotations

from collections.abc import Callable

DEFAULT_WIDTH = 32
"""Width in bits of a variable without an explicit one."""

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
"""Infix signs of operations; the others are printed as keywords between the operands."""

SUM, TERM = range(2)
"""Operator precedence: sums, then all others, which associate to the left."""


def binary_text(kind: str, operand: Callable[[bool, int], str], at_least: int) -> str:
    """Return the text of an operation, in parentheses where its precedence is too low.

    `operand` writes the right operand (True) or the left one, at a given precedence.
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
