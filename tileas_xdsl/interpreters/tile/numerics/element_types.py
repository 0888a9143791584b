"""Element types as numpy types, and rounding between them.

f16, bf16, f32 and f64 round to nearest even and overflow to infinity.  The fp8, fp6 and fp4 types
saturate to their largest finite value, which is the only conversion PTX has for them
(`cvt.rn.satfinite`); NaN stays NaN where the type has one and is the largest value elsewhere.  tf32
has the range of f32 and 10 bits of mantissa.  Every conversion rounds once, whatever its source.
Source: PTX ISA, cvt; OCP 8-bit floating point.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
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

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.interpreters.matmul import matmul

Array: TypeAlias = NDArray[Any]


def is_array(value: Any) -> TypeIs[Array]:
    """Return whether a value is an array: a tile, or a float."""
    return isinstance(value, np.ndarray)


TF32_DROPPED_BITS = 13
"""Mantissa bits of f32 that tf32 does not have."""


@dataclass(frozen=True)
class FloatFormat:
    """A float type: the numpy type that stores it, and whether conversion to it saturates."""

    dtype: np.dtype[Any]
    saturates: bool = False
    is_tf32: bool = False
    packed_bits: int | None = None
    """Bits in a packed array where the storage type has more."""

    @property
    def is_scale(self) -> bool:
        """Whether the numbers are the powers of two."""
        return self.dtype == ml_dtypes.float8_e8m0fnu


def _format(dtype: Any, saturates: bool = False, bits: int | None = None) -> FloatFormat:
    return FloatFormat(np.dtype(dtype), saturates, packed_bits=bits)


FLOAT_FORMATS: Mapping[str, FloatFormat] = {
    "f16": _format(np.float16),
    "bf16": _format(ml_dtypes.bfloat16),
    "f32": _format(np.float32),
    "tf32": FloatFormat(np.dtype(np.float32), is_tf32=True),
    "f64": _format(np.float64),
    "f8E4M3FN": _format(ml_dtypes.float8_e4m3fn, saturates=True),
    "f8E5M2": _format(ml_dtypes.float8_e5m2, saturates=True),
    "f8E8M0FNU": _format(ml_dtypes.float8_e8m0fnu),
    "f6E2M3FN": _format(ml_dtypes.float6_e2m3fn, saturates=True, bits=6),
    "f6E3M2FN": _format(ml_dtypes.float6_e3m2fn, saturates=True, bits=6),
    "f4E2M1FN": _format(ml_dtypes.float4_e2m1fn, saturates=True, bits=4),
}
"""Float formats by the name MLIR prints for the type."""

_BY_TYPE: Mapping[type[Attribute], str] = {
    Float16Type: "f16",
    BFloat16Type: "bf16",
    Float32Type: "f32",
    Float64Type: "f64",
}


class ElementError(ValueError):
    """A type that is not an element type of the interpreter."""


def float_format(type_: Attribute) -> FloatFormat | None:
    """The float format of an element type; None for other types."""
    name = _BY_TYPE.get(type(type_)) or str(type_)
    return FLOAT_FORMATS.get(name)


def dtype_of(type_: Attribute) -> np.dtype[Any]:
    """Return the numpy type that stores elements of `type_`.

    Integers are stored signed, `i1` as bool, pointers as addresses.  Raises `ElementError` for a
    type that is no element type.
    """
    if (known := float_format(type_)) is not None:
        return known.dtype
    match type_:
        case IndexType():
            return np.dtype(np.int64)
        case IntegerType():
            return _integer_dtype(type_.width.data)
        case PtrType():
            return np.dtype(np.int64)
        case _:
            raise ElementError(f"{type_} is no element type of a tile")


def _integer_dtype(width: int) -> np.dtype[Any]:
    if width == 1:
        return np.dtype(np.bool_)
    for bits in (8, 16, 32, 64):
        if width <= bits:
            return np.dtype(f"int{bits}")
    raise ElementError(f"integers of {width} bits are wider than the 64 that hardware has")


_DIRECT = (np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64))
"""Types that numpy converts to with a single rounding."""


_MIN_SCALE = np.zeros((), np.uint8).view(ml_dtypes.float8_e8m0fnu)
"""2**-127, whose bits are zeros: scales have no zero (ml_dtypes takes NaN for it)."""


def to_float(values: Array, target: FloatFormat) -> Array:
    """Round `values` to a float format, to nearest even; may return the same array."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        if target.dtype in _DIRECT and not target.is_tf32:
            return values.astype(target.dtype, copy=False)
        single = single_to_odd(values)
        if target.is_tf32:
            return round_to_tf32(single)
        if target.saturates:
            return _saturated(single, target)
        found = single.astype(target.dtype)
        return np.where(single == 0, _MIN_SCALE, found) if target.is_scale else found


def _saturated(values: NDArray[np.float32], target: FloatFormat) -> Array:
    """Clamp rounded values, infinities too, to the largest finite one."""
    limit: float = float(ml_dtypes.finfo(target.dtype).max)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    clipped = np.clip(values, -limit, limit)
    if target.packed_bits is not None:
        clipped = np.where(np.isnan(clipped), np.float32(limit), clipped)
    return clipped.astype(target.dtype)


def single_to_odd(values: Array) -> NDArray[np.float32]:
    """Round numbers to f32, inexact ones to odd, so that a second rounding rounds only once.

    Rounding to nearest twice goes wrong where the first rounding makes a tie.  Source: Boldo and
    Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to
    odd".
    """
    if values.dtype.itemsize < 4 or values.dtype == np.float32:
        return values.astype(np.float32, copy=False)
    double = values if values.dtype == np.float64 else _double_to_odd(values)
    single = np.asarray(double.astype(np.float32))
    inexact = (single != double) & np.isfinite(double)
    if not inexact.any():
        return single
    bits = single.view(np.uint32)
    odd = (bits - (np.abs(single) > np.abs(double))) | 1
    return np.where(inexact, odd, bits).astype(np.uint32).view(np.float32)


def _double_to_odd(values: Array) -> NDArray[np.float64]:
    """Return integers as f64, rounded to odd past 53 bits."""
    if values.dtype.itemsize < 8:
        return values.astype(np.float64)
    dropped = values.dtype.type(0x7FF)
    odd = (values & ~dropped) | np.where(values & dropped, dropped + values.dtype.type(1), 0)
    limit = 1 << 53
    large = values >= limit
    if values.dtype.kind == "i":
        large |= values <= -limit
    return np.where(large, odd.astype(values.dtype), values).astype(np.float64)


def round_to_tf32(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Round f32 values to 10 bits of mantissa, to nearest even; NaN and infinity stay."""
    bits = values.view(np.uint32)
    half = np.uint32((1 << (TF32_DROPPED_BITS - 1)) - 1)
    odd = (bits >> TF32_DROPPED_BITS) & 1
    rounded = (bits + half + odd) & np.uint32(~((1 << TF32_DROPPED_BITS) - 1) & 0xFFFFFFFF)
    special = (bits & 0x7F800000) == 0x7F800000
    return np.where(special, bits, rounded).astype(np.uint32).view(np.float32)


def truncate_to_tf32(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Clear the 13 mantissa bits of f32 that tensor cores ignore when they read tf32.

    PTX leaves this open; mma.sync and wgmma on an H200 do so, also for a NaN whose bits are all
    dropped: it is read as infinity.
    """
    kept = np.uint32(0xFFFFFFFF >> TF32_DROPPED_BITS << TF32_DROPPED_BITS)
    return (values.view(np.uint32) & kept).view(np.float32)


def wrap_integer(values: Array, width: int) -> Array:
    """Wrap integers to `width` bits, two's complement, in their storage type."""
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
    """Reinterpret values as unsigned integers of `width` bits."""
    if values.dtype == np.bool_:
        return values.astype(np.uint64)
    wide = values.astype(np.int64).view(np.uint64)
    return wide if width == 64 else wide & np.uint64((1 << width) - 1)


def cast(values: Array, type_: Attribute) -> Array:
    """Cast `values` to `type_`: rounded for floats, wrapped for integers."""
    if (known := float_format(type_)) is not None:
        return to_float(values, known)
    match type_:
        case IntegerType():
            return wrap_integer(values, _width(type_))
        case _:
            return values.astype(dtype_of(type_))


def literal(numbers: Array, type_: Attribute) -> Array:
    """Numbers of constants and padding as elements: infinity stays, where conversions saturate."""
    infinite = np.isinf(numbers)
    found = np.asarray(cast(np.where(infinite, 0, numbers), type_))
    return np.where(infinite, numbers.astype(found.dtype), found) if infinite.any() else found


def _width(type_: Attribute) -> int:
    assert isinstance(type_, IntegerType)
    return int(type_.width.data)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


_TABLED = (
    np.float16,
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e8m0fnu,
    ml_dtypes.float6_e2m3fn,
    ml_dtypes.float6_e3m2fn,
    ml_dtypes.float4_e2m1fn,
)
"""Types that are widened by table lookup, twice as fast as by numpy."""


@lru_cache(maxsize=16)
def _table(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], NDArray[np.float32]] | None:
    """Return the integer type of the bits of `dtype`, and the f32 values of all bit patterns."""
    if dtype.type not in _TABLED:
        return None
    bits = np.dtype(f"uint{8 * dtype.itemsize}")
    every = np.arange(1 << (8 * dtype.itemsize)).astype(bits).view(dtype)
    with np.errstate(invalid="ignore"):
        return bits, every.astype(np.float32)


def widened(values: Array) -> NDArray[np.float32]:
    """Widen floats of at most 32 bits to f32, exactly; f32 arrays are returned as they are."""
    if values.dtype == np.float32:
        return values
    found = _table(values.dtype)
    if found is None:
        return values.astype(np.float32)
    bits, table = found
    return np.asarray(table.take(values.view(bits)))


def matmul_f32(a: Array, b: Array, c: Array) -> NDArray[np.float32]:
    """Return `a @ b + c` with f32 accumulation, as tensor cores do; operands are exact in f32."""
    with np.errstate(over="ignore", invalid="ignore"):
        product: NDArray[np.float32] = matmul(widened(a), widened(b))
        return np.add(product, widened(c), out=product)


def packed_bits(type_: Attribute) -> int:
    """Return the bits of an element in a packed array: 4 for f4E2M1FN and i4, 1 for `i1`."""
    known = float_format(type_)
    if known is not None and known.packed_bits is not None:
        return known.packed_bits
    match type_:
        case IntegerType():
            return _width(type_)
        case _:
            return 8 * dtype_of(type_).itemsize


def to_bytes(values: Array, type_: Attribute) -> NDArray[np.uint8]:
    """Pack the elements in row-major order, from the lowest bit of each byte on."""
    bits, size = packed_bits(type_), values.dtype.itemsize
    plain = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    if bits == 8 * size:
        return plain
    every = np.unpackbits(plain.reshape(-1, size), axis=1, bitorder="little")
    return np.packbits(every[:, :bits], bitorder="little")


def from_bytes(packed: NDArray[np.uint8], type_: Attribute, count: int) -> Array:
    """Unpack the first `count` elements of a result of `to_bytes`."""
    dtype, bits = dtype_of(type_), packed_bits(type_)
    if bits == 8 * dtype.itemsize:
        return packed[: count * dtype.itemsize].view(dtype)
    every = np.unpackbits(packed, count=count * bits, bitorder="little").reshape(count, bits)
    wide = np.zeros((count, 8 * dtype.itemsize), np.uint8)
    wide[:, :bits] = every
    if dtype.kind == "i":
        wide[:, bits:] = every[:, bits - 1 :]
    return np.packbits(wide, axis=1, bitorder="little").reshape(-1).view(dtype)
