"""Bit fields and bytes of registers.  Source: PTX ISA 9.7.1 and 9.7.9 (prmt)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.instructions.base import (
    Semantics,
    Site,
    Step,
)
from tileas_xdsl.interpreters.ptx.instructions.lane_steps import elementwise
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES, UNSIGNED, ScalarType


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
    Semantics("bfe", build_extract),
    Semantics("bfi", build_insert),
    Semantics("bmsk", build_mask),
    Semantics("szext", build_extend),
    Semantics("prmt", build_permute),
)
