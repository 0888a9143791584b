"""Scalars whose value is known: constants, and arithmetic of them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, f32
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.memoized_walks import memoized_walk

_FOLDED: Mapping[type[Operation], Callable[..., Any]] = {
    arith.MulfOp: operator.mul,
    arith.AddfOp: operator.add,
    arith.SubfOp: operator.sub,
    arith.NegfOp: operator.neg,
    arith.SIToFPOp: float,
    arith.IndexCastOp: int,
    arith.ExtFOp: float,
}
"""Exact, or rounded once, in f32."""


@memoized_walk
def known_scalar(value: SSAValue) -> float | int | None:
    """Return the value of a scalar of an integer type or of f32; None where it is not known."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp):
        literal = owner.value
        return literal.value.data if isinstance(literal, FloatAttr | IntegerAttr) else None
    fold = _FOLDED.get(type(owner)) if isinstance(owner, Operation) else None
    if fold is None or not isinstance(owner, Operation):
        return None
    is_f32 = value.type == f32
    if not is_f32 and not isinstance(owner, arith.IndexCastOp):
        return None
    operands = [known_scalar(operand) for operand in owner.operands]
    if None in operands:
        return None
    with np.errstate(all="ignore"):
        found = fold(*operands)
        return float(np.float32(found)) if is_f32 else int(found)
