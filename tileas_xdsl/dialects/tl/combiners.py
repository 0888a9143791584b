"""How the elements of each reduction of `tl` combine, by element type.

>>> from xdsl.dialects.builtin import f32, i32
>>> rule_of(Reduction.MAX, i32, nan_propagate=False).identity.value.data
-2147483648
>>> rule = rule_of(Reduction.MAX, f32, nan_propagate=False)  # only NaN changes nothing
>>> rule.identity.value.data, rule.start.value.data
(nan, -inf)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, nan
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.tl.enums import Reduction

Combine: TypeAlias = Callable[[SSAValue, SSAValue], Operation]
"""Makes the operation that combines two values."""

Element: TypeAlias = FloatAttr[AnyFloat] | IntegerAttr[IntegerType]


@dataclass(frozen=True)
class Rule:
    """How elements of one type combine."""

    combine: Combine
    identity: Element
    """Leaves every other element as it is."""
    start: Element | None = None
    """What a cleared target holds before, where it is not the identity: the result of NaN alone."""


_FLOATS: Mapping[Reduction, tuple[Combine, float]] = {
    Reduction.SUM: (arith.AddfOp, 0.0),
    Reduction.ABSSUM: (arith.AddfOp, 0.0),
    Reduction.PROD: (arith.MulfOp, 1.0),
}

_EXTREMES: Mapping[Reduction, tuple[Combine, Combine, float]] = {
    Reduction.MAX: (arith.MaxnumfOp, arith.MaximumfOp, -inf),
    Reduction.ABSMAX: (arith.MaxnumfOp, arith.MaximumfOp, 0.0),
    Reduction.MIN: (arith.MinnumfOp, arith.MinimumfOp, inf),
}
"""Of floats: where a number wins over NaN, where NaN propagates, and what they start from.

Source: TileLang, `T.reduce_max` and `MakeInitValue` of its reductions.
"""

_INTEGERS: Mapping[Reduction, tuple[Combine, Callable[[int], int]]] = {
    Reduction.SUM: (arith.AddiOp, lambda bits: 0),
    Reduction.ABSSUM: (arith.AddiOp, lambda bits: 0),
    Reduction.PROD: (arith.MuliOp, lambda bits: 1),
    Reduction.MAX: (arith.MaxSIOp, lambda bits: -(1 << bits - 1)),
    Reduction.ABSMAX: (arith.MaxSIOp, lambda bits: -(1 << bits - 1)),
    Reduction.MIN: (arith.MinSIOp, lambda bits: (1 << bits - 1) - 1),
    Reduction.AND: (arith.AndIOp, lambda bits: -1),
    Reduction.OR: (arith.OrIOp, lambda bits: 0),
    Reduction.XOR: (arith.XOrIOp, lambda bits: 0),
}
"""The identity depends on the number of bits."""


def rule_of(kind: Reduction, element: Attribute, *, nan_propagate: bool) -> Rule | None:
    """Return how two elements combine; None where elements are not combined so."""
    if isa(element, AnyFloat):
        return _rule_of_floats(kind, element, nan_propagate)
    if kind not in _INTEGERS or not isa(element, IntegerType):
        return None
    combine, identity = _INTEGERS[kind]
    return Rule(combine, IntegerAttr(identity(element.width.data), element))


def _rule_of_floats(kind: Reduction, element: AnyFloat, nan_propagate: bool) -> Rule | None:
    if kind in _EXTREMES:
        number, propagating, start = _EXTREMES[kind]
        least = FloatAttr(start, element)
        return (
            Rule(propagating, least)
            if nan_propagate
            else Rule(number, FloatAttr(nan, element), least)
        )
    if kind not in _FLOATS:
        return None
    combine, identity = _FLOATS[kind]
    return Rule(combine, FloatAttr(identity, element))
