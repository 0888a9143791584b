"""Floating-point formats by exact arithmetic: an oracle that shares nothing with the emulator."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Format:
    """Bits of exponent and mantissa; the largest finite number's bits; the NaN's."""

    exponent: int
    mantissa: int
    largest: int
    nan: int | None
    infinity: int | None

    @property
    def width(self) -> int:
        return 1 + self.exponent + self.mantissa


FORMATS = {
    "f16": Format(5, 10, 0x7BFF, 0x7FFF, 0x7C00),
    "bf16": Format(8, 7, 0x7F7F, 0x7FFF, 0x7F80),
    "f32": Format(8, 23, 0x7F7FFFFF, 0x7FFFFFFF, 0x7F800000),
    "f64": Format(11, 52, 0x7FEFFFFFFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0x7FF0000000000000),
    "e4m3": Format(4, 3, 0x7E, 0x7F, None),
    "e5m2": Format(5, 2, 0x7B, 0x7F, 0x7C),
    "e2m3": Format(2, 3, 0x1F, None, None),
    "e3m2": Format(3, 2, 0x1F, None, None),
    "e2m1": Format(2, 1, 0x7, None, None),
}


def value(bits: int, name: str) -> Fraction | float:
    """The number that bits are: a fraction, -0.0, an infinity or NaN."""
    f = FORMATS[name]
    negative = bits >> (f.width - 1) & 1
    size = bits & ((1 << (f.width - 1)) - 1)
    if size > f.largest:
        if size == f.infinity:
            return -math.inf if negative else math.inf
        return math.nan
    exponent, mantissa = size >> f.mantissa, size & ((1 << f.mantissa) - 1)
    bias = (1 << (f.exponent - 1)) - 1
    if exponent:
        mantissa += 1 << f.mantissa
    found = Fraction(mantissa) * Fraction(2) ** (max(exponent, 1) - bias - f.mantissa)
    if negative:
        return -found if found else -0.0
    return found


def is_negative(number: Fraction | float) -> bool:
    return math.copysign(1, number) < 0 if isinstance(number, float) else number < 0


def bits_of(number: Fraction | float, name: str, mode: str = "rn", *, finite: bool = False) -> int:
    """Round a number to a format by its unit in the last place."""
    f = FORMATS[name]
    sign = int(is_negative(number)) << (f.width - 1)
    if isinstance(number, float) and math.isnan(number):
        return f.nan if f.nan is not None else f.largest
    limit = f.infinity if f.infinity is not None else f.nan
    if finite or limit is None:
        limit = f.largest
    if isinstance(number, float) and math.isinf(number):
        return sign | limit
    size = abs(Fraction(number))
    if size == 0:
        return sign
    bias = (1 << (f.exponent - 1)) - 1
    exponent = max(_floor_log2(size), 1 - bias)
    unit = Fraction(2) ** (exponent - f.mantissa)
    count = _to_integer(size / unit, mode, bool(sign))
    bits = count + ((exponent - (1 - bias)) << f.mantissa)
    if bits <= f.largest:
        return sign | bits
    stays = mode == "rz" or (mode == "rm" and not sign) or (mode == "rp" and bool(sign))
    return sign | (f.largest if stays else limit)


def _floor_log2(size: Fraction) -> int:
    guess = size.numerator.bit_length() - size.denominator.bit_length()
    while Fraction(2) ** guess > size:
        guess -= 1
    while Fraction(2) ** (guess + 1) <= size:
        guess += 1
    return guess


def _to_integer(count: Fraction, mode: str, negative: bool) -> int:
    low = math.floor(count)
    rest = count - low
    if mode == "rn":
        up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low % 2 == 1)
    elif mode == "rna":
        up = rest >= Fraction(1, 2)
    elif mode == "rz":
        up = False
    else:
        up = rest > 0 and (mode == "rp") != negative
    return low + int(up)
