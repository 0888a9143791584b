"""Integer sums, quotients and extremes.  Source: PTX ISA 9.7.1 and 9.7.2."""

from __future__ import annotations

from typing import Any

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.lane_steps import (
    Function,
    binary,
    elementwise,
    unary,
)
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import SIGNED, TYPES, UNSIGNED, ScalarType

WORDS = ("u16", "u32", "u64", "s16", "s32", "s64")

INTEGER_TYPES = frozenset((*WORDS, "u16x2", "s16x2"))
"""Final types by which an opcode is one of integers: `add.f32` has semantics of its own."""


def dtype_of(type_: ScalarType) -> np.dtype[Any]:
    """Return the numpy type of an integer type."""
    return (SIGNED if type_.signed else UNSIGNED)[type_.bits]


def sources(site: Site, first: int, types: tuple[ScalarType, ...]) -> list[Any]:
    """Return slots and numpy types of the operands from `first` on."""
    return [(site.source(first + i, t), dtype_of(t)) for i, t in enumerate(types)]


# Sums


def build_add(site: Site) -> Step:
    """`add`, `sub`: wrapping, or saturating for .s32."""
    type_ = site.type((*WORDS, "u16x2", "s16x2"))
    subtract = site.name == "sub"
    saturate = site.flag("sat")
    site.no_more()
    site.count(3)
    dest = site.destination(0, type_)
    a, b = site.source(1, type_), site.source(2, type_)
    if type_.name in ("u16x2", "s16x2"):
        return halves(dest, (a, b), type_, np.subtract if subtract else np.add)
    if saturate:
        if type_.name != "s32":
            site.fail(".sat is for .s32 only")
        operation = np.subtract if subtract else np.add
        return elementwise(dest, [(a, SIGNED[32]), (b, SIGNED[32])], type_, saturated(operation))
    mask = (1 << type_.bits) - 1
    if subtract:
        return binary(dest, a, b, lambda x, y: (x - y) & mask)
    return binary(dest, a, b, lambda x, y: (x + y) & mask)


def saturated(operation: Function) -> Function:
    """Return an operation on `s32` whose result is clamped to its range (`.sat`)."""

    def function(*values: Array) -> Array:
        exact = operation(*(v.astype(np.int64) for v in values))
        return np.clip(exact, -(1 << 31), (1 << 31) - 1).astype(np.int32)

    return function


def halves(dest: int, slots: tuple[int, ...], type_: ScalarType, function: Function) -> Step:
    """Build a step on both 16-bit halves of packed registers."""
    half = np.dtype(np.int16 if type_.name.startswith("s") else np.uint16)

    def packed(*values: Array) -> Array:
        parts = [np.atleast_1d(v).view(half).reshape(-1, 2) for v in values]
        found = np.ascontiguousarray(function(*parts)).astype(half).view(np.uint32)[:, 0]
        return found if max(v.ndim for v in values) else found[0]

    word = UNSIGNED[32]
    return elementwise(dest, [(s, word) for s in slots], TYPES["b32"], packed)


# Quotients


def build_quotient(site: Site) -> Step:
    """`div` and `rem`: truncating; division by zero gives all ones, as on hardware."""
    type_ = site.type(WORDS)
    site.no_more()
    site.count(3)
    divide = site.name == "div"
    dest = site.destination(0, type_)
    a, b = site.source(1, type_), site.source(2, type_)
    mask = (1 << type_.bits) - 1
    dtype = dtype_of(type_)

    def vector(x: Array, y: Array) -> Array:
        zero = y == 0
        safe = np.where(zero, dtype.type(1), y)
        if dtype.kind == "u":
            found = x // safe if divide else x % safe
        else:
            found = _towards_zero(x, safe, divide)
        return np.where(zero, dtype.type(-1 if dtype.kind == "i" else mask), found).astype(dtype)

    slow = elementwise(dest, [(a, dtype), (b, dtype)], type_, vector)
    if type_.signed:
        return slow

    def step(f: ConvergenceGroup) -> None:
        x, y = f.r[a], f.r[b]
        if isinstance(x, int) and isinstance(y, int) and y:
            f.r[dest] = x // y if divide else x % y
        else:
            slow(f)

    return step


def _towards_zero(x: Array, y: Array, divide: bool) -> Array:
    dtype = x.dtype
    unsigned = UNSIGNED[dtype.itemsize * 8]
    size_x, size_y = np.abs(x).astype(unsigned), np.abs(y).astype(unsigned)
    if divide:
        size = (size_x // size_y).astype(dtype)
        return np.where((x < 0) != (y < 0), -size, size)
    size = (size_x % size_y).astype(dtype)
    return np.where(x < 0, -size, size)


# Extremes, magnitudes


def build_smaller(site: Site) -> Step:
    """`min` and `max` of integers; `.relu` for signed ones."""
    type_ = site.type((*WORDS, "u16x2", "s16x2"))
    relu = site.flag("relu")
    site.no_more()
    count = site.count(3, 4) - 1
    least = site.name == "min"
    dest = site.destination(0, type_)
    slots = [site.source(i, type_) for i in range(1, count + 1)]
    operation: Any = np.minimum if least else np.maximum

    def function(*values: Array) -> Array:
        found = (
            operation(*values)
            if len(values) == 2
            else operation(operation(values[0], values[1]), values[2])
        )
        return np.maximum(found, 0) if relu else found

    if type_.name in ("u16x2", "s16x2"):
        return halves(dest, tuple(slots), type_, function)
    slow = elementwise(dest, [(s, dtype_of(type_)) for s in slots], type_, function)
    if type_.signed or count == 3:
        return slow
    a, b = slots
    pick = min if least else max

    def step(f: ConvergenceGroup) -> None:
        x, y = f.r[a], f.r[b]
        if isinstance(x, int) and isinstance(y, int):
            f.r[dest] = pick(x, y)
        else:
            slow(f)

    return step


def build_unary(site: Site) -> Step:
    """`abs` and `neg`."""
    type_ = site.type(("s16", "s32", "s64"))
    site.no_more()
    site.count(2)
    dest, a = site.destination(0, type_), site.source(1, type_)
    if site.name == "neg":
        mask = (1 << type_.bits) - 1
        return unary(dest, a, lambda x: (-x) & mask if isinstance(x, int) else -x)
    return elementwise(dest, [(a, dtype_of(type_))], type_, np.abs)


def build_sad(site: Site) -> Step:
    """`sad`: the sum of an absolute difference and an addend."""
    type_ = site.type(WORDS)
    site.no_more()
    site.count(4)
    dest = site.destination(0, type_)
    unsigned = UNSIGNED[type_.bits]

    def function(a: Array, b: Array, c: Array) -> Array:
        less = a < b
        x, y = np.where(less, b, a), np.where(less, a, b)
        return (x.astype(unsigned) - y.astype(unsigned)) + c.astype(unsigned)

    return elementwise(dest, sources(site, 1, (type_,) * 3), type_, function)


_FAMILIES = (
    (build_add, ("add", "sub")),
    (build_quotient, ("div", "rem")),
    (build_smaller, ("min", "max")),
    (build_unary, ("abs", "neg")),
    (build_sad, ("sad",)),
)

TABLE = (
    *(Semantics(name, build, types=INTEGER_TYPES) for build, names in _FAMILIES for name in names),
)
