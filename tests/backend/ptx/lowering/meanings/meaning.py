"""The semantics of one operation on a fragment, and constructors of such test cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

DTYPES: dict[str, Any] = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "index": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}


@dataclass(frozen=True)
class Meaning:
    """An operation and its numpy reference: `body` computes `%r` from `%x0`, `%x1` ..."""

    name: str
    inputs: tuple[str, ...]
    output: str
    body: str
    expected: Callable[..., Array]
    count: int = 4
    out_count: int | None = None
    tolerance: float = 0.0
    """Permitted relative error of an approximation."""
    absolute: float = 0.0
    """Permitted absolute error of one whose relative error is not bounded: `lg2` near 1."""
    positive: bool = False
    """Whether the first input must be positive."""
    nonzero: bool = False
    """Whether the last input must not be zero."""
    shift: bool = False
    """Whether the last input is a shift amount."""


def vector_of(element: str, count: int) -> str:
    return element if count == 1 else f"vector<{count}x{element}>"


def binary(
    op: str, element: str, expected: Callable[..., Array], count: int = 4, **flags: Any
) -> Meaning:
    type_ = vector_of(element, count)
    body = f"%r = arith.{op} %x0, %x1 : {type_}"
    name = f"{op.replace(' ', '_')}-{type_}"
    return Meaning(name, (element, element), element, body, expected, count, **flags)


def wide(function: Callable[..., Array]) -> Callable[..., Array]:
    """Return a function that computes in f32 and rounds to the operand type."""

    def computed(*operands: Array) -> Array:
        wide = [x if x.dtype == np.float64 else x.astype(np.float32) for x in operands]
        return function(*wide).astype(operands[0].dtype)

    return computed


def unsigned(function: Callable[..., Array]) -> Callable[..., Array]:
    def computed(*operands: Array) -> Array:
        views = [x.view(f"u{x.dtype.itemsize}") for x in operands]
        return function(*views).astype(views[0].dtype).view(operands[0].dtype)

    return computed
