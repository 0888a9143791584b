"""Random elements of arrays, by the seed of the program and the node that loads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from tests.support.random_tile_ir.program import Program

Array = NDArray[Any]

DTYPES: Mapping[str, Any] = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "tf32": np.float32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
}


def random_elements(program: Program, node: int, size: int, element: str, special: bool) -> Array:
    rng = np.random.default_rng([program.seed, node])
    dtype = DTYPES[element]
    if element == "i1":
        return rng.random(size) < 0.5
    if element[0] == "i":
        return rng.integers(-100, 100, size).astype(dtype)
    values = np.round(rng.standard_normal(size) * 8) / 4 + rng.standard_normal(size) / 8
    if element == "f8E8M0FNU":
        codes = (118, 137) if special else (125, 130)
        return rng.integers(*codes, size).astype(np.uint8).view(dtype)
    if element in ("tf32", "f8E4M3FN", "f8E5M2"):
        values = np.round(values)
    if special:
        some = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-41, 1e5], size)
        values = np.where(rng.random(size) < 0.2, some, values)
    with np.errstate(over="ignore"):
        return values.astype(dtype)


def few_elements(program: Program, node: int, size: int, element: str) -> Array:
    """Numbers that constants of the generator may be equal to."""
    rng = np.random.default_rng([program.seed, node])
    values = rng.choice([-3.0, -1.0, 0.0, 1.0, 2.0, 7.0], size)
    return (values if element[0] == "i" else values + np.sign(values) * 0.5).astype(DTYPES[element])
