"""Arithmetic of floats, element by element, with the modifiers that it may have.

    %r = addf %a, %b rounding<negative_inf>      %x, %y = fp_to_fp %a, %b : f32
        : tile<8xf16>                        ->  %s = arith.addf %x, %y {nv_tileas.rounding = "rm"}
                                                 %r = fp_to_fp %s {nv_tileas.rounding = "rm"} : f16

f32 and f64 keep the operation and get the attribute; nearest even is what no attribute means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import frexp
from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    StringAttr,
    UnitAttr,
    f32,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.dialects.cuda_tile.enums import (
    ComparisonOrdering,
    ComparisonPredicate,
    RoundingMode,
)
from tileas_xdsl.dialects.cuda_tile.tiles import floats as ct
from tileas_xdsl.dialects.cuda_tile.tiles import functions as ctf
from tileas_xdsl.dialects.ir_queries import uniform_constant
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of, tile_of
from tileas_xdsl.dialects.nv_tileaa.compute.conversions import FpToFpOp
from tileas_xdsl.dialects.nv_tileaa.compute.shapes import SplatOp
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import AWAY, DIRECTED, FLUSH, ROUNDING
from tileas_xdsl.transforms.cudatile_to_tileaa.converter import Converter, Rule
from tileas_xdsl.transforms.math_functions.expression_builder import Scope
from tileas_xdsl.transforms.math_functions.remainder import remf

Make = Callable[..., Any]

_OPERATIONS: Mapping[type[Operation], Make] = {
    ct.AddFOp: arith.AddfOp,
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

KEYWORDS: Mapping[RoundingMode, str] = {
    RoundingMode.APPROX: "approx",
    RoundingMode.FULL: "full",
    RoundingMode.NEAREST_AWAY: AWAY,
    RoundingMode.NEGATIVE_INF: "rm",
    RoundingMode.POSITIVE_INF: "rp",
    RoundingMode.ZERO: "rz",
}
"""How `nv_tileas.rounding` says a mode; what it does not say is rounded to nearest."""

_WIDE_EXPONENTS = BFloat16Type | Float32Type | Float64Type
"""Floats whose powers of two reach from 2**-126 to 2**126 at least."""

_ACCURATE_IN_FULL = (ctf.ExpOp, ctf.TanHOp)
"""Functions that over the full range are what they are without a mode: accurate."""

_RELATIONS: Mapping[ComparisonPredicate, str] = {
    ComparisonPredicate.EQUAL: "eq",
    ComparisonPredicate.NOT_EQUAL: "ne",
    ComparisonPredicate.LESS_THAN: "lt",
    ComparisonPredicate.LESS_THAN_OR_EQUAL: "le",
    ComparisonPredicate.GREATER_THAN: "gt",
    ComparisonPredicate.GREATER_THAN_OR_EQUAL: "ge",
}


def rounding_of(op: Operation) -> RoundingMode:
    """How an operation rounds: to the nearest even number unless it says something else."""
    mode: Any = op.properties.get("rounding_mode")
    return RoundingMode.NEAREST_EVEN if mode is None else mode.data


def _modes(op: Operation) -> dict[str, Attribute]:
    """What an operation asks for, as attributes of the one below."""
    mode, modes = rounding_of(op), dict[str, Attribute]()
    if "flush_to_zero" in op.properties:
        modes[FLUSH] = UnitAttr()
    if mode is RoundingMode.FULL and isinstance(op, _ACCURATE_IN_FULL):
        return modes
    if mode is RoundingMode.NEAREST_EVEN:
        return modes
    return {**modes, ROUNDING: StringAttr(KEYWORDS[mode])}


def _made(c: Converter, op: Operation, make: Make) -> Sequence[SSAValue]:
    return _applied(c, op, make, c.get_all(op.operands), _modes(op))


def _applied(
    c: Converter,
    op: Operation,
    make: Make,
    operands: Sequence[SSAValue],
    modes: Mapping[str, Attribute],
) -> Sequence[SSAValue]:
    type_: Any = operands[0].type
    if _is_narrowed(op, element_of(type_)):
        operands = [_rounded(c, value, f32, {}) for value in operands]
        wide = _inserted(c, make, operands, modes)
        return [_rounded(c, wide, element_of(type_), modes)]
    return [_inserted(c, make, operands, modes)]


def _inserted(
    c: Converter, make: Make, operands: Sequence[SSAValue], modes: Mapping[str, Attribute]
) -> SSAValue:
    made = make(*operands)
    made.attributes.update(modes)
    return c.insert(made).result


def _is_narrowed(op: Operation, element: Attribute) -> bool:
    """Whether to compute in f32 and round again: the operations below have no such rounding.

    Twice in one direction is once: all numbers of 16 bits are numbers of f32.
    """
    directed = KEYWORDS.get(rounding_of(op)) in DIRECTED
    return directed and not isinstance(element, Float32Type | Float64Type)


def _rounded(
    c: Converter, value: SSAValue, element: Attribute, modes: Mapping[str, Attribute]
) -> SSAValue:
    made = FpToFpOp(value, tile_of(element, shape_of(value.type)))
    made.attributes.update(modes)
    return c.insert(made).result


def function(c: Converter, op: Operation) -> Sequence[SSAValue]:
    """The operation of `arith` or `math` that does the same."""
    return _made(c, op, _OPERATIONS[type(op)])


def quotient(c: Converter, op: ct.DivFOp) -> Sequence[SSAValue]:
    """A quotient; by a power of two, a product with the inverse: both round the same number."""
    dividend, divisor = operands = c.get_all(op.operands)
    inverse = _exact_inverse(divisor)
    if inverse is None:
        return _applied(c, op, arith.DivfOp, operands, _modes(op))
    modes, factor = _modes(op), constant(c.builder, inverse, divisor.type)
    if rounding_of(op) in (RoundingMode.APPROX, RoundingMode.FULL):
        del modes[ROUNDING]
    return _applied(c, op, arith.MulfOp, [dividend, factor], modes)


def _exact_inverse(divisor: SSAValue) -> float | None:
    """The inverse of a power of two that a tile is full of; neither of them is subnormal."""
    scalar = divisor.owner.source if isinstance(divisor.owner, SplatOp) else divisor
    number, element = uniform_constant(scalar), element_of(divisor.type)
    if not isinstance(number, FloatAttr) or not isinstance(element, Float16Type | _WIDE_EXPONENTS):
        return None
    half, exponent = frexp(number.value.data)
    most = 14 if isinstance(element, Float16Type) else 126
    return 1 / number.value.data if abs(half) == 0.5 and abs(exponent - 1) <= most else None


def extreme(c: Converter, op: ct.ExtremeOp) -> Sequence[SSAValue]:
    """The larger or the smaller one."""
    return _made(c, op, _EXTREMES[type(op)][op.propagate_nan is not None])


def compared(c: Converter, op: ct.CmpFOp) -> Sequence[SSAValue]:
    """Whether a relation holds."""
    first = "u" if op.comparison_ordering.data is ComparisonOrdering.UNORDERED else "o"
    predicate = f"{first}{_RELATIONS[op.comparison_predicate.data]}"

    def body(a: SSAValue, b: SSAValue) -> SSAValue:
        return c.insert(arith.CmpfOp(a, b, predicate)).result

    return [c.by_element(i1, c.get_all(op.operands), body)]


def remainder(c: Converter, op: ct.RemFOp) -> Sequence[SSAValue]:
    """`arith` has none: it is written out, exactly."""
    scope = Scope(c.insert, straight=True)

    def body(a: SSAValue, b: SSAValue) -> SSAValue:
        return remf(scope.take(a), scope.take(b)).ssa

    operands = c.get_all(op.operands)
    return [c.by_element(element_of(operands[0].type), operands, body)]


FLOATS: Mapping[type[Operation], Rule] = {
    **dict.fromkeys(_OPERATIONS, function),
    **dict.fromkeys(_EXTREMES, extreme),
    ct.CmpFOp: compared,
    ct.DivFOp: quotient,
    ct.RemFOp: remainder,
}
