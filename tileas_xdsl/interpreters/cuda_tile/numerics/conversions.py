"""From one element type to another."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute

from tileas_xdsl.dialects.cuda_tile.enums import RoundingMode, Signedness
from tileas_xdsl.dialects.cuda_tile.types.scalars import bit_width, name_of_scalar
from tileas_xdsl.interpreters.cuda_tile.faults import Undefined
from tileas_xdsl.interpreters.cuda_tile.numerics import exact
from tileas_xdsl.interpreters.cuda_tile.numerics.elements import (
    Array,
    bits_of,
    dtype_of,
    from_bits,
    stored_bits,
)
from tileas_xdsl.interpreters.cuda_tile.numerics.integers import read, wrap
from tileas_xdsl.interpreters.cuda_tile.numerics.rounding import Reals, rounded


def reals(values: Array, element: Attribute) -> Reals:
    """The values of floats, exactly."""
    if name_of_scalar(element) == "f8E5M3FNU":
        return _of_e5m3(values)
    return values.astype(np.float64)


def _of_e5m3(codes: Array) -> Reals:
    """Unsigned, exponent of 5 bits with bias 15, 3 bits of mantissa; all ones is NaN."""
    exponent, mantissa = (codes >> 3).astype(np.int64), (codes & 7).astype(np.float64)
    normal = np.ldexp(1 + mantissa / 8, exponent - 15)
    found = np.where(exponent == 0, np.ldexp(mantissa / 8, -14), normal)
    return np.where(codes == 0xFF, np.nan, found)


def padding_of(number: float, element: Attribute) -> Array:
    """A padding as an element; the zero of scales, which have none, is that of bits: 2**-127."""
    if number == 0 and name_of_scalar(element) == "f8E8M0FNU":
        return from_bits(np.zeros(()), element)
    return np.asarray(number).astype(dtype_of(element))


def float_to_float(
    values: Array, source: Attribute, result: Attribute, mode: RoundingMode
) -> Array:
    """`ftof`; NaN stays NaN where there is one, too large numbers are bounded as the format is."""
    return rounded(reals(values, source), result, mode)


def integer_to_float(
    values: Array, source: Attribute, result: Attribute, signedness: Signedness
) -> Array:
    """`itof`, to nearest even; 64 bits are two exact halves.

    Too large integers are infinite, or NaN where a format has no infinity.
    """
    whole = read(values, bit_width(source), signedness)
    high = (whole >> 32).astype(np.float64) * 2.0**32
    low = (whole & 0xFFFFFFFF).astype(np.float64)
    if name_of_scalar(result) == "f64":
        return high + low
    return rounded(exact.add(high, low), result, saturates=False)


def float_to_integer(
    values: Array,
    source: Attribute,
    result: Attribute,
    signedness: Signedness,
    *,
    saturating: bool,
) -> Array:
    """`ftoi`, towards zero; raises for what is no such integer, unless it saturates.

    A boolean is whether the number is not zero: so cuTile converts to `bool_`, NaN to True.
    """
    width = bit_width(result)
    whole = np.trunc(reals(values, source))
    if width == 1:
        return reals(values, source) != 0
    low = -(2.0 ** (width - 1)) if signedness is Signedness.SIGNED else 0.0
    beyond = low + 2.0**width
    wrong = ~((whole >= low) & (whole < beyond))
    if np.any(wrong) and not saturating:
        first = values[wrong].flat[0]
        raise Undefined(f"converts {first}, which is no {signedness.value} integer of {width} bits")
    inside = np.where(wrong, 0.0, whole)
    found = wrap(_integers(inside, beyond), width)
    top = wrap(np.asarray(int(beyond) - 1, dtype=object), width)
    bottom = wrap(np.asarray(int(low), dtype=object), width)
    found = np.where(whole >= beyond, top, found)
    return np.where(whole < low, bottom, found)


def _integers(values: Reals, beyond: float) -> Array:
    """Whole numbers as integers; those from 2**63 on are unsigned."""
    dtype = np.uint64 if beyond > 2.0**63 else np.int64
    return values.astype(dtype).view(np.int64)


def same_bits(values: Array, result: Attribute) -> Array:
    """`bitcast`."""
    return from_bits(bits_of(values), result)


_NIBBLES = 4


def to_bytes(values: Array, source: Attribute) -> Array:
    """`pack`: the bytes of a tile of rank 1, those of lower positions first."""
    return memory_bytes(values, source).view(np.int8)


def from_bytes(values: Array, result: Attribute) -> Array:
    """`unpack`: the elements with these bytes."""
    return from_memory_bytes(values.view(np.uint8), result)


def memory_bytes(values: Array, element: Attribute) -> Array:
    """The bytes of elements as memory has them: two of 4 bits in one, the first in the low half."""
    bits = bits_of(values).reshape(-1)
    if stored_bits(element) == _NIBBLES:
        codes = bits & np.uint8(0xF)
        return codes[::2] | codes[1::2] << np.uint8(_NIBBLES)
    return bits.view(np.uint8)


def from_memory_bytes(data: Array, element: Attribute) -> Array:
    """The elements that have these bytes in memory."""
    if stored_bits(element) == _NIBBLES:
        halves = np.stack([data & np.uint8(0xF), data >> np.uint8(_NIBBLES)], axis=-1)
        return from_bits(halves.reshape(-1), element)
    dtype = dtype_of(element)
    return from_bits(np.ascontiguousarray(data).view(f"u{dtype.itemsize}"), element)


def literal(value: Any, element: Attribute) -> Array:
    """The elements of a literal, in row-major order; one of them if all are the same."""
    data = np.frombuffer(value.data.data, np.uint8)
    if name_of_scalar(element) == "tf32":
        # xDSL gives them 3 bytes.
        packed = cast("AnyFloat", element)
        return np.array(packed.unpack(data.tobytes(), data.size // packed.size), np.float32)
    return from_bits(data.view(f"u{dtype_of(element).itemsize}"), element)
