"""Calls in expressions: mathematical functions, bits, choices, limits of types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import SSAValue

from tileas_xdsl.dialects.element_bits import bits_of
from tileas_xdsl.frontend.tilelang.memory.readable import is_always_readable
from tileas_xdsl.frontend.tilelang.operations.fast_math import APPROXIMATE
from tileas_xdsl.frontend.tilelang.refusals import HINTS
from tileas_xdsl.frontend.tilelang.scalars.arithmetic import pick
from tileas_xdsl.frontend.tilelang.scalars.branches import branch
from tileas_xdsl.frontend.tilelang.scope import Scope
from tileas_xdsl.frontend.tilelang.traced.graph import Node

CallHandler: TypeAlias = Callable[[Scope, Node], SSAValue]

_FUNCTIONS: Mapping[str, Any] = {
    "exp": math.ExpOp,
    "exp2": math.Exp2Op,
    "log": math.LogOp,
    "log2": math.Log2Op,
    "log10": math.Log10Op,
    "log1p": math.Log1pOp,
    "sqrt": math.SqrtOp,
    "rsqrt": math.RsqrtOp,
    "sin": math.SinOp,
    "cos": math.CosOp,
    "tan": math.TanOp,
    "tanh": math.TanhOp,
    "erf": math.ErfOp,
    "floor": math.FloorOp,
    "ceil": math.CeilOp,
    "trunc": math.TruncOp,
    "round": math.RoundOp,
    "nearbyint": math.RoundEvenOp,
    "pow": math.PowFOp,
    "atan2": math.Atan2Op,
    "fma": math.FmaOp,
}
"""Functions of floats that `math` has."""

_FAST = ("__exp", "__exp10", "__exp2", "__log", "__log2", "__log10", "__sin", "__cos", "__tan")
"""Variants that CUDA computes by approximate instructions."""

_BITS: Mapping[str, tuple[Any, Any, Any]] = {
    "bitwise_and": (None, arith.AndIOp, arith.AndIOp),
    "bitwise_or": (None, arith.OrIOp, arith.OrIOp),
    "bitwise_xor": (None, arith.XOrIOp, arith.XOrIOp),
    "shift_left": (None, arith.ShLIOp, arith.ShLIOp),
    "shift_right": (None, arith.ShRSIOp, arith.ShRUIOp),
}


def call(scope: Scope, node: Node) -> SSAValue:
    """The result of a call."""
    full = str(node.child("op").data)
    name = full.split(".", 1)[-1]
    is_fast, name = name in _FAST, name.removeprefix("__") if name in _FAST else name
    if (function := _FUNCTIONS.get(name)) is not None:
        return _function(scope, node, function, is_fast=is_fast)
    if name in _BITS:
        return _bits(scope, node, _BITS[name])
    handler = _HANDLERS.get(name)
    if handler is None:
        raise scope.refusal(f"'{full}'", f"has no counterpart in tl: {HINTS.get(full, 'a call')}")
    return handler(scope, node)


def _function(scope: Scope, node: Node, function: Any, *, is_fast: bool = False) -> SSAValue:
    operands = [scope.scalar(argument) for argument in node.children("args")]
    made = scope.insert(function(*operands))
    if is_fast:
        made.properties["fastmath"] = APPROXIMATE
    return made.results[0]


def _bits(scope: Scope, node: Node, table: tuple[Any, Any, Any]) -> SSAValue:
    type_ = scope.type_of(node)
    operands = [scope.scalar(argument, type_) for argument in node.children("args")]
    return scope.insert(pick(type_, node.dtype, table)(*operands)).results[0]


def _not(scope: Scope, node: Node) -> SSAValue:
    inner = scope.scalar(node.children("args")[0])
    return scope.insert(arith.XOrIOp(inner, scope.constant(-1, inner.type))).result


def _absolute(scope: Scope, node: Node) -> SSAValue:
    inner = scope.scalar(node.children("args")[0])
    made = math.AbsFOp if isinstance(inner.type, AnyFloat) else math.AbsIOp
    return scope.insert(made(inner)).result


def _choice(scope: Scope, node: Node) -> SSAValue:
    """`if_then_else`, which reads one side only: a branch where reading both may fault."""
    condition, *sides = node.children("args")
    type_ = scope.type_of(node)
    chosen = scope.condition(condition)
    if all(is_always_readable(scope, side) for side in sides):
        first, second = (scope.scalar(side, type_) for side in sides)
        return scope.insert(arith.SelectOp(chosen, first, second)).result
    first, second = sides
    return branch(
        scope,
        chosen,
        type_,
        lambda: scope.scalar(first, type_),
        lambda: scope.scalar(second, type_),
    )


def _infinity(scope: Scope, node: Node) -> SSAValue:
    return scope.constant(float("inf"), scope.type_of(node))


def _limit(name: str) -> CallHandler:
    """The largest or the least number of a type, by its name in `finfo` and `iinfo`."""

    def handle(scope: Scope, node: Node) -> SSAValue:
        limits: Any = _limits(node.dtype)
        return scope.constant(getattr(limits, name), scope.type_of(node))

    return handle


def _limits(dtype: str) -> Any:
    """What numpy knows of a type, or of the narrow floats `ml_dtypes`."""
    known: Any = ml_dtypes
    if "float" not in dtype:
        return np.iinfo(dtype)
    return known.finfo(getattr(ml_dtypes, dtype, dtype))


def _reinterpret(scope: Scope, node: Node) -> SSAValue:
    """The bits of a value as a value of another type of the same width."""
    (inner,) = node.children("args")
    type_ = scope.type_of(node)
    width = bits_of(type_)
    integers = IntegerType(width)
    value = scope.scalar(inner, None if isinstance(scope.type_of(inner), AnyFloat) else integers)
    if value.type == type_:
        return value
    if bits_of(value.type) != width:
        raise scope.refusal(f"a bit cast of {inner.dtype} to {node.dtype}", "changes the width")
    return scope.insert(arith.BitcastOp(value, type_)).result


def _sigmoid(scope: Scope, node: Node) -> SSAValue:
    """1 / (1 + exp(-x))."""
    inner = scope.scalar(node.children("args")[0])
    one = scope.constant(1.0, inner.type)
    power = scope.insert(math.ExpOp(scope.insert(arith.NegfOp(inner)).result)).result
    return scope.insert(arith.DivfOp(one, scope.insert(arith.AddfOp(one, power)).result)).result


def _exp10(scope: Scope, node: Node) -> SSAValue:
    """2 to the power of x log2(10)."""
    inner = scope.scalar(node.children("args")[0])
    factor = scope.constant(3.3219280948873623, inner.type)
    return scope.insert(math.Exp2Op(scope.insert(arith.MulfOp(inner, factor)).result)).result


def _is_nan(scope: Scope, node: Node) -> SSAValue:
    inner = scope.scalar(node.children("args")[0])
    return scope.insert(arith.CmpfOp(inner, inner, "uno")).result


def _is_infinite(scope: Scope, node: Node) -> SSAValue:
    inner = scope.scalar(node.children("args")[0])
    size = scope.insert(math.AbsFOp(inner)).result
    infinity = scope.constant(float("inf"), inner.type)
    return scope.insert(arith.CmpfOp(size, infinity, "oeq")).result


def _clamp(scope: Scope, node: Node) -> SSAValue:
    """A value between two others."""
    type_ = scope.type_of(node)
    value, low, high = (scope.scalar(argument, type_) for argument in node.children("args"))
    lowest = (arith.MaxnumfOp, arith.MaxSIOp, arith.MaxUIOp)
    highest = (arith.MinnumfOp, arith.MinSIOp, arith.MinUIOp)
    raised = scope.insert(pick(type_, node.dtype, lowest)(value, low)).results[0]
    return scope.insert(pick(type_, node.dtype, highest)(raised, high)).results[0]


def _population(scope: Scope, node: Node) -> SSAValue:
    return scope.insert(math.CtPopOp(scope.scalar(node.children("args")[0]))).result


def _ieee(function: Any) -> CallHandler:
    """Operations that name their rounding; that to the nearest is what `arith` has."""

    def handle(scope: Scope, node: Node) -> SSAValue:
        *operands, mode = node.children("args")
        if mode.kind == "tirx.StringImm" and mode.text("value") != "rn":
            raise scope.refusal(f"rounding '{mode.text('value')}'", "is none of tl, which has 'rn'")
        return scope.insert(function(*[scope.scalar(o) for o in operands])).results[0]

    return handle


_HANDLERS: Mapping[str, CallHandler] = {
    "fabs": _absolute,
    "abs": _absolute,
    "bitwise_not": _not,
    "if_then_else": _choice,
    "infinity": _infinity,
    "max_value": _limit("max"),
    "min_value": _limit("min"),
    "reinterpret": _reinterpret,
    "sigmoid": _sigmoid,
    "exp10": _exp10,
    "isnan": _is_nan,
    "isinf": _is_infinite,
    "clamp": _clamp,
    "popcount": _population,
    "likely": lambda scope, node: scope.scalar(node.children("args")[0]),
    "__ldg": lambda scope, node: scope.scalar(node.children("args")[0]),
    "ieee_add": _ieee(arith.AddfOp),
    "ieee_sub": _ieee(arith.SubfOp),
    "ieee_mul": _ieee(arith.MulfOp),
    "ieee_fdiv": _ieee(arith.DivfOp),
    "ieee_fmaf": _ieee(math.FmaOp),
    "ieee_fsqrt": _ieee(math.SqrtOp),
}
