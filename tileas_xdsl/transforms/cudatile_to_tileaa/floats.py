"""Arithmetic of floats, element by element, with the modifiers that it may have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, f32, i1
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cuda_tile import floats as ct
from tileas_xdsl.dialects.cuda_tile import functions as ctf
from tileas_xdsl.dialects.cuda_tile.enums import (
    ComparisonOrdering,
    ComparisonPredicate,
    RoundingMode,
)
from tileas_xdsl.dialects.nv_tileaa.base import element_of
from tileas_xdsl.transforms.cudatile_to_tileaa.converter import Converter, Rule

Make = Callable[..., Any]

SMALLEST_NORMAL = 2.0**-126
"""Of `f32`: what is smaller is flushed."""

_OPERATIONS: Mapping[type[Operation], Make] = {
    ct.AddFOp: arith.AddfOp,
    ct.DivFOp: arith.DivfOp,
    ct.FmaOp: math.FmaOp,
    ct.MulFOp: arith.MulfOp,
    ct.SubFOp: arith.SubfOp,
    ctf.AbsFOp: math.AbsFOp,
    ctf.Atan2Op: math.Atan2Op,
    ctf.CeilOp: math.CeilOp,
    ctf.CosHOp: math.CoshOp,
    ctf.CosOp: math.CosOp,
    ctf.Exp2Op: math.Exp2Op,
    ctf.ExpOp: math.ExpOp,
    ctf.FPowFOp: math.PowFOp,
    ctf.FPowIOp: math.FPowIOp,
    ctf.FloorOp: math.FloorOp,
    ctf.Log2Op: math.Log2Op,
    ctf.LogOp: math.LogOp,
    ctf.NegFOp: arith.NegfOp,
    ctf.RsqrtOp: math.RsqrtOp,
    ctf.SinHOp: math.SinhOp,
    ctf.SinOp: math.SinOp,
    ctf.SqrtOp: math.SqrtOp,
    ctf.TanHOp: math.TanhOp,
    ctf.TanOp: math.TanOp,
}
"""The operation of `arith` or `math` that rounds to nearest even."""

_EXTREMES: Mapping[type[Operation], tuple[Make, Make]] = {
    ct.MaxFOp: (arith.MaxnumfOp, arith.MaximumfOp),
    ct.MinFOp: (arith.MinnumfOp, arith.MinimumfOp),
}
"""The operation that prefers numbers to NaN, and the one that does not."""

_APPROXIMATE = (RoundingMode.APPROX, RoundingMode.FULL)
"""Leave to compute less exactly, and more quickly."""

_RELATIONS: Mapping[ComparisonPredicate, str] = {
    ComparisonPredicate.EQUAL: "eq",
    ComparisonPredicate.NOT_EQUAL: "ne",
    ComparisonPredicate.LESS_THAN: "lt",
    ComparisonPredicate.LESS_THAN_OR_EQUAL: "le",
    ComparisonPredicate.GREATER_THAN: "gt",
    ComparisonPredicate.GREATER_THAN_OR_EQUAL: "ge",
}

_AFN = arith.FastMathFlagsAttr([FastMathFlag.APPROX_FUNC])


def flushed(c: Converter, value: SSAValue) -> SSAValue:
    """Zero of the same sign instead of an `f32` that is too small to be normal."""
    limit = c.insert(arith.ConstantOp(FloatAttr(SMALLEST_NORMAL, f32))).result
    zero = c.insert(arith.ConstantOp(FloatAttr(0.0, f32))).result
    size = c.insert(math.AbsFOp(value)).result
    is_small = c.insert(arith.CmpfOp(size, limit, "olt")).result
    signed = c.insert(arith.MulfOp(value, zero)).result
    return c.insert(arith.SelectOp(is_small, signed, value)).result


def rounding_of(op: Operation) -> RoundingMode:
    """How an operation rounds: to the nearest even number unless it says something else."""
    mode: Any = op.properties.get("rounding_mode")
    return RoundingMode.NEAREST_EVEN if mode is None else mode.data


def _is_approximate(op: Operation) -> bool:
    """Whether a function may be computed less exactly; another rounding is refused."""
    mode = rounding_of(op)
    if mode in _APPROXIMATE:
        return True
    if mode is not RoundingMode.NEAREST_EVEN:
        raise op_error(op, f"rounds by '{mode.value}', which is not converted yet")
    return False


def _apply(c: Converter, op: Operation, make: Make) -> SSAValue:
    """An operation on whole tiles, or on elements where small ones are flushed."""
    operands = c.get_all(op.operands)
    if "flush_to_zero" not in op.properties:
        return c.insert(make(*operands)).result

    def body(*scalars: SSAValue) -> SSAValue:
        return flushed(c, c.insert(make(*[flushed(c, value) for value in scalars])).result)

    return c.by_element(element_of(operands[0].type), operands, body)


def function(c: Converter, op: Operation) -> Sequence[SSAValue]:
    """The operation of `arith` or `math` that does the same."""
    make, approximate = _OPERATIONS[type(op)], _is_approximate(op)

    def made(*operands: SSAValue) -> Operation:
        one = make(*operands)
        if approximate:
            one.properties["fastmath"] = _AFN
        return one

    return [_apply(c, op, made)]


def extreme(c: Converter, op: ct.MaxFOp | ct.MinFOp) -> Sequence[SSAValue]:
    """The larger or the smaller one."""
    return [_apply(c, op, _EXTREMES[type(op)][op.propagate_nan is not None])]


def compared(c: Converter, op: ct.CmpFOp) -> Sequence[SSAValue]:
    """Whether a relation holds."""
    first = "u" if op.comparison_ordering.data is ComparisonOrdering.UNORDERED else "o"
    word = f"{first}{_RELATIONS[op.comparison_predicate.data]}"

    def body(a: SSAValue, b: SSAValue) -> SSAValue:
        return c.insert(arith.CmpfOp(a, b, word)).result

    return [c.by_element(i1, c.get_all(op.operands), body)]


def remainder(c: Converter, op: ct.RemFOp) -> Sequence[SSAValue]:
    """There is no such operation below."""
    raise op_error(op, "has no equivalent in 'arith' or 'math': a remainder of floats")


FLOATS: Mapping[type[Operation], Rule] = {
    **dict.fromkeys(_OPERATIONS, function),
    **dict.fromkeys(_EXTREMES, extreme),
    ct.CmpFOp: compared,
    ct.RemFOp: remainder,
}
