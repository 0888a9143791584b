"""Arithmetic of integers, element by element."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.cuda_tile.enums import ComparisonPredicate, RoundingMode, Signedness
from tileas_xdsl.dialects.cuda_tile.tiles import integers as ct
from tileas_xdsl.dialects.nv_tileas.spaces import scalar_type_of, shape_of
from tileas_xdsl.transforms.cudatile_to_tileaa.converter import Converter, Rule
from tileas_xdsl.transforms.cudatile_to_tileaa.elementwise.wrapped_indices import (
    extent_of_wrapped,
)
from tileas_xdsl.transforms.cudatile_to_tileaa.shapes import zeros

Make = Callable[..., Any]

_PLAIN: Mapping[type[Operation], Make] = {
    ct.AddIOp: arith.AddiOp,
    ct.AndIOp: arith.AndIOp,
    ct.MulIOp: arith.MuliOp,
    ct.OrIOp: arith.OrIOp,
    ct.ShLIOp: arith.ShLIOp,
    ct.SubIOp: arith.SubiOp,
    ct.XOrIOp: arith.XOrIOp,
}
"""What is known about wrap-around is not needed: results wrap."""

_BY_SIGN: Mapping[type[Operation], tuple[Make, Make]] = {
    ct.MaxIOp: (arith.MaxSIOp, arith.MaxUIOp),
    ct.MinIOp: (arith.MinSIOp, arith.MinUIOp),
    ct.RemIOp: (arith.RemSIOp, arith.RemUIOp),
    ct.ShRIOp: (arith.ShRSIOp, arith.ShRUIOp),
}
"""The operation on signed integers, and that on unsigned ones."""

_QUOTIENTS: Mapping[tuple[RoundingMode, Signedness], Make] = {
    (RoundingMode.ZERO, Signedness.SIGNED): arith.DivSIOp,
    (RoundingMode.ZERO, Signedness.UNSIGNED): arith.DivUIOp,
    (RoundingMode.NEGATIVE_INF, Signedness.SIGNED): arith.FloorDivSIOp,
    (RoundingMode.POSITIVE_INF, Signedness.SIGNED): arith.CeilDivSIOp,
    (RoundingMode.POSITIVE_INF, Signedness.UNSIGNED): arith.CeilDivUIOp,
}

_RELATIONS: Mapping[ComparisonPredicate, tuple[str, str]] = {
    ComparisonPredicate.EQUAL: ("eq", "eq"),
    ComparisonPredicate.NOT_EQUAL: ("ne", "ne"),
    ComparisonPredicate.LESS_THAN: ("slt", "ult"),
    ComparisonPredicate.LESS_THAN_OR_EQUAL: ("sle", "ule"),
    ComparisonPredicate.GREATER_THAN: ("sgt", "ugt"),
    ComparisonPredicate.GREATER_THAN_OR_EQUAL: ("sge", "uge"),
}
"""The predicates of `arith.cmpi` for signed and for unsigned integers."""


def is_unsigned(op: Any) -> bool:
    """Whether an operation reads its integers as unsigned."""
    return op.signedness.data is Signedness.UNSIGNED


def plain(c: Converter, op: Operation) -> Sequence[SSAValue]:
    """The operation of `arith` that does the same."""
    return [c.insert(_PLAIN[type(op)](*c.get_all(op.operands))).result]


def is_bit(c: Converter, op: Operation) -> bool:
    """Whether an operation computes with integers of one bit, of which dividing leaves none."""
    return scalar_type_of(c.get(op.operands[0]).type) == i1


def remainder(c: Converter, op: ct.RemIOp) -> Sequence[SSAValue]:
    """What a division leaves; a divisor of one bit is 1 or -1, and leaves nothing."""
    return [zeros(c, c.get(op.lhs).type)] if is_bit(c, op) else by_sign(c, op)


def by_sign(c: Converter, op: Any) -> Sequence[SSAValue]:
    """One of two operations."""
    make = _BY_SIGN[type(op)][is_unsigned(op)]
    return [c.insert(make(*c.get_all(op.operands))).result]


def quotient(c: Converter, op: ct.DivIOp) -> Sequence[SSAValue]:
    """A quotient, rounded as asked; where divisors are bits, -1 / -1 is undefined."""
    if is_bit(c, op):
        return [c.get(op.lhs)]
    mode: Any = op.properties.get("rounding")
    rounding = RoundingMode.ZERO if mode is None else mode.data
    make = _QUOTIENTS[rounding, op.signedness.data]
    return [c.insert(make(*c.get_all(op.operands))).result]


def high_half(c: Converter, op: ct.MulhiIOp) -> Sequence[SSAValue]:
    """The high half of the unsigned product; of bits it is zero."""
    if is_bit(c, op):
        return [zeros(c, c.get(op.x).type)]
    return [c.insert(arith.MulUIExtendedOp(c.get(op.x), c.get(op.y))).high]


def negated(c: Converter, op: ct.NegIOp) -> Sequence[SSAValue]:
    """Zero minus the integer."""
    source = c.get(op.source)
    return [c.insert(arith.SubiOp(zeros(c, source.type), source)).result]


def absolute(c: Converter, op: ct.AbsIOp) -> Sequence[SSAValue]:
    """The absolute value; the smallest integer stays what it is, and i1 has only that and zero."""
    source = c.get(op.source)
    if scalar_type_of(source.type) == i1:
        return [source]
    return [c.insert(math.AbsIOp(source)).result]


def compared(c: Converter, op: ct.CmpIOp) -> Sequence[SSAValue]:
    """Whether a relation holds; of an index that wraps around an extent, whether there is one."""
    if (extent := extent_of_wrapped(op)) is not None:
        number = c.get(extent)
        is_any = c.insert(arith.CmpiOp(number, zeros(c, number.type), "sgt")).result
        return [c.splat(is_any, shape_of(c.type(op.result)) or ())]
    predicate = _RELATIONS[op.comparison_predicate.data][is_unsigned(op)]

    def body(a: SSAValue, b: SSAValue) -> SSAValue:
        return c.insert(arith.CmpiOp(a, b, predicate)).result

    return [c.by_element(i1, c.get_all(op.operands), body)]


INTEGERS: Mapping[type[Operation], Rule] = {
    **dict.fromkeys(_PLAIN, plain),
    **dict.fromkeys(_BY_SIGN, by_sign),
    ct.AbsIOp: absolute,
    ct.CmpIOp: compared,
    ct.DivIOp: quotient,
    ct.MulhiIOp: high_half,
    ct.NegIOp: negated,
    ct.RemIOp: remainder,
}
