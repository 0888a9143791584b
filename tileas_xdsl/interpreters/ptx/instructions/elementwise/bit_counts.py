"""Bits that are counted, reversed or found.  Source: PTX ISA 9.7.1."""

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
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import SIGNED, TYPES, UNSIGNED


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


def _bit_matrix(a: Array, bits: int) -> Array:
    """Return the bits of each element as a row, the lowest bit first."""
    flat = np.ascontiguousarray(np.atleast_1d(a)).view(np.uint8).reshape(-1, bits // 8)
    return np.unpackbits(flat, axis=1, bitorder="little")


def _by_bits(a: Array, bits: int, function: Callable[[Array, int], Array]) -> Array:
    found = function(_bit_matrix(a, bits), bits)
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


TABLE = (
    Semantics("popc", build_count),
    Semantics("clz", build_count),
    Semantics("brev", build_count),
    Semantics("bfind", build_find),
    Semantics("fns", build_nth),
)
