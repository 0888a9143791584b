"""The operation and the identity of each reduction of `tl`, by element type.

>>> from xdsl.dialects.builtin import i32
>>> identity_of(Reduction.MAX, i32).value.data
-2147483648
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from tileas_xdsl.dialects.tl.enums import Reduction

Combine: TypeAlias = Callable[[SSAValue, SSAValue], Operation]
"""Makes the operation that combines two values."""

_FLOATS: Mapping[Reduction, tuple[Combine, float]] = {
    Reduction.SUM: (arith.AddfOp, 0.0),
    Reduction.ABSSUM: (arith.AddfOp, 0.0),
    Reduction.PROD: (arith.MulfOp, 1.0),
    Reduction.MAX: (arith.MaximumfOp, float("-inf")),
    Reduction.ABSMAX: (arith.MaximumfOp, float("-inf")),
    Reduction.MIN: (arith.MinimumfOp, float("inf")),
}

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


def combine_of(kind: Reduction, element: Attribute) -> Combine | None:
    """Return what combines two elements; None where elements are not combined so."""
    found = (_FLOATS if isa(element, AnyFloat) else _INTEGERS).get(kind)
    return None if found is None else found[0]


def identity_of(
    kind: Reduction, element: Attribute
) -> FloatAttr[AnyFloat] | IntegerAttr[IntegerType]:
    """Return the element that leaves every other as it is."""
    if isa(element, AnyFloat):
        return FloatAttr(_FLOATS[kind][1], element)
    assert isa(element, IntegerType)
    return IntegerAttr(_INTEGERS[kind][1](element.width.data), element)
