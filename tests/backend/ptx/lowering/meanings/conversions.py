"""Conversions between element types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tests.backend.ptx.lowering.meanings.meaning import DTYPES, Array, Meaning, vector_of


def _conversion(op: str, source: str, target: str, count: int, expected: Any = None) -> Meaning:
    source_type, target_type = vector_of(source, count), vector_of(target, count)
    body = f"%r = arith.{op} %x0 : {source_type} to {target_type}"

    def computed(x: Array) -> Array:
        wide = x.astype(np.float32) if "f8" in source + target else x
        return wide.astype(DTYPES[target])

    return Meaning(
        f"{op}-{source_type}-{target_type}", (source,), target, body, expected or computed, count
    )


def _saturated(target: str) -> Callable[[Array], Array]:
    dtype = DTYPES[target]
    largest = float(ml_dtypes.finfo(dtype).max)

    def computed(x: Array) -> Array:
        return np.clip(x.astype(np.float32), -largest, largest).astype(dtype)

    return computed


def _saturated_integers(x: Array) -> Array:
    """Return the PTX result where the IR leaves it undefined: nearest integer, 0 for NaN."""
    wide = np.nan_to_num(np.trunc(x.astype(np.float64)), nan=0.0, posinf=2.0**40, neginf=-(2.0**40))
    return np.clip(wide, -(2**31), 2**31 - 1).astype(np.int32)


def _saturated_unsigned(x: Array) -> Array:
    wide = np.nan_to_num(np.trunc(x.astype(np.float64)), nan=0.0, posinf=2.0**40, neginf=-1.0)
    return np.clip(wide, 0, 2**32 - 1).astype(np.uint32).view(np.int32)


CONVERSIONS = [
    *(
        _conversion("truncf", "f32", target, count)
        for target in ("f16", "bf16")
        for count in (1, 2, 8)
    ),
    *(
        _conversion("truncf", source, target, count, _saturated(target))
        for source in ("f32", "f16", "bf16")
        for target in ("f8E4M3FN", "f8E5M2")
        for count in (1, 2, 4, 16)
    ),
    *(
        _conversion("extf", source, "f32", count)
        for source in ("f16", "bf16", "f8E4M3FN", "f8E5M2")
        for count in (1, 2, 8)
    ),
    _conversion("extf", "f8E4M3FN", "f16", 4),
    _conversion("extf", "f32", "f64", 2),
    _conversion("truncf", "f64", "f32", 2),
    _conversion("sitofp", "i32", "f32", 1),
    _conversion("sitofp", "i64", "f32", 1),
    _conversion("sitofp", "i32", "f16", 1, lambda x: x.astype(np.float64).astype(np.float16)),
    _conversion("uitofp", "i32", "f32", 1, lambda x: x.view(np.uint32).astype(np.float32)),
    _conversion("extsi", "i32", "i64", 1),
    _conversion("extui", "i32", "i64", 1, lambda x: x.view(np.uint32).astype(np.int64)),
    _conversion("extsi", "i16", "i32", 1),
    _conversion("extsi", "i8", "i32", 1),
    _conversion("extui", "i8", "i32", 1, lambda x: x.view(np.uint8).astype(np.int32)),
    _conversion("trunci", "i64", "i32", 1),
    _conversion("trunci", "i32", "i16", 1),
    _conversion("trunci", "i32", "i8", 1),
    _conversion("fptosi", "f32", "i32", 1, _saturated_integers),
    _conversion("fptosi", "bf16", "i32", 1, _saturated_integers),
    _conversion(
        "fptosi", "f32", "i8", 1, lambda x: np.clip(np.nan_to_num(x), -128, 127).astype("i1")
    ),
    _conversion("fptoui", "f16", "i32", 1, _saturated_unsigned),
    _conversion("uitofp", "i8", "f32", 1, lambda x: x.view(np.uint8).astype(np.float32)),
    _conversion("bitcast", "f32", "i32", 4, lambda x: x.view(np.int32)),
    _conversion("bitcast", "i16", "bf16", 1, lambda x: x.view(ml_dtypes.bfloat16)),
    _conversion("bitcast", "i64", "f64", 1, lambda x: x.view(np.float64)),
]
