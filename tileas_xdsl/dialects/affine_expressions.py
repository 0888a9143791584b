"""The border between our expressions and xDSL's: affine maps are read and written here only.

IR spells index expressions as `affine_map<(d0)[s0] -> (d0 floordiv 4 + s0)>`; everything else works
on `layout.expr`, which knows ranges, tables and digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from tileas_xdsl.layout.expr.expression import (
    BinaryExpression,
    Number,
    Position,
    Variable,
    compute,
    dimension,
    symbol,
)

_KINDS: Mapping[AffineBinaryOpKind, str] = {
    AffineBinaryOpKind.Add: "add",
    AffineBinaryOpKind.Mul: "mul",
    AffineBinaryOpKind.Mod: "floormod",
    AffineBinaryOpKind.FloorDiv: "floordiv",
    AffineBinaryOpKind.CeilDiv: "ceildiv",
}
_LINEAR = (AffineBinaryOpKind.Add, AffineBinaryOpKind.Mul)
_AFFINE_KINDS = {kind: affine for affine, kind in _KINDS.items()}


def number_of_affine(expression: AffineExpr) -> Number:
    """Return the expression or constant that an xDSL expression stands for."""
    match expression:
        case AffineConstantExpr():
            return expression.value
        case AffineDimExpr():
            return dimension(expression.position)
        case AffineSymExpr():
            return symbol(expression.position)
        case _:
            assert isinstance(expression, AffineBinaryOpExpr)
    lhs, rhs = number_of_affine(expression.lhs), number_of_affine(expression.rhs)
    return compute(_KINDS[expression.kind], lhs, rhs)


def affine_map_of(rank: int, symbols: int, results: Sequence[Number]) -> AffineMap:
    """Return the map of so many dimensions and symbols that gives these numbers."""
    return AffineMap(rank, symbols, tuple(_affine(number) for number in results))


def _affine(number: Number) -> AffineExpr:
    if isinstance(number, int):
        return AffineExpr.constant(number)
    if isinstance(number, Variable):
        key: Position = number.key
        leaf = AffineExpr.dimension if key.letter == "d" else AffineExpr.symbol
        return leaf(key.number)
    assert isinstance(number, BinaryExpression)
    lhs, rhs = _affine(number.lhs), _affine(number.rhs)
    if number.kind == "sub":
        return lhs - rhs
    return AffineExpr.binary(_AFFINE_KINDS[number.kind], lhs, rhs)


def is_quasi_affine(map_: AffineMap) -> bool:
    """Return whether a map divides by positive constants only."""
    return all(
        isinstance(part.rhs, AffineConstantExpr) and part.rhs.value > 0
        for result in map_.results
        for part in result.dfs()
        if isinstance(part, AffineBinaryOpExpr) and part.kind not in _LINEAR
    )
