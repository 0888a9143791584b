"""Accuracy of the functions of `math`, and the instructions that approximate them.

Bounds are those of the CUDA math library for f32: the largest error, in units of the last place
(ulp), against the correctly rounded result (CUDA C++ Programming Guide, Mathematical Functions).
The expansions stay within them; `measured` is the largest error found on some millions of random
and special arguments.  Approximations are as in PTX ISA 9.7.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tileas_xdsl.data_classes import dataclass


@dataclass(frozen=True, slots=True)
class MathFunction:
    """One operation of `math` on f32."""

    bound: int
    """Maximum error in ulp."""
    measured: int
    instructions: tuple[str, ...] = ()
    """What computes it accurately; empty where it becomes a sequence of `arith`."""
    fast: tuple[str, ...] = ()
    """What computes it where it may be approximate; empty where nothing is faster."""
    fast_error: str = ""


_LG2 = "2^-22: absolute in (0.5, 2), relative elsewhere"
_SINE = "absolute 2^-20.5 in [-pi, pi]"

MATH_FUNCTIONS: Mapping[str, MathFunction] = MappingProxyType(
    {
        "acos": MathFunction(2, 1),
        "acosh": MathFunction(4, 2),
        "asin": MathFunction(2, 2),
        "asinh": MathFunction(3, 2),
        "atan": MathFunction(2, 1),
        "atan2": MathFunction(3, 2),
        "atanh": MathFunction(3, 2),
        "cbrt": MathFunction(1, 1),
        "cos": MathFunction(2, 1, fast=("cos.approx",), fast_error=_SINE),
        "cosh": MathFunction(2, 2),
        "erf": MathFunction(2, 1),
        "exp": MathFunction(2, 2, fast=("mul", "ex2.approx"), fast_error="2 + 1.2 abs(x) ulp"),
        "exp2": MathFunction(2, 2, ("ex2.approx",), ("ex2.approx",), "2 ulp"),
        "expm1": MathFunction(1, 1),
        "fpowi": MathFunction(4, 1),
        "log": MathFunction(1, 1, fast=("lg2.approx", "mul"), fast_error=_LG2),
        "log10": MathFunction(2, 1, fast=("lg2.approx", "mul"), fast_error=_LG2),
        "log1p": MathFunction(1, 1),
        "log2": MathFunction(1, 1, fast=("lg2.approx",), fast_error=_LG2),
        "powf": MathFunction(
            4,
            1,
            fast=("lg2.approx", "mul", "ex2.approx"),
            fast_error="that of both, times y log(x)",
        ),
        "rsqrt": MathFunction(2, 2, ("rsqrt.approx",), ("rsqrt.approx",), "relative 2^-22.9"),
        "sin": MathFunction(2, 1, fast=("sin.approx",), fast_error=_SINE),
        "sinh": MathFunction(3, 2),
        "sqrt": MathFunction(0, 0, ("sqrt.rn",), ("sqrt.approx",), "relative 2^-23"),
        "tan": MathFunction(
            4, 3, fast=("sin.approx", "cos.approx", "div.approx"), fast_error="that of both"
        ),
        "tanh": MathFunction(
            2, 2, fast=("tanh.approx",), fast_error="relative 2^-11 (H200: 2^-16.4)"
        ),
    }
)
"""By the name of the operation."""

BOUNDS_F64: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("cos", "exp", "exp2", "log", "log10", "log2", "sin", "tanh"), 1),
        **dict.fromkeys(("atan2", "cosh", "fpowi", "powf", "sinh", "tan"), 2),
    }
)
"""Maximum error in ulp of the expanded f64 functions."""
