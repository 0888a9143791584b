"""Conversions to and from packed registers.  Source: PTX ISA 9.7.9.21 cvt and 9.7.9.22 cvt.pack."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, Value
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.elementwise.conversion_modifiers import (
    Conversion,
    modifiers_of,
)
from tileas_xdsl.interpreters.ptx.instructions.lane_steps import as_value, elementwise, typed
from tileas_xdsl.interpreters.ptx.numerics.float_formats import (
    bf16_of_single,
    decode,
    encode,
    encode_ue8m0,
)
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES, UNSIGNED

PACKED: Mapping[str, tuple[str, int]] = {
    "f16x2": ("f16", 16),
    "bf16x2": ("bf16", 16),
    "e4m3x2": ("e4m3", 8),
    "e5m2x2": ("e5m2", 8),
    "e2m3x2": ("e2m3", 8),
    "e3m2x2": ("e3m2", 8),
    "e2m1x2": ("e2m1", 4),
    "ue8m0x2": ("ue8m0", 8),
}
"""Packed types of conversions: the element format and its width in bits."""


ALWAYS_FINITE = ("e2m3", "e3m2", "e2m1")


def build_packed(site: Site) -> Step:
    """`cvt` from or to several elements in a register, `.rs` (stochastic rounding) included."""
    source_name, result_name = site.modifiers.pop(), site.modifiers.pop()
    if "rs" in site.modifiers:
        return _build_stochastic(site, result_name)
    how = modifiers_of(site)
    site.no_more()
    if source_name in PACKED:
        return _unpack(site, source_name, result_name, how)
    if source_name != "f32":
        site.fail(f"no conversion from .{source_name} to .{result_name}")
    return _pack(site, result_name, how)


def _pack(site: Site, result_name: str, how: Conversion) -> Step:
    """Build a conversion of two f32 to a packed register; the first operand is the upper half."""
    site.count(3)
    name, width = PACKED[result_name]
    result = TYPES[{4: "b8", 8: "b16", 16: "b32"}[width]]
    dest = site.destination(0, result, any_width=width == 4)
    single = TYPES["f32"]
    high, low = site.source(1, single), site.source(2, single)
    out = UNSIGNED[max(site.register_bits(0), result.bits)]
    word = UNSIGNED[32]
    if result_name == "bf16x2" and how == Conversion("rn", False, False, False, False):
        return elementwise(dest, [(high, word), (low, word)], result, _pack_bf16)
    finite = how.finite or name in ALWAYS_FINITE

    def part(bits: Array) -> Array:
        values = decode(bits, "f32")
        if how.relu:
            values = np.where(values <= 0, 0.0, values)
        if name == "ue8m0":
            return encode_ue8m0(values, how.rounding)
        return encode(values, name, how.rounding or "rn", saturate=finite)

    def step(f: ConvergenceGroup) -> None:
        upper = part(typed(f.r[high], word, word))
        lower = part(typed(f.r[low], word, word))
        f.r[dest] = as_value((upper << np.uint64(width) | lower).astype(out), out)

    return step


RANDOM_BITS: Mapping[str, int] = {"f16x2": 13, "bf16x2": 16}
"""By type, how many low bits of each half of `rbits` are added to what is cut off an operand."""


def _build_stochastic(site: Site, result_name: str) -> Step:
    """Build `cvt.rs` of two f32: rounded away from zero where the random bits carry.

    The upper half of `rbits` is for the first operand, whose result is the upper half.  The bits
    are added to the cut off ones from the top on: PTX ISA leaves open where results are subnormal.
    """
    site.ignore(("rs",))
    relu, finite = site.flag("relu"), site.flag("satfinite")
    site.no_more()
    if result_name not in RANDOM_BITS:
        site.fail(
            f"cvt.rs to .{result_name} is not emulated: PTX ISA 9.7.9.21 shows which random bits "
            "belong to which operand in a figure only, and no such chip was measured"
        )
    site.count(4)
    name, width = PACKED[result_name]
    count = RANDOM_BITS[result_name]
    dest, word = site.destination(0, TYPES["b32"]), UNSIGNED[32]
    single = TYPES["f32"]
    slots = [site.source(1, single), site.source(2, single), site.source(3, TYPES["b32"])]

    def part(bits: Array, random: Array) -> Array:
        values = decode(bits, "f32")
        if relu:
            values = np.where(values <= 0, 0.0, values)
        share = np.ldexp((random & word.type((1 << count) - 1)).astype(np.float64), -count)
        return encode(values, name, "rs", saturate=finite, random=share).astype(word)

    def function(high: Array, low: Array, random: Array) -> Array:
        upper, lower = part(high, random >> word.type(16)), part(low, random)
        return upper << word.type(width) | lower

    return elementwise(dest, [(slot, word) for slot in slots], TYPES["b32"], function)


def _pack_bf16(high: Array, low: Array) -> Array:
    upper = bf16_of_single(high.view(np.float32)).astype(np.uint32)
    lower = bf16_of_single(low.view(np.float32)).astype(np.uint32)
    return upper << np.uint32(16) | lower


def _unpack(site: Site, source_name: str, result_name: str, how: Conversion) -> Step:
    """Build a conversion of a packed register to one of wider elements."""
    if result_name not in PACKED:
        site.fail(f"no conversion from .{source_name} to .{result_name}")
    name, width = PACKED[source_name]
    result_format, result_width = PACKED[result_name]
    site.count(2)
    source = TYPES[{4: "b8", 8: "b16", 16: "b32"}[width]]
    result = TYPES[{4: "b8", 8: "b16", 16: "b32"}[result_width]]
    dest = site.destination(0, result, any_width=True)
    a = site.source(1, source, any_width=True)
    out = UNSIGNED[max(site.register_bits(0), result.bits)]
    carrier = {4: np.uint8, 8: np.uint8, 16: np.uint16}[width]
    mask = (1 << width) - 1

    def part(bits: Value) -> Array:
        values = decode(np.asarray(bits & mask).astype(carrier), name)
        if how.relu:
            values = np.where(values <= 0, 0.0, values)
        if result_format == "ue8m0":
            return encode_ue8m0(values, how.rounding)
        finite = how.finite or result_format in ALWAYS_FINITE
        return encode(values, result_format, how.rounding or "rn", saturate=finite)

    def step(f: ConvergenceGroup) -> None:
        value = f.r[a]
        word = part(value) | part(value >> width) << np.uint64(result_width)
        f.r[dest] = as_value(np.asarray(word).astype(out), out)

    return step


def build_cvt_pack(site: Site) -> Step:
    """`cvt.pack.sat`: two saturated integers into the low part of a third register."""
    site.choose(("sat",))
    names = [site.modifiers.pop() for _ in range(len(site.modifiers))]
    if len(names) == 3:
        third, source_name, narrow = names
    else:
        third, (source_name, narrow) = "", names
    if source_name != "s32" or narrow not in ("u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"):
        site.fail(f"no conversion from .{source_name} to .{narrow}")
    bits = int(narrow[1:])
    site.count(4 if third else 3)
    dest = site.destination(0, TYPES["b32"])
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if narrow[0] == "s" else (
        0, (1 << bits) - 1)  # fmt: skip
    slots = [site.source(i, TYPES["b32"]) for i in range(1, 4 if third else 3)]

    def function(a: Array, b: Array, c: Array | None = None) -> Array:
        parts = [
            (np.clip(v.view(np.int32), low, high).astype(np.int64) & ((1 << bits) - 1)).astype(
                np.uint32
            )
            for v in (a, b)
        ]
        found = parts[0] << np.uint32(bits) | parts[1]
        return found if c is None else found | c << np.uint32(2 * bits)

    word = UNSIGNED[32]
    return elementwise(dest, [(s, word) for s in slots], TYPES["b32"], function)


TABLE = (Semantics("cvt.pack", build_cvt_pack),)
