"""Numbers as the hardware has them: element types as numpy types, and rounding between them.

f16, bf16, f32 and f64 round to nearest even and overflow to infinity.  The fp8, fp6 and fp4 types
saturate to their largest finite value, which is the only conversion PTX has for them
(`cvt.rn.satfinite`); NaN stays NaN where the type has one.  tf32 keeps the range of f32 and 10 bits
of mantissa.  Source: PTX ISA, cvt; OCP 8-bit floating point.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypeIs
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
)
from xdsl.ir import Attribute

Array: TypeAlias = NDArray[Any]


def is_array(value: Any) -> TypeIs[Array]:
    """Whether a value is an array: a tile, or a float."""
    return isinstance(value, np.ndarray)


TF32_DROPPED_BITS = 13
"""Mantissa bits of f32 that tf32 does not have."""


@dataclass(frozen=True)
class FloatFormat:
    """A float type: the numpy type that stores it, and whether conversion to it saturates."""

    dtype: np.dtype[Any]
    saturates: bool = False
    is_tf32: bool = False


def _format(dtype: Any, saturates: bool = False) -> FloatFormat:
    return FloatFormat(np.dtype(dtype), saturates)


FLOAT_FORMATS: Mapping[str, FloatFormat] = {
    "f16": _format(np.float16),
    "bf16": _format(ml_dtypes.bfloat16),
    "f32": _format(np.float32),
    "tf32": FloatFormat(np.dtype(np.float32), is_tf32=True),
    "f64": _format(np.float64),
    "f8E4M3FN": _format(ml_dtypes.float8_e4m3fn, saturates=True),
    "f8E5M2": _format(ml_dtypes.float8_e5m2, saturates=True),
    "f8E8M0FNU": _format(ml_dtypes.float8_e8m0fnu),
    "f6E2M3FN": _format(ml_dtypes.float6_e2m3fn, saturates=True),
    "f6E3M2FN": _format(ml_dtypes.float6_e3m2fn, saturates=True),
    "f4E2M1FN": _format(ml_dtypes.float4_e2m1fn, saturates=True),
}
"""Float formats by the name MLIR prints for the type."""

_BY_TYPE: Mapping[type[Attribute], str] = {
    Float16Type: "f16",
    BFloat16Type: "bf16",
    Float32Type: "f32",
    Float64Type: "f64",
}


class ElementError(ValueError):
    """A type whose values have no meaning here."""


def float_format(type_: Attribute) -> FloatFormat | None:
    """The float format of an element type; None for other types."""
    name = _BY_TYPE.get(type(type_)) or str(type_)
    return FLOAT_FORMATS.get(name)


def dtype_of(type_: Attribute) -> np.dtype[Any]:
    """The numpy type that stores elements of `type_`; integers are stored signed, `i1` as bool.

    Raises `ElementError` for a type that is no element.
    """
    if (known := float_format(type_)) is not None:
        return known.dtype
    match type_:
        case IndexType():
            return np.dtype(np.int64)
        case IntegerType():
            return _integer_dtype(type_.width.data)
        case _:
            raise ElementError(f"{type_} is no element type of a tile")


def _integer_dtype(width: int) -> np.dtype[Any]:
    if width == 1:
        return np.dtype(np.bool_)
    for bits in (8, 16, 32, 64):
        if width <= bits:
            return np.dtype(f"int{bits}")
    raise ElementError(f"integers of {width} bits are wider than the 64 that hardware has")


def to_float(values: Array, target: FloatFormat) -> Array:
    """`values` rounded to a float format, to nearest even."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        if target.is_tf32:
            return round_to_tf32(values.astype(np.float32))
        if target.saturates:
            return _saturated(values, target.dtype)
        return values.astype(target.dtype)


def _saturated(values: Array, dtype: np.dtype[Any]) -> Array:
    """Rounded values, those past the largest finite one (infinities too) at that."""
    wide = values.astype(np.float64) if values.dtype == np.float64 else values.astype(np.float32)
    limit: float = float(ml_dtypes.finfo(dtype).max)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    return np.clip(wide, -limit, limit).astype(dtype)


def round_to_tf32(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """f32 values rounded to 10 bits of mantissa, to nearest even; NaN and infinity stay."""
    bits = values.view(np.uint32)
    half = np.uint32((1 << (TF32_DROPPED_BITS - 1)) - 1)
    odd = (bits >> TF32_DROPPED_BITS) & 1
    rounded = (bits + half + odd) & np.uint32(~((1 << TF32_DROPPED_BITS) - 1) & 0xFFFFFFFF)
    special = (bits & 0x7F800000) == 0x7F800000
    return np.where(special, bits, rounded).astype(np.uint32).view(np.float32)


def wrap_integer(values: Array, width: int) -> Array:
    """Integers of any size wrapped to `width` bits, two's complement, in their storage type."""
    dtype = _integer_dtype(width)
    if width == 1:
        return (values & 1).astype(np.bool_)
    wide = values.astype(np.int64)
    if width == 64:
        return wide
    sign = np.int64(1) << np.int64(width - 1)
    mask = (np.int64(1) << np.int64(width)) - 1
    return (((wide & mask) ^ sign) - sign).astype(dtype)


def unsigned(values: Array, width: int) -> NDArray[np.uint64]:
    """The same bits read as unsigned integers of `width` bits."""
    if values.dtype == np.bool_:
        return values.astype(np.uint64)
    wide = values.astype(np.int64).view(np.uint64)
    return wide if width == 64 else wide & np.uint64((1 << width) - 1)


def cast(values: Array, type_: Attribute) -> Array:
    """`values` as elements of `type_`: rounded for floats, wrapped for integers."""
    if (known := float_format(type_)) is not None:
        return to_float(values, known)
    match type_:
        case IntegerType():
            return wrap_integer(values, _width(type_))
        case _:
            return values.astype(dtype_of(type_))


def _width(type_: Attribute) -> int:
    assert isinstance(type_, IntegerType)
    return int(type_.width.data)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def matmul_f32(a: Array, b: Array, c: Array) -> NDArray[np.float32]:
    """`a @ b + c` with f32 accumulation, as tensor cores do; operands are exact in f32."""
    with np.errstate(over="ignore", invalid="ignore"):
        product = np.matmul(a.astype(np.float32), b.astype(np.float32))
        return (product + c.astype(np.float32)).astype(np.float32)
