"""Reduce fragments and scalars to one scalar of a thread: what a test of all elements compares."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, vector
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import bf16, f16
from xdsl.ir import Operation

from tileas_xdsl.dialects.cute import SliceFragmentOp
from tileas_xdsl.dialects.cute.types.elements import element_of
from tileas_xdsl.transforms.math_functions.expression_builder import Scope, Value, is_integer

HALVES = (f16, bf16)
"""Of which instructions compare two at once."""


def reduced(values: Sequence[Value], kind: type[Operation]) -> Value:
    """One scalar of all elements of fragments and scalars, by halves."""
    by_length: dict[int | None, Value] = {}
    for value in values:
        length = value.scope.length
        held = by_length.get(length)
        by_length[length] = value if held is None else _combined(kind, held, value)
    scalars = [_scalar_of(value, kind) for value in by_length.values()]
    total = scalars[0]
    for scalar in scalars[1:]:
        total = _combined(kind, total, scalar)
    return total


def least(value: Value) -> Value:
    """The least element that is a number: of 16 bits, by pairs, if elements were extended from it.

    Rounding is monotonic: `min(fl(x - c)) = fl(min(x) - c)`.
    """
    owner, scope = value.ssa.owner, value.scope
    inner = Scope(scope.insert, scope.length)
    if isinstance(owner, arith.SubfOp) and isinstance(owner.rhs.owner, vector.BroadcastOp):
        common = Scope(scope.insert).take(owner.rhs.owner.source)
        return least(inner.take(owner.lhs)) - common
    if isinstance(owner, arith.ExtFOp) and element_of(owner.input.type) in HALVES:
        return least(inner.take(owner.input)).wide_to(value.element)
    return reduced([value], arith.MinnumfOp)


def largest(value: Value) -> Value:
    """The largest magnitude of a number: of 16 bits by pairs, if elements were extended from it."""
    owner, inner = value.ssa.owner, Scope(value.scope.insert, value.scope.length)
    if isinstance(owner, arith.NegfOp):
        return largest(inner.take(owner.operand))
    if isinstance(owner, arith.ExtFOp) and element_of(owner.input.type) in HALVES:
        return largest(inner.take(owner.input)).wide_to(value.element)
    return reduced([abs(value)], arith.MaxnumfOp)


def _combined(kind: type[Operation], a: Value, b: Value) -> Value:
    properties = {} if is_integer(a.element) else {"fastmath": FastMathFlagsAttr("none")}
    return a.scope.make(kind, [a, b], a.element, **properties)


def _scalar_of(value: Value, kind: type[Operation]) -> Value:
    length = value.scope.length
    if length is None:
        return value
    rest: list[Value] = []
    while length > 1:
        half = length // 2
        if length % 2:
            rest.append(_part(value, length - 1, 1))
        value = _combined(kind, _part(value, 0, half), _part(value, half, half))
        length = half
    for last in rest:
        value = _combined(kind, value, last)
    return Scope(value.scope.insert).take(vector.ExtractOp(value.ssa, [0], value.element).result)


def _part(value: Value, offset: int, size: int) -> Value:
    scope = Scope(value.scope.insert, size)
    return scope.take(SliceFragmentOp(value.ssa, offset, size).result)
