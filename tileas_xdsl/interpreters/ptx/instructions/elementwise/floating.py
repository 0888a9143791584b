"""Floating-point arithmetic.  Source: PTX ISA 9.7.3, 9.7.4 and 9.7.5.

Every result is rounded once.  Approximate instructions on f32 return what an H200 does
(`target/mufu`); the others return the nearest number, which is within their documented error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.elementwise.compare import flush
from tileas_xdsl.interpreters.ptx.instructions.lane_steps import elementwise
from tileas_xdsl.interpreters.ptx.numerics.directed_rounding import (
    fused,
    quotient,
    rounded,
    square_root,
    two_product,
    two_sum,
)
from tileas_xdsl.interpreters.ptx.numerics.float_formats import (
    FORMATS,
    decode,
    encode,
    singles,
)
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import (
    NATIVE_FLOATS,
    TYPES,
    UNSIGNED,
    ScalarType,
)
from tileas_xdsl.interpreters.ptx.numerics.single_precision import (
    fused_single,
    single_operation,
)
from tileas_xdsl.target.mufu.functions import FUNCTIONS, approximate, approximate_quotient

SCALARS = ("f16", "bf16", "f32", "f64")
PACKED: Mapping[str, str] = {"f16x2": "f16", "bf16x2": "bf16", "f32x2": "f32"}
FLOATS = frozenset((*SCALARS, *PACKED))
ROUNDINGS = ("rn", "rz", "rm", "rp")

CANONICAL_NAN = np.uint32(0x7FFFFFFF)

Bits = Callable[..., Array]
"""A function on arrays of bit patterns of one format."""


def _exact_difference(a: Array, b: Array) -> tuple[Array, Array]:
    return two_sum(a, np.where(np.isnan(b), b, -b))


def _reciprocal(a: Array) -> tuple[Array, Array]:
    return quotient(np.ones_like(a), a)


OPERATIONS: Mapping[str, tuple[int, Callable[..., tuple[Array, Array]], Any]] = {
    "add": (2, two_sum, np.add),
    "sub": (2, _exact_difference, np.subtract),
    "mul": (2, two_product, np.multiply),
    "fma": (3, fused, None),
    "mad": (3, fused, None),
    "div": (2, quotient, np.divide),
    "sqrt": (1, square_root, np.sqrt),
    "rcp": (1, _reciprocal, np.reciprocal),
}
"""By instruction: the operand count, the exact operation on doubles, and numpy's own to nearest."""

APPROXIMATIONS: Mapping[str, Callable[[Array], Array]] = {
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": lambda x: np.where(np.isinf(x), np.nan, np.sin(np.where(np.isinf(x), 0.0, x))),
    "cos": lambda x: np.where(np.isinf(x), np.nan, np.cos(np.where(np.isinf(x), 0.0, x))),
    "lg2": np.log2,
    "ex2": np.exp2,
    "tanh": np.tanh,
}


@dataclass(frozen=True, slots=True)
class Mode:
    """The rounding, flush and saturation modifiers of an operation."""

    rounding: str = "rn"
    ftz: bool = False
    saturate: bool = False
    relu: bool = False

    @property
    def plain(self) -> bool:
        """Whether the operation only rounds to nearest even."""
        return self == Mode()


def _read_mode(site: Site) -> Mode:
    ftz = site.flag("ftz")
    saturate = site.flag("sat")
    relu = site.flag("relu")
    site.ignore(("oob",))
    rounding = site.choose(ROUNDINGS, "rn")
    return Mode(rounding, ftz, saturate, relu)


def _finish(bits: Array, name: str, mode: Mode) -> Array:
    """Apply flushing, saturation or relu to a result."""
    if not (mode.ftz or mode.saturate or mode.relu):
        return bits
    values = decode(bits, name)
    if mode.ftz:
        values = flush(values, name)
    if mode.saturate:
        values = np.where(values > 0, np.minimum(values, 1.0), 0.0)
    if mode.relu:
        values = np.where(values < 0, 0.0, np.where(values == 0, 0.0, values))
    return encode(values, name)


def _natively(native: Any, dtype: np.dtype[Any]) -> Bits:
    """Return numpy's operation, which keeps payloads of NaN."""
    return lambda *bits: native(*(b.view(dtype) for b in bits))


def _operation(name: str, operation: str, mode: Mode, sources: Sequence[str] = ()) -> Bits:
    """Return an operation of `OPERATIONS` on bit patterns of a format."""
    _, exact, native = OPERATIONS[operation]
    dtype = NATIVE_FLOATS.get(name)
    if not sources and mode in (Mode(), Mode(ftz=True)):
        if name == "f32":
            return single_operation(native or fused_single, ftz=mode.ftz)
        if native is not None and dtype is not None and mode.plain and name != "f16":
            return _natively(native, dtype)

    def function(*bits: Array) -> Array:
        formats = sources or (name,) * len(bits)
        values = [decode(b, f) for b, f in zip(bits, formats, strict=True)]
        if mode.ftz:
            values = [flush(v, name) for v in values]
        result = exact(*values)
        if mode.rounding == "rm" and operation in SUMS:
            parts = [values[0], -values[1]] if operation == "sub" else values
            result = (_negative_zero(result, parts), result[1])
        return _finish(rounded(result, name, mode.rounding), name, mode)

    return function


SUMS = ("add", "sub", "fma", "mad")


def _negative_zero(result: tuple[Array, Array], values: list[Array]) -> Array:
    """Fix zero sums under rounding down: -0 unless both addends are +0 (IEEE 754)."""
    value, lost = result
    parts = values if len(values) == 2 else [values[0] * values[1], values[2]]
    first, second = ((part == 0) & ~np.signbit(part) for part in parts)
    whole = first & second
    return np.where((value == 0) & (lost == 0) & ~whole, -0.0, value)


def build_arithmetic(site: Site) -> Step:
    """`add`, `sub`, `mul`, `fma`, `mad`, `div`, `sqrt`, `rcp`."""
    type_ = site.type(FLOATS)
    if site.flag("f32"):
        return _build_mixed(site, type_)
    is_full, is_approximate = site.flag("full"), site.flag("approx")
    mode = _read_mode(site)
    if (is_full or is_approximate) and type_.name == "f32":
        return _build_recorded(site, type_, mode, is_full)
    site.no_more()
    count, function = OPERATIONS[site.name][0], _operation(_element(type_), site.name, mode)
    if is_approximate:  # `rcp.approx.ftz.f64`
        function = partial(_on_upper_words, function)
    return elementwise_floats(site, type_, count, function)


def _build_recorded(site: Site, type_: ScalarType, mode: Mode, is_full: bool = False) -> Step:
    """An approximate instruction on f32, with the results of an H200."""
    site.no_more()

    def function(*bits: Array) -> Array:
        values = [b.view(np.float32) for b in bits]
        if len(values) == 2:
            found = approximate_quotient(*values, ftz=mode.ftz, full=is_full)
        else:
            found = approximate(site.name, values[0], mode.ftz)
        return np.where(np.isnan(found), CANONICAL_NAN, found.view(np.uint32))

    return elementwise_floats(site, type_, 2 if site.name == "div" else 1, function)


def _build_mixed(site: Site, half: ScalarType) -> Step:
    """`add.f32.f16`, `fma.rn.f32.bf16`: 16-bit operands and an f32 addend, rounded once."""
    single, mode = TYPES["f32"], _read_mode(site)
    site.no_more()
    types = (*(half,) * (OPERATIONS[site.name][0] - 1), single)
    dest = site.destination(0, single)
    sources = [(site.source(i, t), UNSIGNED[t.bits]) for i, t in enumerate(types, 1)]
    function = _operation("f32", site.name, mode, [t.name for t in types])
    return elementwise(dest, sources, single, partial(_narrowed, function, UNSIGNED[32]))


def build_approximation(site: Site) -> Step:
    """`rsqrt`, `sin`, `cos`, `lg2`, `ex2`, `tanh`."""
    type_ = site.type(FLOATS)
    site.ignore(("approx",))
    mode = _read_mode(site)
    if type_.name == "f32" and site.name in FUNCTIONS:
        return _build_recorded(site, type_, mode)
    site.no_more()
    name, exact = _element(type_), APPROXIMATIONS[site.name]

    def function(bits: Array) -> Array:
        values = decode(bits, name)
        if mode.ftz:
            values = flush(values, name)
        return _finish(encode(exact(values), name), name, mode)

    of_words = partial(_on_upper_words, function) if name == "f64" and mode.ftz else function
    return elementwise_floats(site, type_, 1, of_words)


UPPER_WORD = np.uint64(0xFFFFFFFF_00000000)
NAN_OF_UPPER_WORD = np.uint64(0x7FFFFFFF_00000000)


def _on_upper_words(function: Bits, bits: Array) -> Array:
    """Evaluate on the upper 32 bits of doubles, so that some NaN act as infinities (H200)."""
    found = np.asarray(function(bits & UPPER_WORD)) & UPPER_WORD
    is_nan = np.isnan(found.view(np.float64))
    return np.where(is_nan, NAN_OF_UPPER_WORD, found)


def _element(type_: ScalarType) -> str:
    return PACKED.get(type_.name, type_.name)


def elementwise_floats(site: Site, type_: ScalarType, count: int, function: Bits) -> Step:
    """Build a step of `function` on bit patterns, element by element for packed types."""
    site.count(count + 1)
    dest = site.destination(0, type_)
    unsigned = UNSIGNED[type_.bits]
    sources = [(site.source(i, type_), unsigned) for i in range(1, count + 1)]
    if type_.name in PACKED:
        function = partial(_on_parts, function, type_.bits // 2)
    narrowed = partial(_narrowed, function, unsigned)
    return elementwise(dest, sources, type_, narrowed)


def _narrowed(function: Bits, unsigned: np.dtype[Any], *bits: Array) -> Array:
    """Truncate the 64-bit results of encoders to the register width."""
    found = np.asarray(function(*bits))
    return found if found.dtype.itemsize == unsigned.itemsize else found.astype(unsigned)


def _on_parts(function: Bits, half: int, *bits: Array) -> Array:
    whole, part = UNSIGNED[2 * half].type, UNSIGNED[half]
    ones, shift = whole((1 << half) - 1), whole(half)
    low = function(*((b & ones).astype(part) for b in bits))
    high = function(*((b >> shift).astype(part) for b in bits))
    parts = [_whole_bits(np.asarray(p), part).astype(whole) for p in (low, high)]
    return parts[0] | parts[1] << shift


def _whole_bits(part: Array, dtype: np.dtype[Any]) -> Array:
    return part.view(dtype) if part.dtype.kind == "f" else part


# Comparing and signs


def build_extreme(site: Site) -> Step:
    """`min` and `max`: a number wins over NaN unless .NaN is given."""
    type_ = site.type(FLOATS)
    ftz, nan = site.flag("ftz"), site.flag("NaN")
    signs = site.flag("xorsign")
    if signs:
        site.choose(("abs",))
    magnitude = signs or site.flag("abs")
    site.no_more()
    least = site.name == "min"
    count = site.count(3, 4) - 1
    name = _element(type_)
    canonical = FORMATS[name].nan
    numbers = singles if name == "f32" else decode

    def pair(a: Array, b: Array) -> Array:
        x, y = numbers(a, name), numbers(b, name)
        if ftz:
            x, y = flush(x, name), flush(y, name)
        sign = np.signbit(x) ^ np.signbit(y) if signs else None
        if magnitude:
            x, y = np.abs(x), np.abs(y)
        found = _extreme(x, y, least)
        if nan:
            found = np.where(np.isnan(x) | np.isnan(y), x.dtype.type(np.nan), found)
        if sign is not None:
            found = np.where(np.isnan(found), found, np.copysign(found, np.where(sign, -1.0, 1.0)))
        return np.where(np.isnan(found), np.uint64(canonical or 0), encode(found, name))

    def function(*bits: Array) -> Array:
        found = pair(bits[0], bits[1])
        if len(bits) == 2:
            return found
        return pair(found.astype(bits[2].dtype), bits[2])

    return elementwise_floats(site, type_, count, function)


def _extreme(x: Array, y: Array, least: bool) -> Array:
    found = np.fmin(x, y) if least else np.fmax(x, y)
    if found.all():
        return found
    zeros = (x == 0) & (y == 0)
    negative = (np.signbit(x) | np.signbit(y)) if least else (np.signbit(x) & np.signbit(y))
    return np.where(zeros, np.where(negative, -0.0, 0.0), found)


def build_sign(site: Site) -> Step:
    """`abs` and `neg`: change the sign bit; f32 NaN is canonical, f64 NaN only made quiet."""
    type_ = site.type(FLOATS)
    ftz = site.flag("ftz")
    site.no_more()
    name = _element(type_)
    bits = FORMATS[name].bits
    top = UNSIGNED[bits].type(1 << (bits - 1))
    negate = site.name == "neg"
    nan, quiet = FORMATS[name].nan or 0, 1 << (FORMATS[name].mantissa - 1)

    def function(a: Array) -> Array:
        values = decode(a, name)
        is_nan = np.isnan(values)
        if ftz:
            a = encode(flush(values, name), name).astype(a.dtype)
        found = a ^ top if negate else a & ~top
        if not np.any(is_nan):
            return found
        kept = a | top.dtype.type(quiet) if name == "f64" else np.full_like(a, nan)
        return np.asarray(np.where(is_nan, kept, found), a.dtype)

    return elementwise_floats(site, type_, 1, function)


def build_copysign(site: Site) -> Step:
    """`copysign`: the sign of the first operand with the magnitude of the second."""
    type_ = site.type(("f32", "f64"))
    site.no_more()
    top = UNSIGNED[type_.bits].type(1 << (type_.bits - 1))

    def function(a: Array, b: Array) -> Array:
        return (a & top) | (b & ~top)

    return elementwise_floats(site, type_, 2, function)


_ARITHMETIC = tuple(OPERATIONS)

TABLE = (
    *(Semantics(name, build_arithmetic, types=FLOATS) for name in _ARITHMETIC),
    *(Semantics(name, build_approximation, types=FLOATS) for name in APPROXIMATIONS),
    Semantics("min", build_extreme, types=FLOATS),
    Semantics("max", build_extreme, types=FLOATS),
    Semantics("abs", build_sign, types=FLOATS),
    Semantics("neg", build_sign, types=FLOATS),
    Semantics("copysign", build_copysign, types=FLOATS),
)
