"""The expansions of `math` evaluated by the interpreter, on arrays, and how far off they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import f32, i32
from xdsl.ir import Block, SSAValue

from tileas_xdsl.dialects.cute import YieldFragmentOp
from tileas_xdsl.interpreters.tile.tensor_ops.vectorized_body import VectorizedBody
from tileas_xdsl.transforms.math_functions.expansions import IN_F32
from tileas_xdsl.transforms.math_functions.expression_builder import Scope, Value
from tileas_xdsl.transforms.math_functions.f32.range_reduction import far, near
from tileas_xdsl.transforms.math_functions.f32.trigonometry import OF_REDUCED

Array: TypeAlias = NDArray[Any]


def _trigonometric(name: str) -> Callable[[Value], Value]:
    def function(x: Value) -> Value:
        return OF_REDUCED[name](*far(x, *near(x)))

    return function


EXPANSIONS: Mapping[str, Callable[..., Value]] = {
    **{kind.name.removeprefix("math."): function for kind, function in IN_F32.items()},
    **{name: _trigonometric(name) for name in OF_REDUCED},
}
"""Expansions of f32 functions by operation name."""


def _no_outside(value: SSAValue) -> Any:
    raise AssertionError(f"{value} is not of the body")


def evaluated(name: str, *arrays: Array) -> Array:
    """Return the results of the expansion of a function on arrays of f32 (and of i32)."""
    return evaluated_by(EXPANSIONS[name], *arrays)


def evaluated_by(function: Callable[..., Value], *arrays: Array) -> Array:
    """Return the results of an expansion interpreted on arrays of f32 (and of i32)."""
    elements = [f32 if array.dtype == np.float32 else i32 for array in arrays]
    block = Block(arg_types=elements)
    scope = Scope(block.add_op)
    result = function(*(scope.take(argument) for argument in block.args))
    block.add_op(YieldFragmentOp([result.ssa]))
    with np.errstate(all="ignore"):
        return VectorizedBody(block, _no_outside)(*arrays)


_erf: Callable[[Array], Array] = np.vectorize(math.erf, otypes=[np.float64])

REFERENCES: Mapping[str, Callable[..., Array]] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "cos": np.cos,
    "cosh": np.cosh,
    "erf": lambda x: _erf(x.astype(np.float64)),
    "exp": np.exp,
    "expm1": np.expm1,
    "fpowi": np.power,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "powf": np.power,
    "sin": np.sin,
    "sinh": np.sinh,
    "tan": np.tan,
    "tanh": np.tanh,
}


def reference(name: str, *arrays: Array) -> Array:
    """Return the extended-precision numpy reference, which rounds to f32 like the exact value."""
    with np.errstate(all="ignore"):
        return np.asarray(REFERENCES[name](*(array.astype(np.longdouble) for array in arrays)))


SPECIAL = (
    0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 2.0**-126, -(2.0**-126), 3.4e38,
    -3.4e38, 0.5, -0.5, 2.0, -2.0, 88.72284, 88.9, 89.4, -87.4, -103.97, -104.1, 2.0**24, 65536.0,
    -65536.0, 1e10, 1 - 2.0**-24, 2.0**-24 - 1, 1 + 2.0**-23, 0.92, 4.0, 2.0**25, 2.0**-12,
)  # fmt: skip


def samples(rng: np.random.Generator, size: int) -> NDArray[np.float32]:
    """Return random bit patterns, values near 0 and 1, and values of the usual argument range."""
    bits = rng.integers(0, 1 << 32, size, dtype=np.uint64).astype(np.uint32).view(np.float32)
    parts = (
        bits,
        rng.standard_normal(size) * 3,
        rng.uniform(-1, 1, size),
        rng.uniform(-110, 110, size),
        1 + rng.uniform(-0.5, 0.6, size),
        rng.uniform(-70000, 70000, size),
        SPECIAL,
    )
    with np.errstate(over="ignore"):
        return np.concatenate([np.asarray(part, np.float32) for part in parts])


def arguments(name: str, rng: np.random.Generator, size: int) -> list[Array]:
    """Return arguments of a function, with all pairs of special values for binary functions."""
    x = samples(rng, size)
    if name not in ("atan2", "powf", "fpowi"):
        return [x]
    first, second = (array.ravel() for array in np.meshgrid(*[np.array(SPECIAL, np.float32)] * 2))
    if name == "fpowi":
        wide = rng.integers(-(1 << 31), 1 << 31, x.size)
        small = rng.integers(-40, 41, x.size)
        return [x, np.where(rng.random(x.size) < 0.5, wide, small).astype(np.int32)]
    y = rng.permutation(x)
    near_one = np.where(rng.random(x.size) < 0.5, np.abs(x), x)
    return [np.concatenate([near_one, first]), np.concatenate([y, second])]


def distance(found: Array, exact: Array) -> NDArray[np.int64]:
    """Return the error in ulp of the exact result; 2**40 for a wrong NaN or sign."""
    with np.errstate(over="ignore"):
        wanted = exact.astype(np.float32)
    apart = np.abs(_ordered(found) - _ordered(wanted))
    nan = np.isnan(found) | np.isnan(wanted)
    apart = np.where(nan, 0, apart)
    wrong = np.isnan(found) != np.isnan(wanted)
    wrong |= ~nan & (wanted == 0) & (found == 0) & (np.signbit(found) != np.signbit(wanted))
    return np.where(wrong, 1 << 40, apart)


def _ordered(values: Array) -> NDArray[np.int64]:
    bits = np.ascontiguousarray(values, np.float32).view(np.int32).astype(np.int64)
    return np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)
