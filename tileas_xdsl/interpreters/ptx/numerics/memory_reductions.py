"""Reductions of elements in memory: `red`/`atom`, `cp.reduce.async.bulk` and tensor reductions.

Source: PTX ISA 9.7.13.5 atom, 9.7.9.25.5.2 cp.reduce.async.bulk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.numerics.directed_rounding import rounded, two_sum
from tileas_xdsl.interpreters.ptx.numerics.float_formats import FORMATS, decode, encode
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import SIGNED, UNSIGNED

Combine = Callable[[Array, Array], Array]
"""A function of old elements and operands that returns the new elements."""


def _increment(old: Array, limit: Array) -> Array:
    return np.where(old >= limit, 0, old + old.dtype.type(1)).astype(old.dtype)


def _decrement(old: Array, limit: Array) -> Array:
    wraps = (old == 0) | (old > limit)
    return np.where(wraps, limit, old - old.dtype.type(1)).astype(old.dtype)


REDUCTIONS: Mapping[str, Combine] = {
    "add": lambda a, b: a + b,
    "min": np.minimum,
    "max": np.maximum,
    "inc": _increment,
    "dec": _decrement,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
"""The reductions of integers."""


def combine_in_global_memory(operation: str, type_name: str) -> Combine:
    """Reduce as global memory does: subnormal f32 are flushed to zero.

    Source: PTX ISA 9.7.13.5 atom; f64 keeps NaN as it is, seen on an H200.
    """
    if operation != "add" or type_name not in ("f32", "f64"):
        return combine(operation, type_name)
    exact = combine(operation, type_name)

    def flushed(bits: Array) -> Array:
        is_small = (bits & np.uint32(0x7F800000)) == 0
        return np.where(is_small, bits & np.uint32(0x80000000), bits)

    def singles(a: Array, b: Array) -> Array:
        return flushed(exact(flushed(a), flushed(b)))

    def doubles(a: Array, b: Array) -> Array:
        x, y = a.view(np.float64), b.view(np.float64)
        return np.where(np.isnan(x), a, np.where(np.isnan(y), b, exact(a, b)))

    return singles if type_name == "f32" else doubles


def combine(operation: str, type_name: str) -> Combine:
    """Reduce arrays of bits (unsigned integers of the element's width)."""
    if type_name in FORMATS:
        return _of_floats(operation, type_name)
    bits = int(type_name[1:])
    function = REDUCTIONS[operation]
    dtype = (SIGNED if type_name[0] == "s" else UNSIGNED)[bits]
    return lambda a, b: function(a.view(dtype), b.view(dtype)).view(UNSIGNED[bits])


def _of_floats(operation: str, name: str) -> Combine:
    unsigned = UNSIGNED[FORMATS[name].bits]

    def function(a: Array, b: Array) -> Array:
        x, y = decode(a, name), decode(b, name)
        if operation == "add":
            return rounded(two_sum(x, y), name, "rn").astype(unsigned)
        found = np.fmin(x, y) if operation == "min" else np.fmax(x, y)
        return encode(found, name).astype(unsigned)

    return function


def reduce_bytes(operation: str, type_name: str) -> Combine:
    """Reduce two byte arrays."""
    bits = FORMATS[type_name].bits if type_name in FORMATS else int(type_name[1:])
    function = combine(operation, type_name)
    dtype = UNSIGNED[bits]

    def of_bytes(old: Array, new: Array) -> Array:
        return function(old.view(dtype), new.view(dtype)).view(np.uint8)

    return of_bytes
