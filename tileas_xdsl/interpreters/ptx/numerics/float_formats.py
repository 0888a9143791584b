"""Floating-point formats as bits: decoding to doubles, encoding with every rounding.

Sources: PTX ISA 5.2.3, alternate floating-point data formats; OCP MX specification.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Format:
    """A binary float format; `shift` unused bits follow the mantissa in the register."""

    name: str
    exponent: int
    mantissa: int
    has_infinity: bool = True
    nan: int | None = None
    """The bits of the NaN that conversions give; None where the format has none."""
    shift: int = 0
    max_bits: int = 0
    """The bits of the largest finite number, without sign and shift."""

    @property
    def bits(self) -> int:
        """Width without the shift."""
        return 1 + self.exponent + self.mantissa

    @property
    def bias(self) -> int:
        """The exponent's bias."""
        return (1 << (self.exponent - 1)) - 1

    @property
    def smallest(self) -> int:
        """The exponent of the last bit of a subnormal number."""
        return 1 - self.bias - self.mantissa


def _ieee(name: str, exponent: int, mantissa: int, nan: int, shift: int = 0) -> Format:
    largest = (((1 << exponent) - 1) << mantissa) - 1
    return Format(name, exponent, mantissa, True, nan, shift, largest)


FORMATS: Mapping[str, Format] = {
    f.name: f
    for f in (
        _ieee("f64", 11, 52, 0x7FFFFFFFFFFFFFFF),
        _ieee("f32", 8, 23, 0x7FFFFFFF),
        _ieee("tf32", 8, 10, 0x3FFFF, 13),
        _ieee("f16", 5, 10, 0x7FFF),
        _ieee("bf16", 8, 7, 0x7FFF),
        _ieee("e5m2", 5, 2, 0x7F),
        Format("e4m3", 4, 3, False, 0x7F, 0, 0x7E),
        Format("e2m3", 2, 3, False, None, 0, 0x1F),
        Format("e3m2", 3, 2, False, None, 0, 0x1F),
        Format("e2m1", 2, 1, False, None, 0, 0x7),
    )
}
"""The signed formats by name.  `ue8m0` is a power of two and has its own functions."""


def decode(bits: Array, name: str) -> Array:
    """Decode `bits` (unsigned integers) of a format to doubles."""
    if name == "f64":
        return np.asarray(bits, np.uint64).view(np.float64)
    if name == "f32":
        return np.asarray(bits, np.uint32).view(np.float32).astype(np.float64)
    if name == "tf32":
        cut = np.asarray(bits, np.uint32) & np.uint32(0xFFFFE000)
        return cut.view(np.float32).astype(np.float64)
    if name == "f16":
        return np.asarray(bits, np.uint16).view(np.float16).astype(np.float64)
    if name == "bf16":
        return single_of_bf16(np.asarray(bits, np.uint16)).astype(np.float64)
    return _table(name)[np.asarray(bits, np.uint8)].astype(np.float64)


def singles(bits: Array, name: str) -> Array:
    """Decode to `float32`, which represents every format but f64."""
    if name == "bf16":
        return single_of_bf16(bits)
    if name == "f16":
        return np.asarray(bits, np.uint16).view(np.float16).astype(np.float32)
    if name == "tf32":
        return (np.asarray(bits, np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    if name == "f32":
        return np.asarray(bits, np.uint32).view(np.float32)
    return _table(name)[np.asarray(bits, np.uint8)]


def single_of_bf16(bits: Array) -> Array:
    """Decode bf16, the upper half of an f32."""
    return (np.asarray(bits, np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)


def bf16_of_single(values: Array) -> Array:
    """Round f32 to bf16 to nearest even; NaN becomes canonical."""
    wide = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (wide + np.uint32(0x7FFF) + ((wide >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    bits = rounded.astype(np.uint16)
    is_nan = values != values
    return np.where(is_nan, np.uint16(0x7FFF), bits) if is_nan.any() else bits


@cache
def _table(name: str) -> Array:
    """Return all values of a format of at most 8 bits, indexed by byte; higher bits are ignored."""
    byte = np.arange(256)
    if name == "ue8m0":
        return np.where(byte == 255, np.nan, np.ldexp(1.0, byte - 127)).astype(np.float32)
    f = FORMATS[name]
    mantissa = byte & ((1 << f.mantissa) - 1)
    exponent = byte >> f.mantissa & ((1 << f.exponent) - 1)
    significand = np.where(exponent > 0, mantissa + (1 << f.mantissa), mantissa)
    value = np.ldexp(significand.astype(np.float64), np.maximum(exponent, 1) - 1 + f.smallest)
    magnitude = byte & ((1 << (f.bits - 1)) - 1)
    if f.has_infinity:
        top = magnitude > f.max_bits
        value = np.where(top, np.where(mantissa == 0, np.inf, np.nan), value)
    elif f.nan is not None:
        value = np.where(magnitude == f.nan, np.nan, value)
    negative = byte >> (f.bits - 1) & 1
    return np.where(negative > 0, -value, value).astype(np.float32)


def encode(
    values: Array,
    name: str,
    rounding: str = "rn",
    *,
    saturate: bool = False,
    random: Array | None = None,
) -> Array:
    """Encode doubles in a format, as uint64.

    `rounding` is rn (nearest even), rna (nearest, halves away), rz, rm, rp or rs: away from zero
    where `random`, in units of the last place of the result and below 1, carries.  `saturate`
    makes the largest finite number of what overflows.
    """
    if rounding == "rn" and not saturate and name in _NATIVE:
        return _encode_natively(np.asarray(values), name)
    values = np.asarray(values, np.float64)
    return (
        values.view(np.uint64)
        if name == "f64"
        else _encode_bits(values, name, rounding, saturate, random)
    )


_NATIVE: Mapping[str, tuple[type[Any], type[Any]]] = {
    "f32": (np.float32, np.uint32),
    "f16": (np.float16, np.uint16),
}
"""The formats that numpy has, to which it rounds doubles once."""


def _encode_natively(values: Array, name: str) -> Array:
    """Round to nearest even by numpy's conversion."""
    dtype, unsigned = _NATIVE[name]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        bits = values.astype(dtype).view(unsigned).astype(np.uint64)
    is_nan = values != values
    return np.where(is_nan, np.uint64(FORMATS[name].nan or 0), bits) if is_nan.any() else bits


def _encode_bits(
    values: Array, name: str, rounding: str, saturate: bool, random: Array | None
) -> Array:
    """Round to any format, in any direction."""
    f = FORMATS[name]
    negative = np.signbit(values)
    magnitude = np.where(np.isfinite(values), np.abs(values), 0.0)
    exponent = np.frexp(magnitude)[1] - 1
    last = np.maximum(exponent, 1 - f.bias) - f.mantissa
    last = np.where(magnitude == 0, f.smallest, last)
    scaled = np.ldexp(magnitude, -last)
    count = _rounded(scaled, negative, rounding) if random is None else np.floor(scaled + random)
    bits = count.astype(np.int64) + ((last - f.smallest).astype(np.int64) << f.mantissa)
    too_large = (bits > f.max_bits) | np.isinf(values)
    bits = np.where(too_large, _overflow(f, negative, rounding, saturate, values), bits)
    bits = bits | negative.astype(np.int64) << (f.bits - 1)
    if np.isnan(values).any():
        bits = np.where(np.isnan(values), f.nan if f.nan is not None else f.max_bits, bits)
    return (bits << f.shift).astype(np.uint64)


def _rounded(count: Array, negative: Array, rounding: str) -> Array:
    if rounding == "rn":
        return np.rint(count)
    if rounding == "rna":
        whole = np.floor(count)
        return whole + (count - whole >= 0.5)
    if rounding == "rz":
        return np.floor(count)
    up = ~negative if rounding == "rp" else negative
    return np.where(up, np.ceil(count), np.floor(count))


def _overflow(
    f: Format, negative: Array, rounding: str, saturate: bool, values: Array
) -> Array | int:
    """Return the result of overflow: the largest number, infinity, or NaN in formats without it."""
    if saturate or (not f.has_infinity and f.nan is None):
        return f.max_bits
    beyond = f.max_bits + 1
    if not f.has_infinity:
        return f.nan or beyond
    stays = {"rz": np.ones_like(negative), "rm": ~negative, "rp": negative}.get(rounding)
    if stays is None:
        return beyond
    return np.where(stays & ~np.isinf(values), f.max_bits, beyond)


def encode_value(value: float, name: str) -> int:
    """Encode one number, rounded to nearest even."""
    return int(encode(np.float64(value).reshape(1), name)[0])


def encode_ue8m0(values: Array, rounding: str) -> Array:
    """Encode as ue8m0: the exponent, rounded up (rp) or towards zero (rz); NaN is 255."""
    magnitude = np.abs(np.asarray(values, np.float64))
    fraction, exponent = np.frexp(np.where(np.isfinite(magnitude), magnitude, 1.0))
    power = exponent - 1 + ((fraction > 0.5) & (rounding == "rp"))
    code = np.clip(np.where(magnitude == 0, 0, power + 127), 0, 254)
    code = np.where(np.isinf(magnitude), 254, code)
    return np.where(np.isnan(magnitude), 255, code).astype(np.uint64)
