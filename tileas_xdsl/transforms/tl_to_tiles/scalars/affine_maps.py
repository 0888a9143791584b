"""Affine maps as arithmetic of scalars, or of tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

Combine: TypeAlias = Callable[[AffineBinaryOpKind, SSAValue, SSAValue], SSAValue]

ON_SCALARS: Mapping[
    AffineBinaryOpKind, Callable[[SSAValue, SSAValue], arith.SignlessIntegerBinaryOperation]
] = {
    AffineBinaryOpKind.Add: arith.AddiOp,
    AffineBinaryOpKind.Mul: arith.MuliOp,
    AffineBinaryOpKind.FloorDiv: arith.FloorDivSIOp,
    AffineBinaryOpKind.CeilDiv: arith.CeilDivSIOp,
}
"""Operations on indices; a remainder, which is never negative, follows from a quotient."""

ON_TILES = {
    **ON_SCALARS,
    AffineBinaryOpKind.FloorDiv: arith.DivUIOp,
    AffineBinaryOpKind.Mod: arith.RemUIOp,
}
"""Operations on tiles of indices that are not negative."""


def applied(
    mapping: AffineMap,
    operands: Sequence[SSAValue],
    constant: Callable[[int], SSAValue],
    combine: Combine,
) -> SSAValue:
    """Return the first result of a map as code."""
    dims, symbols = operands[: mapping.num_dims], operands[mapping.num_dims :]

    def value(expr: AffineExpr) -> SSAValue:
        match expr:
            case AffineConstantExpr():
                return constant(expr.value)
            case AffineDimExpr():
                return dims[expr.position]
            case AffineSymExpr():
                return symbols[expr.position]
            case AffineBinaryOpExpr():
                return combine(expr.kind, value(expr.lhs), value(expr.rhs))
            case _:
                raise TypeError(f"{expr} is no affine expression")

    return value(mapping.results[0])
