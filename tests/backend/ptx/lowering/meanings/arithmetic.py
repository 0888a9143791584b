"""Additions, multiplications, divisions, shifts, minima and maxima."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.backend.ptx.lowering.meanings.meaning import Array, Meaning, binary, unsigned, wide


def _towards_zero(x: Array, y: Array) -> Array:
    wide = [v.astype(object) for v in (x, y)]
    quotient = abs(wide[0]) // abs(wide[1]) * np.sign(wide[0]) * np.sign(wide[1])
    return _wrapped(quotient, x.dtype)


def _wrapped(values: Array, dtype: Any) -> Array:
    bits = 8 * dtype.itemsize
    return np.array([int(v) % 2**bits for v in values.ravel()], f"u{dtype.itemsize}").view(dtype)


def _remainder(x: Array, y: Array) -> Array:
    wide = [v.astype(object) for v in (x, y)]
    return _wrapped(np.sign(wide[0]) * (abs(wide[0]) % abs(wide[1])), x.dtype)


def _floor(x: Array, y: Array) -> Array:
    return _wrapped(x.astype(object) // y.astype(object), x.dtype)


def _ceil(x: Array, y: Array) -> Array:
    return _wrapped(-(-x.astype(object) // y.astype(object)), x.dtype)


def _ordered_zeros(function: Callable[..., Array], combine: Callable[..., Array]) -> Any:
    """Return a minimum or maximum with -0 < +0, as PTX defines and numpy leaves unspecified."""

    def computed(x: Array, y: Array) -> Array:
        sign = np.where(combine(np.signbit(x), np.signbit(y)), -0.0, 0.0).astype(x.dtype)
        return np.where((x == 0) & (y == 0), sign, function(x, y))

    return computed


_EXTREMES = {
    "maximumf": _ordered_zeros(np.maximum, np.logical_and),
    "minimumf": _ordered_zeros(np.minimum, np.logical_or),
    "maxnumf": _ordered_zeros(np.fmax, np.logical_and),
    "minnumf": _ordered_zeros(np.fmin, np.logical_or),
}

INTEGERS = [
    binary(op, element, function, count)
    for op, function in {
        "addi": np.add,
        "subi": np.subtract,
        "muli": np.multiply,
        "andi": np.bitwise_and,
        "ori": np.bitwise_or,
        "xori": np.bitwise_xor,
        "minsi": np.minimum,
        "maxsi": np.maximum,
        "minui": unsigned(np.minimum),
        "maxui": unsigned(np.maximum),
    }.items()
    for element, count in (("i32", 4), ("i64", 1), ("i16", 1), ("i16", 4), ("i8", 8))
]


def _chain(name: str, body: str, expected: Callable[..., Array]) -> Meaning:
    """Several operations on bytes, which stay in registers of 16 bits in between."""
    lines = "\n".join(f"{line} : vector<8xi8>" for line in body.splitlines())
    return Meaning(f"bytes: {name}", ("i8", "i8"), "i8", lines, expected, 8)


def _many_sums(count: int) -> str:
    terms = [f"%s{k} = arith.addi %s{k - 1}, %x{k % 2}" for k in range(1, count)]
    return "\n".join(["%s0 = arith.addi %x0, %x1", *terms, f"%r = arith.addi %s{count - 1}, %x0"])


CHAINS = [
    _chain(
        "the larger of sums",
        "%u = arith.addi %x0, %x1\n%v = arith.maxui %u, %x0\n%r = arith.addi %v, %u",
        lambda x, y: unsigned(np.maximum)(x + y, x) + (x + y),
    ),
    _chain(
        "signed and unsigned extremes",
        "%u = arith.minsi %x0, %x1\n%v = arith.maxui %u, %x0\n%r = arith.subi %v, %x1",
        lambda x, y: unsigned(np.maximum)(np.minimum(x, y), x) - y,
    ),
    _chain("300 sums", _many_sums(300), lambda x, y: x * np.int8(-105) + y * np.int8(-105)),
]
"""The last one has 151 terms of either input, more than 16 bits hold."""

DIVISIONS = [
    binary(op, element, function, 1, nonzero=True)
    for op, function in {
        "divui": unsigned(np.floor_divide),
        "remui": unsigned(np.remainder),
        "divsi": _towards_zero,
        "remsi": _remainder,
        "floordivsi": _floor,
        "ceildivsi": _ceil,
        "ceildivui": unsigned(lambda x, y: -(-x.astype(object) // y.astype(object))),
    }.items()
    for element in ("i32", "i64")
]

CONSTANT_DIVISORS = (1, 2, 3, 5, 7, 10, 64, 641, 1000003, -1, -8, -7, 2**31 - 1)


def _constant_division(
    op: str, function: Callable[..., Array], divisor: int, element: str
) -> Meaning:
    body = f"%d = arith.constant {divisor} : {element}\n%r = arith.{op} %x0, %d : {element}"

    def expected(x: Array) -> Array:
        return function(x, np.full_like(x, divisor))

    return Meaning(f"{op}-by-{divisor}-{element}", (element,), element, body, expected, 1)


DIVISIONS_BY_CONSTANTS = [
    _constant_division(op, function, divisor, element)
    for op, function in {
        "divui": unsigned(np.floor_divide),
        "remui": unsigned(np.remainder),
        "divsi": _towards_zero,
        "remsi": _remainder,
        "floordivsi": _floor,
        "ceildivsi": _ceil,
    }.items()
    for element in ("i32", "i64")
    for divisor in CONSTANT_DIVISORS
]

SHIFTS = [
    binary(op, element, function, 1, shift=True)
    for op, function in {
        "shli": np.left_shift,
        "shrsi": np.right_shift,
        "shrui": unsigned(np.right_shift),
    }.items()
    for element in ("i32", "i64")
]

FLOATS = [
    binary(op, element, wide(function), count)
    for op, function in {
        "addf": np.add,
        "subf": np.subtract,
        "mulf": np.multiply,
        "divf": np.divide,
        **_EXTREMES,
    }.items()
    for element, count in (("f32", 4), ("f16", 8), ("bf16", 8), ("f16", 1), ("bf16", 1))
] + [
    binary("addf", "f64", np.add, 2),
    binary("maxnumf", "f64", _EXTREMES["maxnumf"], 2),
    binary("divf", "f64", np.divide, 1),
]
