"""Reduce fragments and scalars to one scalar of a thread: what a test of all elements compares."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, vector
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import bf16, f16
from xdsl.ir import Operation

from tileas_xdsl.dialects.cute import SliceFragmentOp
from tileas_xdsl.dialects.cute.types.elements import element_of
from tileas_xdsl.dialects.xdsl_ops import extraction
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
    """One element of all: of 40 the first 32 by halves down to 8, with the other 8, and so on."""
    length = value.scope.length
    if length is None:
        return value
    total, offset = None, 0
    for size in (1 << bit for bit in reversed(range(length.bit_length())) if length >> bit & 1):
        part = value if size == length else _part(value, offset, size)
        total = part if total is None else _combined(kind, _halved(total, kind, size), part)
        offset += size
    assert total is not None
    one = _halved(total, kind, 1)
    return Scope(value.scope.insert).take(extraction(one.ssa, 0, value.element).result)


def _halved(value: Value, kind: type[Operation], size: int) -> Value:
    """A fragment of so many elements, each of which combines as many."""
    while (length := value.scope.length) is not None and length > size:
        half = length // 2
        value = _combined(kind, _part(value, 0, half), _part(value, half, half))
    return value


def _part(value: Value, offset: int, size: int) -> Value:
    scope = Scope(value.scope.insert, size)
    return scope.take(SliceFragmentOp(value.ssa, offset, size).result)
