"""By operation class, the sequence that it expands to."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.dialects import math
from xdsl.ir import Operation

from tileas_xdsl.transforms.math_functions import rounding as roundings
from tileas_xdsl.transforms.math_functions.expression_builder import Value
from tileas_xdsl.transforms.math_functions.f32 import (
    error_function,
    exponentials,
    logarithms,
    powers,
    trigonometry,
)
from tileas_xdsl.transforms.math_functions.f32 import inverse_trigonometry as inverse
from tileas_xdsl.transforms.math_functions.f64 import exponentials as doubles
from tileas_xdsl.transforms.math_functions.f64 import powers as double_powers
from tileas_xdsl.transforms.math_functions.f64 import trigonometry as double_trigonometry

Expansion = Callable[..., Value]

IN_F32: Mapping[type[Operation], Expansion] = {
    math.AcosOp: inverse.acos,
    math.AcoshOp: logarithms.acosh,
    math.AsinOp: inverse.asin,
    math.AsinhOp: logarithms.asinh,
    math.Atan2Op: inverse.atan2,
    math.AtanOp: inverse.atan,
    math.AtanhOp: logarithms.atanh,
    math.CbrtOp: powers.cbrt,
    math.CoshOp: exponentials.cosh,
    math.ErfOp: error_function.erf,
    math.ExpM1Op: exponentials.expm1,
    math.ExpOp: exponentials.exp,
    math.FPowIOp: powers.fpowi,
    math.Log10Op: logarithms.log10,
    math.Log1pOp: logarithms.log1p,
    math.Log2Op: logarithms.log2,
    math.LogOp: logarithms.log,
    math.PowFOp: powers.powf,
    math.SinhOp: exponentials.sinh,
    math.TanhOp: exponentials.tanh,
}
"""Functions of f32, element by element; narrower floats are extended before and rounded behind."""

OF_NORMAL: Mapping[type[Operation], Expansion] = {
    math.Log2Op: logarithms.log2_of_normal,
    math.LogOp: logarithms.log_of_normal,
}
"""Functions of f32 whose arguments are known to be no less than the smallest normal number."""

IN_F64: Mapping[type[Operation], Expansion] = {
    math.Atan2Op: double_powers.atan2,
    math.CoshOp: doubles.cosh,
    math.Exp2Op: doubles.exp2,
    math.ExpOp: doubles.exp,
    math.Log10Op: doubles.log10,
    math.Log2Op: doubles.log2,
    math.LogOp: doubles.log,
    math.FPowIOp: double_powers.fpowi,
    math.PowFOp: double_powers.powf,
    math.SinhOp: doubles.sinh,
    math.TanhOp: doubles.tanh,
}
"""Functions of f64, element by element."""

WHOLE_IN_F64: Mapping[type[Operation], Expansion] = {
    math.CosOp: double_trigonometry.cos,
    math.SinOp: double_trigonometry.sin,
    math.TanOp: double_trigonometry.tan,
}
"""Functions of f64 that look at a fragment as a whole."""

WHOLE_IN_F32: Mapping[type[Operation], Expansion] = {
    math.CosOp: trigonometry.cos,
    math.SinOp: trigonometry.sin,
    math.TanOp: trigonometry.tan,
}
"""Functions of f32 that look at a fragment as a whole."""

IN_ANY: Mapping[type[Operation], Expansion] = {
    math.CopySignOp: roundings.copysign,
    math.IPowIOp: powers.ipowi,
    math.RoundOp: roundings.round_half_away,
}
"""Sequences for elements of any width, on fragments as on scalars."""
