"""Affine expressions as people write them: no more parentheses than needed."""

from __future__ import annotations

from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineExpr

_SIGNS = {
    AffineBinaryOpKind.Add: "+",
    AffineBinaryOpKind.Mul: "*",
    AffineBinaryOpKind.FloorDiv: "//",
    AffineBinaryOpKind.CeilDiv: "ceildiv",
    AffineBinaryOpKind.Mod: "%",
}
_SUM, _TERM, _ATOM = range(3)


def text_of(expression: AffineExpr) -> str:
    """The expression with Python's signs, `d0 * 16 + d1 // 4`."""
    return _written(expression, _SUM)


def _written(expression: AffineExpr, at_least: int) -> str:
    """With parentheses where the expression binds less than its place needs."""
    if not isinstance(expression, AffineBinaryOpExpr):
        return str(expression)
    is_sum = expression.kind is AffineBinaryOpKind.Add
    binds = _SUM if is_sum else _TERM
    left = _written(expression.lhs, binds)
    text = f"{left} {_SIGNS[expression.kind]} {_written(expression.rhs, binds + (not is_sum))}"
    if is_sum and isinstance(constant := expression.rhs, AffineConstantExpr) and constant.value < 0:
        text = f"{left} - {-constant.value}"
    return f"({text})" if binds < at_least else text
