"""`nvcc --use_fast_math` as flags of operations: approximate functions, contracted products.

Subnormal operands and results of approximate functions may be zero (`float_modes`).
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation
from xdsl.utils.hints import isa

FAST = arith.FastMathFlagsAttr([FastMathFlag.APPROX_FUNC, FastMathFlag.ALLOW_CONTRACT])

APPROXIMATE = arith.FastMathFlagsAttr([FastMathFlag.APPROX_FUNC])


def _has_flags(kind: Any) -> bool:
    return "fastmath" in kind.get_irdl_definition().properties


_FLAGGED = frozenset(filter(_has_flags, (*arith.Arith.operations, *math.Math.operations)))
"""Operations that have such flags."""


def allow_fast_math(module: Operation) -> None:
    """Let the operations on floats of a module be approximate and contracted."""
    for op in module.walk():
        is_float = all(isa(value.type, AnyFloat) for value in op.results)
        if type(op) in _FLAGGED and is_float:
            op.properties["fastmath"] = FAST
