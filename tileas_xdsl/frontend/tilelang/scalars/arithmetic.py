"""Arithmetic, comparisons, choices and conversions of scalars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects import affine, arith
from xdsl.dialects.builtin import AffineMapAttr, AnyFloat, IndexType, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tileas_xdsl.frontend.tilelang.emitter import INDEX
from tileas_xdsl.frontend.tilelang.memory.readable import is_always_readable
from tileas_xdsl.frontend.tilelang.scalars.branches import branch
from tileas_xdsl.frontend.tilelang.scalars.conversions import converted
from tileas_xdsl.frontend.tilelang.scalars.element_types import is_unsigned
from tileas_xdsl.frontend.tilelang.scope import ExpressionHandler, Scope
from tileas_xdsl.frontend.tilelang.traced.graph import Node

_ARITHMETIC: Mapping[str, tuple[Any, Any, Any]] = {
    "tirx.Add": (arith.AddfOp, arith.AddiOp, arith.AddiOp),
    "tirx.Sub": (arith.SubfOp, arith.SubiOp, arith.SubiOp),
    "tirx.Mul": (arith.MulfOp, arith.MuliOp, arith.MuliOp),
    "tirx.Div": (arith.DivfOp, arith.DivSIOp, arith.DivUIOp),
    "tirx.Mod": (None, arith.RemSIOp, arith.RemUIOp),
    "tirx.Min": (arith.MinnumfOp, arith.MinSIOp, arith.MinUIOp),
    "tirx.Max": (arith.MaxnumfOp, arith.MaxSIOp, arith.MaxUIOp),
    "tirx.FloorDiv": (None, arith.FloorDivSIOp, arith.DivUIOp),
}
"""The operation on floats, on signed and on unsigned integers."""

_ORDERS: Mapping[str, tuple[str, str, str]] = {
    "tirx.EQ": ("oeq", "eq", "eq"),
    "tirx.NE": ("une", "ne", "ne"),
    "tirx.LT": ("olt", "slt", "ult"),
    "tirx.LE": ("ole", "sle", "ule"),
    "tirx.GT": ("ogt", "sgt", "ugt"),
    "tirx.GE": ("oge", "sge", "uge"),
}
"""The predicate on floats, on signed and on unsigned integers."""


def pick(type_: Attribute, dtype: str, table: tuple[Any, Any, Any]) -> Any:
    """The entry for floats, for signed or for unsigned integers; an index is signed."""
    if isinstance(type_, AnyFloat):
        return table[0]
    return table[2 if is_unsigned(dtype) and not isinstance(type_, IndexType) else 1]


def _arithmetic(scope: Scope, node: Node) -> SSAValue:
    left, right = node.child("a"), node.child("b")
    type_, divisor = scope.type_of(node), right.constant
    if node.kind in ("tirx.FloorDiv", "tirx.FloorMod") and type_ == INDEX and divisor:
        return _by_constant(scope, node, divisor)
    sides = scope.scalar(left, type_), scope.scalar(right, type_)
    if node.kind == "tirx.FloorMod":
        return _remainder(scope, *sides, is_unsigned=is_unsigned(node.dtype))
    operation = pick(type_, node.dtype, _ARITHMETIC[node.kind])
    if operation is None:
        raise scope.refusal(
            f"'{node.kind.split('.')[-1]}' of {node.dtype}", "is no operation of tl"
        )
    return scope.insert(operation(*sides)).results[0]


def _by_constant(scope: Scope, node: Node, divisor: int) -> SSAValue:
    """A quotient rounded down, or a remainder from 0 on, as layout inference reads it."""
    value, dim = scope.index(node.child("a")), AffineExpr.dimension(0)
    made = dim // divisor if node.kind == "tirx.FloorDiv" else dim % divisor
    map_ = AffineMapAttr(AffineMap(1, 0, (made,)))
    return scope.insert(affine.ApplyOp([value], map_)).result


def _remainder(scope: Scope, a: SSAValue, b: SSAValue, *, is_unsigned: bool) -> SSAValue:
    """A remainder with the sign of the divisor."""
    if is_unsigned:
        return scope.insert(arith.RemUIOp(a, b)).result
    quotient = scope.insert(arith.FloorDivSIOp(a, b)).result
    whole = scope.insert(arith.MuliOp(quotient, b)).result
    return scope.insert(arith.SubiOp(a, whole)).result


def _compared(scope: Scope, node: Node) -> SSAValue:
    left, right = node.child("a"), node.child("b")
    types = [scope.natural_type(side) for side in (left, right)]
    is_index = any(isinstance(type_, IndexType) for type_ in types)
    type_ = INDEX if is_index else types[0] or types[1] or scope.type_of(left)
    predicate = pick(type_, left.dtype, _ORDERS[node.kind])
    sides = scope.scalar(left, type_), scope.scalar(right, type_)
    if isinstance(type_, AnyFloat):
        return scope.insert(arith.CmpfOp(*sides, predicate)).result
    return scope.insert(arith.CmpiOp(*sides, predicate)).result


def _joined(scope: Scope, node: Node) -> SSAValue:
    """`and` and `or`, which read the second side only where the first leaves it open."""
    is_and = node.kind == "tirx.And"
    first, second = scope.condition(node.child("a")), node.child("b")
    if is_always_readable(scope, second):
        made = arith.AndIOp if is_and else arith.OrIOp
        return scope.insert(made(first, scope.condition(second))).result
    sides = [lambda: scope.condition(second), lambda: scope.constant(not is_and, i1)]
    return branch(scope, first, i1, *(sides if is_and else sides[::-1]))


def _negated(scope: Scope, node: Node) -> SSAValue:
    inner = scope.condition(node.child("a"))
    return scope.insert(arith.XOrIOp(inner, scope.constant(1, i1))).result


def _select(scope: Scope, node: Node) -> SSAValue:
    type_ = scope.type_of(node)
    condition = scope.condition(node.child("condition"))
    first, second = (scope.scalar(node.child(s), type_) for s in ("true_value", "false_value"))
    return scope.insert(arith.SelectOp(condition, first, second)).result


def _cast(scope: Scope, node: Node) -> SSAValue:
    inner = node.child("value")
    value = scope.scalar(inner)
    return converted(scope, value, inner.dtype, scope.type_of(node), node.dtype)


HANDLERS: Mapping[str, ExpressionHandler] = {
    "tirx.Var": lambda scope, node: scope.variable(node),
    "tirx.Cast": _cast,
    "tirx.Select": _select,
    "tirx.And": _joined,
    "tirx.Or": _joined,
    "tirx.Not": _negated,
    "tirx.FloorMod": _arithmetic,
    **dict.fromkeys(_ARITHMETIC, _arithmetic),
    **dict.fromkeys(_ORDERS, _compared),
}
"""Expressions that read no memory and call nothing."""
