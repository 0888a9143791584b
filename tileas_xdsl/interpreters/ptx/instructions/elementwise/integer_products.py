"""Integer products, and sums and products with a carry.  Source: PTX ISA 9.7.1 and 9.7.2."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, Value
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.elementwise.integer import (
    INTEGER_TYPES,
    WORDS,
    dtype_of,
    saturated,
    sources,
)
from tileas_xdsl.interpreters.ptx.instructions.lane_steps import binary, elementwise, ternary
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import SIGNED, TYPES, UNSIGNED, ScalarType


def high_product(a: Array, b: Array) -> Array:
    """Return the upper half of the product of two arrays of one integer type."""
    bits = a.dtype.itemsize * 8
    if bits < 64:
        wide = np.int64 if a.dtype.kind == "i" else np.uint64
        product = a.astype(wide) * b.astype(wide)
        return (product >> wide(bits)).astype(a.dtype)
    high = _high_unsigned(a.view(np.uint64), b.view(np.uint64))
    if a.dtype.kind == "i":
        ua, ub = a.view(np.uint64), b.view(np.uint64)
        zero = np.uint64(0)
        high = high - np.where(a < 0, ub, zero) - np.where(b < 0, ua, zero)
    return high.view(a.dtype) if high.ndim else np.array(high).view(a.dtype)


def _high_unsigned(a: Array, b: Array) -> Array:
    low, shift = np.uint64(0xFFFF_FFFF), np.uint64(32)
    al, ah, bl, bh = a & low, a >> shift, b & low, b >> shift
    middle = ah * bl + (al * bl >> shift)
    other = al * bh + (middle & low)
    return np.asarray(ah * bh + (middle >> shift) + (other >> shift))


def build_product(site: Site) -> Step:
    """`mul` and `mad` with .lo, .hi and .wide."""
    if "cc" in site.modifiers:
        return build_carry(site)
    type_ = site.type(WORDS)
    adds = site.name == "mad"
    half = site.choose(("lo", "hi", "wide"))
    saturate = site.flag("sat")
    site.no_more()
    site.count(4 if adds else 3)
    result = type_
    if half == "wide":
        if type_.bits == 64:
            site.fail(".wide is for 16 and 32 bits")
        result = TYPES[f"{type_.name[0]}{2 * type_.bits}"]
    dest = site.destination(0, result)
    a, b = site.source(1, type_), site.source(2, type_)
    slots = [a, b, site.source(3, result)] if adds else [a, b]
    if half == "lo":
        return _low(dest, slots, type_)
    if half == "wide":
        return _wide_product(dest, slots, type_)
    return _high_product(site, dest, slots, type_, saturate)


def _low(dest: int, slots: list[int], type_: ScalarType) -> Step:
    mask = (1 << type_.bits) - 1
    if len(slots) == 3:
        return ternary(dest, slots, lambda a, b, c: (a * b + c) & mask)
    return binary(dest, slots[0], slots[1], lambda a, b: (a * b) & mask)


def _wide_product(dest: int, slots: list[int], type_: ScalarType) -> Step:
    """Build a product of twice the width; numbers that all lanes share stay Python integers."""
    narrow, wide = dtype_of(type_), UNSIGNED[2 * type_.bits]
    signed_wide = SIGNED[2 * type_.bits]
    mask, half = (1 << 2 * type_.bits) - 1, 1 << type_.bits - 1

    def widen(value: Value) -> Value:
        if value.__class__ is np.ndarray:
            if not type_.signed:
                return value.astype(wide)
            return value.view(narrow).astype(signed_wide).view(wide)
        return ((value ^ half) - half) & mask if type_.signed else value

    if len(slots) == 3:
        return ternary(dest, slots, lambda a, b, c: (widen(a) * widen(b) + c) & mask)
    return binary(dest, slots[0], slots[1], lambda a, b: (widen(a) * widen(b)) & mask)


def _high_product(
    site: Site, dest: int, slots: list[int], type_: ScalarType, saturate: bool
) -> Step:
    a, b, *others = ((slot, dtype_of(type_)) for slot in slots)
    if not others:
        return elementwise(dest, [a, b], type_, high_product)
    c = others[0]
    if saturate:
        if type_.name != "s32":
            site.fail(".sat is for mad.hi.s32 only")
        add = saturated(np.add)

        def high_sum(x: Array, y: Array, z: Array) -> Array:
            return add(high_product(x, y), z)

        return elementwise(dest, [a, b, c], type_, high_sum)

    def function(x: Array, y: Array, z: Array) -> Array:
        return high_product(x, y) + z

    return elementwise(dest, [a, b, c], type_, function)


def build_product24(site: Site) -> Step:
    """`mul24` and `mad24`: products of the low 24 bits."""
    type_ = site.type(("u32", "s32"))
    adds = site.name == "mad24"
    low = site.choose(("lo", "hi")) == "lo"
    site.no_more()
    site.count(4 if adds else 3)
    dest = site.destination(0, type_)
    wide = np.int64 if type_.signed else np.uint64

    def function(a: Array, b: Array, c: Array | None = None) -> Array:
        product = (_cut24(a) * _cut24(b)).astype(wide)
        part = product if low else product >> wide(16)
        found = (part & wide(0xFFFF_FFFF)).astype(np.uint32)
        return found if c is None else found + c.view(np.uint32)

    count = 3 if adds else 2
    return elementwise(dest, sources(site, 1, (type_,) * count), type_, function)


def _cut24(a: Array) -> Array:
    if a.dtype.kind == "i":
        return (a.astype(np.int64) << 40) >> 40
    return a.astype(np.uint64) & np.uint64(0xFF_FFFF)


def build_dot(site: Site) -> Step:
    """`dp4a` and `dp2a`: dot products of bytes with accumulation."""
    b_type = site.type(("u32", "s32"))
    a_type = site.type(("u32", "s32"))
    four = site.name == "dp4a"
    upper = not four and site.choose(("lo", "hi")) == "hi"
    site.no_more()
    site.count(4)
    result = TYPES["s32" if a_type.signed or b_type.signed else "u32"]
    dest = site.destination(0, result)

    def function(a: Array, b: Array, c: Array) -> Array:
        wide_b = _bytes(b, b_type.signed)
        if four:
            left, right = _bytes(a, a_type.signed), wide_b
        else:
            left = _shorts(a, a_type.signed)
            right = wide_b[..., 2:] if upper else wide_b[..., :2]
        total = (left * right).sum(-1) + c.astype(np.int64)
        return (total & 0xFFFF_FFFF).astype(np.uint32)

    slots = [site.source(1, a_type), site.source(2, b_type), site.source(3, result)]
    word = UNSIGNED[32]
    return elementwise(dest, [(s, word) for s in slots], result, function)


def _bytes(a: Array, signed: bool) -> Array:
    parts = np.atleast_1d(a).view(np.int8 if signed else np.uint8).astype(np.int64)
    return parts.reshape(*a.shape, 4)


def _shorts(a: Array, signed: bool) -> Array:
    parts = np.atleast_1d(a).view(np.int16 if signed else np.uint16).astype(np.int64)
    return parts.reshape(*a.shape, 2)


def build_carry(site: Site) -> Step:
    """`add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc`; the carry is a hidden register."""
    type_ = site.type(("u32", "s32", "u64", "s64"))
    name, *mark = site.name.split(".")
    sets = site.flag("cc") or bool(mark)
    takes = name.endswith("c")
    half = site.choose(("lo", "hi")) if name.startswith("mad") else ""
    site.no_more()
    count = 3 if half else 2
    site.count(count + 1)
    dest = site.destination(0, type_)
    slots = [site.source(i, type_) for i in range(1, count + 1)]
    carry = site.program.carry_slot
    if sets:
        site.written.append(carry)
    mask = (1 << type_.bits) - 1
    combine = _CARRIES[name[:3]]

    def one(values: list[int], carried: int) -> int:
        if half:
            product = _whole_product(values[0], values[1], type_)
            low = product & mask if half == "lo" else product >> type_.bits & mask
            values = [low, values[2]]
        return combine(values[0], values[1], carried if takes else 0)

    def step(f: ConvergenceGroup) -> None:
        r = f.r
        values, carried = [r[s] for s in slots], r[carry]
        if any(v.__class__ is np.ndarray for v in (*values, carried)):
            lanes = f.warpgroup.lanes
            columns = (np.broadcast_to(v, lanes).tolist() for v in (*values, carried))
            rows = zip(*columns, strict=True)
            exact = [one(list(row[:-1]), int(row[-1])) for row in rows]
            r[dest] = np.array([x & mask for x in exact], UNSIGNED[type_.bits])
            out: Value = np.array([not 0 <= x <= mask for x in exact], np.bool_)
        else:
            total = one(values, int(carried))
            r[dest], out = total & mask, not 0 <= total <= mask
        if sets:
            r[carry] = out

    return step


_CARRIES: Mapping[str, Callable[[int, int, int], int]] = {
    "add": lambda a, b, c: a + b + c,
    "sub": lambda a, b, c: a - b - c,
    "mad": lambda a, b, c: a + b + c,
}


def _whole_product(a: int, b: int, type_: ScalarType) -> int:
    if type_.signed:
        half = 1 << (type_.bits - 1)
        a, b = (a ^ half) - half, (b ^ half) - half
    return a * b


_FAMILIES = (
    (build_carry, ("add.cc", "addc", "sub.cc", "subc", "madc")),
    (build_product, ("mul", "mad")),
    (build_product24, ("mul24", "mad24")),
)

TABLE = (
    *(Semantics(name, build, types=INTEGER_TYPES) for build, names in _FAMILIES for name in names),
    Semantics("dp4a", build_dot),
    Semantics("dp2a", build_dot),
)
