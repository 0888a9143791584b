"""Arithmetic and functions of floats, element by element.

Functions are computed in float64 and rounded once, within every error that is documented for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute

from tileas_xdsl.dialects.cuda_tile.enums import (
    ComparisonOrdering,
    ComparisonPredicate,
    RoundingMode,
    Signedness,
)
from tileas_xdsl.dialects.cuda_tile.tiles import floats, functions
from tileas_xdsl.dialects.cuda_tile.types.tile_types import element_of
from tileas_xdsl.interpreters.cuda_tile.numerics import exact
from tileas_xdsl.interpreters.cuda_tile.numerics.elements import Array, width_of, word_of
from tileas_xdsl.interpreters.cuda_tile.numerics.integers import read
from tileas_xdsl.interpreters.cuda_tile.numerics.rounding import Reals, flush, rounded
from tileas_xdsl.interpreters.cuda_tile.semantics.registry import Elementwise


def _is_flushed(op: Any) -> bool:
    return isinstance(op.properties.get("flush_to_zero"), UnitAttr)


def _mode(op: Any) -> RoundingMode:
    return op.rounding_mode.data


def _element(op: Any) -> Attribute:
    return element_of(op.results[0].type)


def arithmetic(name: str) -> Elementwise:
    """An operation whose result is rounded as the operation says."""

    def compute(op: Any, *operands: Array) -> Array:
        return calculated(name, operands, _element(op), _mode(op), flushed=_is_flushed(op))

    return compute


def calculated(
    name: str,
    operands: tuple[Array, ...],
    element: Attribute,
    mode: RoundingMode,
    *,
    flushed: bool = False,
) -> Array:
    """A sum, difference, product, quotient, root or fused product of floats."""
    if flushed:
        operands = tuple(map(flush, operands))
    wide = [values.astype(np.float64) for values in operands]
    if operands[0].dtype == np.float64:
        found = exact.wide(*exact.WIDE[name], mode)(*wide)
        return exact.with_signed_zeros(name, found, wide, mode)
    found = exact.with_signed_zeros(name, exact.NARROW[name](*wide), wide, mode)
    return rounded(found, element, mode, flushed=flushed)


def _function(compute: Callable[..., Reals]) -> Elementwise:
    """A function of floats, rounded to nearest."""

    def run(op: Any, *operands: Array) -> Array:
        flushed = _is_flushed(op)
        given = [flush(values) if flushed else values for values in operands]
        found = compute(*(values.astype(np.float64) for values in given))
        return rounded(found, _element(op), flushed=flushed)

    return run


def _integer_power(op: Any, base: Array, exponent: Array) -> Array:
    power = read(exponent, width_of(op.exponent.type), Signedness.SIGNED)
    found = np.power(base.astype(np.float64), power.astype(np.float64))
    return rounded(found, _element(op))


def _negated(_op: Any, values: Array) -> Array:
    return np.negative(values)


def _magnitude(_op: Any, values: Array) -> Array:
    return np.copysign(values, np.ones_like(values))


def _extreme(is_first: Callable[[Reals, Reals], Array]) -> Elementwise:
    """The one that comes first; a NaN does not count, unless it propagates or there is no other."""

    def compute(op: Any, lhs: Array, rhs: Array) -> Array:
        if _is_flushed(op):
            lhs, rhs = flush(lhs), flush(rhs)
        a, b = lhs.astype(np.float64), rhs.astype(np.float64)
        found = np.where(is_first(a, b), lhs, rhs)
        if op.propagate_nan is not None:
            nan = np.isnan(a) | np.isnan(b)
        else:
            found = np.where(np.isnan(a), rhs, np.where(np.isnan(b), lhs, found))
            nan = np.isnan(a) & np.isnan(b)
        return np.where(nan, np.full_like(found, np.nan), found)

    return compute


def _is_larger(a: Reals, b: Reals) -> Array:
    """Of zeros the positive one is larger."""
    return (a > b) | ((a == b) & ~np.signbit(a))


def _is_smaller(a: Reals, b: Reals) -> Array:
    return (a < b) | ((a == b) & np.signbit(a))


RELATIONS: Mapping[ComparisonPredicate, Callable[[Any, Any], Any]] = {
    ComparisonPredicate.EQUAL: np.equal,
    ComparisonPredicate.NOT_EQUAL: np.not_equal,
    ComparisonPredicate.LESS_THAN: np.less,
    ComparisonPredicate.LESS_THAN_OR_EQUAL: np.less_equal,
    ComparisonPredicate.GREATER_THAN: np.greater,
    ComparisonPredicate.GREATER_THAN_OR_EQUAL: np.greater_equal,
}


def _compared(op: floats.CmpFOp, lhs: Array, rhs: Array) -> Array:
    a, b = lhs.astype(np.float64), rhs.astype(np.float64)
    unordered = np.isnan(a) | np.isnan(b)
    holds = np.asarray(RELATIONS[op.comparison_predicate.data](a, b))
    is_unordered = op.comparison_ordering.data is ComparisonOrdering.UNORDERED
    return holds | unordered if is_unordered else holds & ~unordered


def _reciprocal_root(values: Reals) -> Reals:
    return 1 / np.sqrt(values)


def _root(op: functions.SqrtOp, values: Array) -> Array:
    return calculated("sqrt", (values,), _element(op), _mode(op), flushed=_is_flushed(op))


def _quotient(op: floats.DivFOp, lhs: Array, rhs: Array) -> Array:
    """`approx` divides by what is larger than 2**126 as by infinity."""
    if _mode(op) is RoundingMode.APPROX and word_of(op.result.type) == "f32":
        rhs = np.where(np.abs(rhs) > 2.0**126, np.copysign(np.float32(np.inf), rhs), rhs)
    return arithmetic("div")(op, lhs, rhs)


FLOATS: Mapping[type[Any], Elementwise] = {
    floats.AddFOp: arithmetic("add"),
    floats.SubFOp: arithmetic("sub"),
    floats.MulFOp: arithmetic("mul"),
    floats.DivFOp: _quotient,
    floats.FmaOp: arithmetic("fma"),
    floats.RemFOp: _function(np.fmod),
    floats.MaxFOp: _extreme(_is_larger),
    floats.MinFOp: _extreme(_is_smaller),
    floats.CmpFOp: _compared,
    functions.AbsFOp: _magnitude,
    functions.NegFOp: _negated,
    functions.CeilOp: _function(np.ceil),
    functions.FloorOp: _function(np.floor),
    functions.CosOp: _function(np.cos),
    functions.CosHOp: _function(np.cosh),
    functions.SinOp: _function(np.sin),
    functions.SinHOp: _function(np.sinh),
    functions.TanOp: _function(np.tan),
    functions.TanHOp: _function(np.tanh),
    functions.LogOp: _function(np.log),
    functions.Log2Op: _function(np.log2),
    functions.ExpOp: _function(np.exp),
    functions.Exp2Op: _function(np.exp2),
    functions.RsqrtOp: _function(_reciprocal_root),
    functions.SqrtOp: _root,
    functions.Atan2Op: _function(np.arctan2),
    functions.FPowFOp: _function(np.power),
    functions.FPowIOp: _integer_power,
}
