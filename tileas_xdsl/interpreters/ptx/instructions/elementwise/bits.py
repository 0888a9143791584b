"""Logic, shifts and bit fields.  Source: PTX ISA 9.7.8 and parts of 9.7.1."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, Value
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.instructions.base import (
    Semantics,
    Site,
    Step,
    binary,
    elementwise,
    ternary,
    unary,
)
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import SIGNED, TYPES, UNSIGNED, ScalarType

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


# Bit fields


def build_extract(site: Site) -> Step:
    """`bfe`: extract a bit field, sign- or zero-extended."""
    type_ = site.type(("u32", "u64", "s32", "s64"))
    site.no_more()
    site.count(4)
    dest = site.destination(0, type_)
    word = TYPES["u32"]
    slots = [site.source(1, type_), site.source(2, word), site.source(3, word)]
    function = _extract(type_)
    dtypes = (UNSIGNED[type_.bits], UNSIGNED[32], UNSIGNED[32])
    return elementwise(dest, list(zip(slots, dtypes, strict=True)), type_, function)


def _extract(type_: ScalarType) -> Callable[[Array, Array, Array], Array]:
    bits = type_.bits
    unsigned = UNSIGNED[bits].type

    def function(a: Array, b: Array, c: Array) -> Array:
        position, length = (b & 255).astype(np.int64), (c & 255).astype(np.int64)
        shifted = _shift_right(a, position, bits)
        field = shifted & _ones(np.minimum(length, bits), bits)
        if not type_.signed:
            return field
        top = np.minimum(position + length - 1, bits - 1)
        sign = _shift_right(a, np.maximum(top, 0), bits) & unsigned(1)
        known = np.where(length == 0, 0, np.minimum(length, np.maximum(bits - position, 0)))
        filled = field | ~_ones(known, bits)
        extended = np.where((sign == 1) & (length > 0), filled, field)
        return np.where(length == 0, unsigned(0), extended)

    return function


def _ones(count: Array, bits: int) -> Array:
    """Return a mask of the `count` lowest bits."""
    unsigned = UNSIGNED[bits]
    whole = count >= bits
    amount = np.where(whole, 0, count).astype(unsigned)
    one = np.ones((), unsigned)
    found: Array = np.left_shift(one, amount) - one
    return np.where(whole, np.array((1 << bits) - 1, unsigned), found)


def _shift_right(a: Array, amount: Array, bits: int) -> Array:
    unsigned = UNSIGNED[bits].type
    past = amount >= bits
    shifted = np.right_shift(a, np.where(past, 0, amount).astype(unsigned))
    return np.where(past, np.zeros_like(shifted), shifted)


def build_insert(site: Site) -> Step:
    """`bfi`: insert a bit field."""
    type_ = site.type(("b32", "b64"))
    site.no_more()
    site.count(5)
    dest = site.destination(0, type_)
    word = TYPES["u32"]
    slots = [
        site.source(1, type_),
        site.source(2, type_),
        site.source(3, word),
        site.source(4, word),
    ]
    bits = type_.bits
    unsigned = UNSIGNED[bits]

    def function(a: Array, b: Array, c: Array, d: Array) -> Array:
        position, length = (c & 255).astype(np.int64), (d & 255).astype(np.int64)
        past = position >= bits
        amount = np.where(past, 0, position).astype(unsigned)
        mask = np.where(past, unsigned.type(0), _ones(np.minimum(length, bits), bits) << amount)
        return (b & ~mask) | ((a << amount) & mask)

    dtypes = (unsigned, unsigned, UNSIGNED[32], UNSIGNED[32])
    return elementwise(dest, list(zip(slots, dtypes, strict=True)), type_, function)


def build_mask(site: Site) -> Step:
    """`bmsk`: a mask of consecutive ones."""
    type_ = site.type(("b32",))
    clamp = site.choose(("clamp", "wrap")) == "clamp"
    site.no_more()
    site.count(3)
    dest = site.destination(0, type_)
    slots = [(site.source(i, type_), UNSIGNED[32]) for i in (1, 2)]

    def function(a: Array, b: Array) -> Array:
        position, length = a.astype(np.int64), b.astype(np.int64)
        if not clamp:
            position, length = position & 31, length & 31
        past = position >= 32
        ones = _ones(np.minimum(length, 32), 32).astype(np.uint64)
        moved = ones << np.where(past, 0, position).astype(np.uint64)
        return np.where(past, 0, moved & np.uint64(0xFFFF_FFFF)).astype(np.uint32)

    return elementwise(dest, slots, type_, function)


def build_extend(site: Site) -> Step:
    """`szext`: sign- or zero-extend the low bits."""
    type_ = site.type(("u32", "s32"))
    clamp = site.choose(("clamp", "wrap")) == "clamp"
    site.no_more()
    site.count(3)
    dest = site.destination(0, type_)
    slots = [(site.source(1, type_), UNSIGNED[32]), (site.source(2, TYPES["u32"]), UNSIGNED[32])]

    def function(a: Array, b: Array) -> Array:
        length = np.minimum(b, 32).astype(np.int64) if clamp else (b & 31).astype(np.int64)
        field = a & _ones(length, 32)
        if not type_.signed:
            return field
        sign = _shift_right(a, np.maximum(length - 1, 0), 32) & np.uint32(1)
        return np.where((sign == 1) & (length > 0), field | ~_ones(length, 32), field)

    return elementwise(dest, slots, type_, function)


# Counting


def build_count(site: Site) -> Step:
    """`popc`, `clz`, `brev`; the results of `popc` and `clz` are .u32."""
    type_ = site.type(("b32", "b64"))
    site.no_more()
    site.count(2)
    result = type_ if site.name == "brev" else TYPES["u32"]
    dest, a = site.destination(0, result), site.source(1, type_)
    function = _COUNTS[site.name]
    bits = type_.bits

    def counted(x: Array) -> Array:
        return _by_bits(x, bits, function)

    return elementwise(dest, [(a, UNSIGNED[bits])], result, counted)


def bit_matrix(a: Array, bits: int) -> Array:
    """Return the bits of each element as a row, the lowest bit first."""
    flat = np.ascontiguousarray(np.atleast_1d(a)).view(np.uint8).reshape(-1, bits // 8)
    return np.unpackbits(flat, axis=1, bitorder="little")


def _by_bits(a: Array, bits: int, function: Callable[[Array, int], Array]) -> Array:
    found = function(bit_matrix(a, bits), bits)
    return found if a.ndim else found[0]


def _popc(rows: Array, bits: int) -> Array:
    del bits
    return rows.sum(1, dtype=np.uint32)


def _clz(rows: Array, bits: int) -> Array:
    top = rows[:, ::-1]
    return np.where(top.any(1), top.argmax(1), bits).astype(np.uint32)


def _brev(rows: Array, bits: int) -> Array:
    packed = np.packbits(rows[:, ::-1], axis=1, bitorder="little")
    return packed.view(UNSIGNED[bits])[:, 0]


_COUNTS: Mapping[str, Callable[[Array, int], Array]] = {"popc": _popc, "clz": _clz, "brev": _brev}


def build_find(site: Site) -> Step:
    """`bfind`: the position of the highest non-sign bit, all ones if there is none."""
    type_ = site.type(("u32", "u64", "s32", "s64"))
    amount = site.flag("shiftamt")
    site.no_more()
    site.count(2)
    result = TYPES["u32"]
    dest, a = site.destination(0, result), site.source(1, type_)
    bits, unsigned = type_.bits, UNSIGNED[type_.bits]

    def function(x: Array) -> Array:
        if type_.signed:
            x = np.where(x.view(SIGNED[bits]) < 0, ~x, x)
        zeros = _by_bits(x, bits, _clz)
        location = np.uint32(bits - 1) - zeros if not amount else zeros
        return np.where(zeros == bits, np.uint32(0xFFFF_FFFF), location).astype(np.uint32)

    return elementwise(dest, [(a, unsigned)], result, function)


def build_nth(site: Site) -> Step:
    """`fns`: the position of the n-th set bit from a base."""
    type_ = site.type(("b32",))
    site.no_more()
    site.count(4)
    dest = site.destination(0, type_)
    slots = [site.source(i, type_) for i in (1, 2, 3)]

    def one(mask: int, base: int, offset: int) -> int:
        offset = (offset ^ 0x8000_0000) - 0x8000_0000
        if offset == 0:
            return base if base < 32 and mask >> base & 1 else 0xFFFF_FFFF
        walk = range(base, 32) if offset > 0 else range(base, -1, -1)
        left = abs(offset)
        for location in walk:
            left -= mask >> location & 1
            if left == 0:
                return location
        return 0xFFFF_FFFF

    def function(*values: Array) -> Array:
        spread = [np.atleast_1d(v) for v in np.broadcast_arrays(*values)]
        rows = zip(*(v.tolist() for v in spread), strict=True)
        found = np.array([one(*row) for row in rows], np.uint32)
        return found if max(v.ndim for v in values) else found[0]

    return elementwise(dest, [(s, UNSIGNED[32]) for s in slots], type_, function)


# Bytes

_PERMUTE_MODES: Mapping[str, tuple[tuple[int, ...], ...]] = {
    "f4e": ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)),
    "b4e": ((0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)),
    "rc8": ((0,) * 4, (1,) * 4, (2,) * 4, (3,) * 4),
    "ecl": ((0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)),
    "ecr": ((0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)),
    "rc16": ((0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)),
}
"""By `prmt` mode and the selector's two low bits, the bytes that are picked, lowest first."""


def build_permute(site: Site) -> Step:
    """`prmt`: any four of the eight bytes of two registers, or replications of their sign bits."""
    names = tuple(_PERMUTE_MODES)
    if site.modifiers and site.modifiers[-1] in names:
        mode = site.modifiers.pop()
        type_ = site.type(("b32",))
    else:
        mode, type_ = "", site.type(("b32",))
    site.no_more()
    site.count(4)
    dest = site.destination(0, type_)
    slots = [(site.source(i, type_), UNSIGNED[32]) for i in (1, 2, 3)]

    def function(a: Array, b: Array, c: Array) -> Array:
        a, b, c = np.broadcast_arrays(a, b, c)
        both = a.astype(np.uint64) | b.astype(np.uint64) << np.uint64(32)
        picks = np.array(_PERMUTE_MODES[mode])[c & 3] if mode else None
        found = np.zeros(both.shape, np.uint32)
        for location in range(4):
            selector = (
                picks[..., location] if picks is not None else c >> np.uint32(4 * location) & 15
            )
            byte = both >> (np.asarray(selector) & 7).astype(np.uint64) * np.uint64(8)
            byte = byte.astype(np.uint32) & np.uint32(255)
            if picks is None:
                sign = np.where(byte & 128, np.uint32(255), np.uint32(0))
                byte = np.where(np.asarray(selector) & 8, sign, byte)
            found = found | byte << np.uint32(8 * location)
        return found

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
    Semantics("bfe", build_extract),
    Semantics("bfi", build_insert),
    Semantics("bmsk", build_mask),
    Semantics("szext", build_extend),
    Semantics("popc", build_count),
    Semantics("clz", build_count),
    Semantics("brev", build_count),
    Semantics("bfind", build_find),
    Semantics("fns", build_nth),
    Semantics("prmt", build_permute),
)
