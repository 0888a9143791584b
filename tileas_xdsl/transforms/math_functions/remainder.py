"""The floating-point remainder, exact: `x - trunc(x / y) * y`, with the sign of `x`.

In f64, which has all numbers of narrower types: `|x| = m * 2**k * u` and `|y| = n * u` with
integers m and n below 2**53, so that what is left is `m * 2**k mod n`.  The power is taken by
squaring, every product of two remainders modulo n by a quotient in f64 that is off by less than 3.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    f64,
    i64,
)
from xdsl.ir import Attribute

from tileas_xdsl.transforms.math_functions.expression_builder import INFINITY, NAN, Value

EXPONENT_BITS: Mapping[type[Attribute], int] = {
    Float16Type: 6,
    BFloat16Type: 9,
    Float32Type: 9,
    Float64Type: 11,
}
"""How many bits k has: from the smallest subnormal number to the largest one."""

_FRACTION = 52
_SHIFTED = 3
"""Bits of k that are a shift: what has 53 bits is shifted by 7 places at most."""


def remf(x: Value, y: Value) -> Value:
    """The remainder of floats of one type; NaN of infinity, by zero and of NaN."""
    element, bits = x.element, EXPONENT_BITS[type(x.element)]
    if element == f64:
        return _remainder(x, y, bits)
    return _remainder(x.wide(), y.wide(), bits).cast("truncf", element)


def _remainder(x: Value, y: Value, bits: int) -> Value:
    a, b = abs(x), abs(y)
    (m, high), (whole, low) = _parts(a), _parts(b)
    n = whole.compare("eq", 0).then(1, whole, i64)
    left = _float(_times_power(m, high - low, n, bits), low)
    found = (left.cast("bitcast", i64) | (x.cast("bitcast", i64) & _SIGN)).cast("bitcast", f64)
    plain = a.compare("lt", b).then(x, found)
    defined = a.compare("lt", INFINITY) & b.compare("gt", 0.0)
    return defined.then(plain, x.scope.constant(NAN, f64))


_SIGN = -(1 << 63)


def _parts(a: Value) -> tuple[Value, Value]:
    """Integers `(m, e)` with `a = m * 2**(e - 1075)`; those of infinity and NaN are not used."""
    bits = a.cast("bitcast", i64)
    exponent, fraction = bits >> _FRACTION, bits & ((1 << _FRACTION) - 1)
    normal = exponent.compare("ne", 0)
    return normal.then(fraction | (1 << _FRACTION), fraction), normal.then(exponent, 1, i64)


def _times_power(m: Value, k: Value, n: Value, bits: int) -> Value:
    """`m * 2**k mod n` of a `k` that is not negative."""
    inverse = 1.0 / n.cast("sitofp", f64)
    left = _mod(m << (k & ((1 << _SHIFTED) - 1)), n)
    power = _mod(m.scope.constant(1 << (1 << _SHIFTED), i64), n)
    for bit in range(_SHIFTED, bits):
        if bit > _SHIFTED:
            power = _product(power, power, n, inverse)
        is_set = ((k >> bit) & 1).compare("ne", 0)
        left = is_set.then(_product(left, power, n, inverse), left)
    return left


def _mod(a: Value, n: Value) -> Value:
    return a - (a / n) * n


def _product(a: Value, b: Value, n: Value, inverse: Value) -> Value:
    """`a * b mod n` of remainders: three roundings of a quotient below 2**53 are less than 3."""
    wide = a.cast("sitofp", f64) * b.cast("sitofp", f64) * inverse
    rest = a * b - wide.cast("fptosi", i64) * n
    rest = rest.compare("lt", 0).then(rest + 3 * n, rest)
    for step in (n + n, n):
        rest = rest.compare("lt", step).then(rest, rest - step)
    return rest


def _float(m: Value, exponent: Value) -> Value:
    """`m * 2**(exponent - 1075)`, in two steps: each factor is a normal number."""
    scale = exponent - 1075
    half = scale.halved()
    return m.cast("sitofp", f64) * _power_of_two(half) * _power_of_two(scale - half)


def _power_of_two(exponent: Value) -> Value:
    return ((exponent + 1023) << _FRACTION).cast("bitcast", f64)
