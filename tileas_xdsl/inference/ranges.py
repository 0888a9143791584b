"""Between which numbers an affine expression lies, by intervals."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

Range = tuple[int, int]
"""The least and the greatest value, both included."""


def range_of(
    expression: AffineExpr, extents: Sequence[int], symbols: Sequence[int | None] = ()
) -> Range | None:
    """The range of an expression whose dimension k lies in `range(extents[k])`; None: unknown.

    Symbol k lies in `range(symbols[k])`; those without an extent may be anything.  The range is
    exact where each variable occurs once, else it may be wider than needed.
    """
    match expression:
        case AffineConstantExpr():
            return expression.value, expression.value
        case AffineDimExpr():
            return 0, extents[expression.position] - 1
        case AffineSymExpr():
            extent = symbols[expression.position] if expression.position < len(symbols) else None
            return None if extent is None else (0, extent - 1)
        case AffineBinaryOpExpr():
            right = range_of(expression.rhs, extents, symbols)
            left = range_of(expression.lhs, extents, symbols)
            return _combined(expression.kind, left, right)
        case _:
            return None


def _combined(kind: AffineBinaryOpKind, left: Range | None, right: Range | None) -> Range | None:
    if kind is AffineBinaryOpKind.Mod:
        return _remainder(left, right)
    if left is None or right is None:
        return None
    if kind is AffineBinaryOpKind.Add:
        return left[0] + right[0], left[1] + right[1]
    if kind is AffineBinaryOpKind.Mul:
        products = [a * b for a in left for b in right]
        return min(products), max(products)
    return _quotient(kind, left, right)


def _remainder(left: Range | None, right: Range | None) -> Range | None:
    if right is None or right[0] != right[1] or right[0] <= 0:
        return None
    divisor = right[0]
    if left is not None and left[0] // divisor == left[1] // divisor:
        return left[0] % divisor, left[1] % divisor
    return 0, divisor - 1


def _quotient(kind: AffineBinaryOpKind, left: Range, right: Range) -> Range | None:
    if right[0] != right[1] or right[0] <= 0:
        return None
    divisor = right[0]
    if kind is AffineBinaryOpKind.FloorDiv:
        return left[0] // divisor, left[1] // divisor
    return -(-left[0] // divisor), -(-left[1] // divisor)
