"""Logic and shifts.  Source: PTX ISA 9.7.8."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, Value
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.lane_steps import binary, elementwise, ternary, unary
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import SIGNED, TYPES, UNSIGNED

LOGIC: Mapping[str, Callable[[Value, Value], Value]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}


def build_logic(site: Site) -> Step:
    """`and`, `or`, `xor` on bit-size types and predicates."""
    type_ = site.type(("pred", "b16", "b32", "b64"))
    site.no_more()
    site.count(3)
    dest = site.destination(0, type_)
    function = LOGIC[site.name]
    if type_.name != "pred":
        return binary(dest, site.source(1, type_), site.source(2, type_), function)
    (a, not_a), (b, not_b) = site.predicate(1), site.predicate(2)
    if not not_a and not not_b:
        return binary(dest, a, b, function)
    return binary(dest, a, b, lambda x, y: function(x ^ not_a, y ^ not_b))


def build_not(site: Site) -> Step:
    """`not` and `cnot` (1 if the operand is zero, else 0)."""
    type_ = site.type(("pred", "b16", "b32", "b64"))
    site.no_more()
    site.count(2)
    dest, a = site.destination(0, type_), site.source(1, type_)
    if site.name == "cnot":
        return elementwise(dest, [(a, UNSIGNED[type_.bits])], type_, _is_zero)
    if type_.name == "pred":
        return unary(dest, a, lambda x: not x if isinstance(x, bool) else ~x)
    mask = (1 << type_.bits) - 1
    return unary(dest, a, lambda x: x ^ mask)


def _is_zero(a: Array) -> Array:
    return (a == 0).astype(a.dtype)


def build_lop3(site: Site) -> Step:
    """`lop3`: any function of three bits by its truth table, optionally with a predicate result."""
    type_ = site.type(("b32",))
    combine = site.choose(("or", "and"), "")
    site.no_more()
    if combine:
        site.fail("the form with a predicate is not supported")
    site.count(5)
    table = site.immediate(4)
    if not 0 <= table < 256:
        site.fail(f"the table {table} is not in 0..255")
    dest = site.destination(0, type_)
    slots = [site.source(i, type_) for i in (1, 2, 3)]

    def function(a: Value, b: Value, c: Value) -> Value:
        found: Value = 0
        for row in range(8):
            if table >> row & 1:
                found = found | (
                    (a if row & 4 else a ^ 0xFFFF_FFFF)
                    & (b if row & 2 else b ^ 0xFFFF_FFFF)
                    & (c if row & 1 else c ^ 0xFFFF_FFFF)
                )
        return found

    return ternary(dest, slots, function)


def build_shift(site: Site) -> Step:
    """`shl` and `shr`: amounts beyond the width shift all bits out."""
    left = site.name == "shl"
    names = ("b16", "b32", "b64")
    type_ = site.type(names if left else (*names, "u16", "u32", "u64", "s16", "s32", "s64"))
    site.no_more()
    site.count(3)
    dest, a = site.destination(0, type_), site.source(1, type_)
    b = site.source(2, TYPES["u32"])
    bits, mask = type_.bits, (1 << type_.bits) - 1
    unsigned = UNSIGNED[bits]
    dtype = SIGNED[bits] if type_.signed else unsigned

    def vector(x: Array, y: Array) -> Array:
        amount = np.minimum(y, bits - 1).astype(unsigned).view(dtype)
        if left:
            return np.where(y >= bits, dtype.type(0), x << amount)
        past = dtype.type(0) if not type_.signed else x >> dtype.type(bits - 1)
        return np.where(y >= bits, past, x >> amount)

    slow = elementwise(dest, [(a, dtype), (b, UNSIGNED[32])], type_, vector)
    if type_.signed:
        return slow

    def step(f: ConvergenceGroup) -> None:
        r = f.r
        x, y = r[a], r[b]
        if y.__class__ is int and y < bits:
            r[dest] = (x << y) & mask if left else x >> y
        else:
            slow(f)

    return step


def build_funnel(site: Site) -> Step:
    """`shf`: funnel shift, 32 bits of the concatenation of two registers."""
    type_ = site.type(("b32",))
    left = site.choose(("l", "r")) == "l"
    clamp = site.choose(("clamp", "wrap")) == "clamp"
    site.no_more()
    site.count(4)
    dest = site.destination(0, type_)
    slots = [(site.source(i, type_), UNSIGNED[32]) for i in (1, 2, 3)]

    def function(a: Array, b: Array, c: Array) -> Array:
        wide = b.astype(np.uint64) << np.uint64(32) | a.astype(np.uint64)
        amount = np.minimum(c, 32) if clamp else c & 31
        move = (np.uint64(32) - amount.astype(np.uint64)) if left else amount.astype(np.uint64)
        return (wide >> move & np.uint64(0xFFFF_FFFF)).astype(np.uint32)

    return elementwise(dest, slots, type_, function)


TABLE = (
    Semantics("and", build_logic),
    Semantics("or", build_logic),
    Semantics("xor", build_logic),
    Semantics("not", build_not),
    Semantics("cnot", build_not),
    Semantics("lop3", build_lop3),
    Semantics("shl", build_shift),
    Semantics("shr", build_shift),
    Semantics("shf", build_funnel),
)
