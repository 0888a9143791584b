"""Conversion instructions.  Source: PTX ISA 9.7.9.21 cvt and 9.7.9.22 cvt.pack."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.elementwise.compare import flush
from tileas_xdsl.interpreters.ptx.instructions.elementwise.conversion_modifiers import (
    FLOAT_ROUNDING,
    INTEGER_ROUNDING,
    Conversion,
    modifiers_of,
)
from tileas_xdsl.interpreters.ptx.instructions.elementwise.packed_conversions import (
    PACKED,
    build_packed,
)
from tileas_xdsl.interpreters.ptx.instructions.lane_steps import as_value
from tileas_xdsl.interpreters.ptx.numerics.float_formats import (
    FORMATS,
    Format,
    decode,
    encode,
)
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import SIGNED, UNSIGNED, ScalarType


def build_cvt(site: Site) -> Step:
    """`cvt` of a scalar, of two scalars to a packed type, or between packed types."""
    names = site.modifiers[-2:]
    is_packed = len(names) == 2 and (names[0] in PACKED or names[1] in PACKED)
    if is_packed or "rs" in site.modifiers:
        return build_packed(site)
    source = site.type()
    result = site.type()
    how = modifiers_of(site)
    site.no_more()
    site.count(2)
    dest = site.destination(0, result, any_width=True)
    a = site.source(1, source, any_width=True)
    wide = site.register_bits(0)
    function = _scalar(site, source, result, how)
    return _convert_step(dest, a, source, result, wide, function)


def _convert_step(
    dest: int,
    a: int,
    source: ScalarType,
    result: ScalarType,
    wide: int,
    function: Callable[[Array], Array],
) -> Step:
    """Build a step that reads the low bits of a register and sign-extends its result."""
    narrow, out = UNSIGNED[source.bits], UNSIGNED[wide]
    mask = (1 << source.bits) - 1
    plain = source.kind == "unsigned" and result.kind == "unsigned" and wide >= source.bits
    if plain and result.bits >= source.bits:

        def widen(f: ConvergenceGroup) -> None:
            value = f.r[a]
            if value.__class__ is np.ndarray:
                f.r[dest] = value.astype(narrow).astype(out)
            else:
                f.r[dest] = value & mask

        return widen

    def step(f: ConvergenceGroup) -> None:
        value = f.r[a]
        low = (
            value.astype(narrow)
            if value.__class__ is np.ndarray
            else np.array(value & mask, narrow)
        )
        found = np.asarray(function(low))
        if wide > result.bits:
            kind = SIGNED if result.signed else UNSIGNED
            found = (
                found.view(kind[result.bits])
                if found.dtype.itemsize * 8 == result.bits
                else (found.astype(kind[result.bits]))
            )
            found = found.astype(kind[wide])
        f.r[dest] = as_value(found.view(out) if found.dtype.itemsize * 8 == wide else
                             found.astype(out), out)  # fmt: skip

    return step


def _scalar(
    site: Site, source: ScalarType, result: ScalarType, how: Conversion
) -> Callable[[Array], Array]:
    from_float, to_float = source.kind == "float", result.kind == "float"
    if from_float and not to_float:
        if how.rounding not in INTEGER_ROUNDING:
            site.fail("a float becomes an integer by .rni, .rzi, .rmi or .rpi")
        is_wide = 64 in (source.bits, result.bits)
        return lambda a: _to_integer(decode(a, source.name), result, how, is_wide=is_wide)
    if not from_float and to_float:
        return lambda a: _from_integer(a, source, result, how)
    if not from_float:
        return lambda a: _between_integers(a, source, result, how)
    return lambda a: _between_floats(a, source, result, how)


def _to_integer(values: Array, result: ScalarType, how: Conversion, *, is_wide: bool) -> Array:
    """Convert floats to integers; NaN becomes zero, or the minimum if either side has 64 bits."""
    if how.ftz:
        values = flush(values)
    whole = INTEGER_ROUNDING[how.rounding](values)
    unsigned = UNSIGNED[result.bits]
    low, high = _limits(result)
    is_nan = np.isnan(whole)
    inside = np.where(is_nan | (whole < low) | (whole >= float(high) + 1), 0.0, whole)
    bits = inside.astype(np.int64).view(np.uint64) if result.signed else inside.astype(np.uint64)
    found = bits.astype(unsigned)
    found = np.where(whole < low, unsigned.type(low & ((1 << result.bits) - 1)), found)
    found = np.where(whole >= float(high) + 1, unsigned.type(high), found)
    nan = 1 << (result.bits - 1) if is_wide else 0
    return np.where(is_nan, unsigned.type(nan), found)


def _limits(type_: ScalarType) -> tuple[int, int]:
    if type_.signed:
        return -(1 << (type_.bits - 1)), (1 << (type_.bits - 1)) - 1
    return 0, (1 << type_.bits) - 1


def _from_integer(a: Array, source: ScalarType, result: ScalarType, how: Conversion) -> Array:
    values = a.view(SIGNED[source.bits]) if source.signed else a
    rounding = how.rounding or "rn"
    wide = values.astype(np.float64)
    if source.bits == 64:
        wide = _odd_double(values, wide)
        if result.name == "f64" and rounding == "rn" and not how.saturate:
            return values.astype(np.float64).view(np.uint64)
    if how.saturate:
        wide = np.clip(wide, 0.0, 1.0)
    elif result.name == "f64" and source.bits == 64:
        return _double_of_word(values, rounding)
    if result.name == "f64":
        return wide.view(np.uint64)
    return encode(wide, result.name, rounding).astype(UNSIGNED[result.bits])


def _odd_double(values: Array, nearest: Array) -> Array:
    """Return 64-bit integers as doubles that are exact or rounded to odd."""
    flat = [_odd(int(v)) for v in np.atleast_1d(values).tolist()]
    found = np.array(flat, np.float64)
    return found if nearest.ndim else found[0]


def _odd(value: int) -> float:
    size = abs(value)
    drop = max(size.bit_length() - 53, 0)
    kept = size >> drop
    if size & ((1 << drop) - 1):
        kept |= 1
    return float(kept << drop) * (-1 if value < 0 else 1)


def _double_of_word(values: Array, rounding: str) -> Array:
    def one(value: int) -> float:
        size = abs(value)
        drop = max(size.bit_length() - 53, 0)
        kept, lost = size >> drop, size & ((1 << drop) - 1)
        up = {"rp": value > 0, "rm": value < 0}.get(rounding, False)
        if lost and up:
            kept += 1
        return float(kept << drop) * (-1 if value < 0 else 1)

    found = np.array([one(int(v)) for v in np.atleast_1d(values).tolist()], np.float64)
    return (found if values.ndim else found[:1].reshape(())).view(np.uint64)


def _between_integers(a: Array, source: ScalarType, result: ScalarType, how: Conversion) -> Array:
    values = a.view(SIGNED[source.bits]) if source.signed else a
    if how.saturate:
        low, high = _limits(result)
        info = np.iinfo(values.dtype)
        values = np.clip(values, max(low, int(info.min)), min(high, int(info.max)))
    return values.astype((SIGNED if result.signed else UNSIGNED)[result.bits])


def _between_floats(a: Array, source: ScalarType, result: ScalarType, how: Conversion) -> Array:
    values = decode(a, source.name)
    if how.ftz and "f32" in (source.name, result.name):
        values = flush(values) if source.name == "f32" else values
    if how.rounding in INTEGER_ROUNDING:
        whole = INTEGER_ROUNDING[how.rounding](values)
        values = np.where(np.isnan(whole), whole, np.copysign(whole, values))
    if how.saturate:
        values = np.where(values > 0, np.minimum(values, 1.0), 0.0)
    if how.relu:
        values = np.where(values <= 0, 0.0, values)
    rounding = how.rounding if how.rounding in FLOAT_ROUNDING else "rn"
    bits = encode(values, result.name, rounding, saturate=how.finite)
    if how.ftz and result.name == "f32":
        bits = encode(flush(decode(bits, "f32")), "f32")
    return _with_kept_nan(bits.astype(UNSIGNED[result.bits]), a, source.name, result.name, how)


KEPT_NAN = {
    ("f32", "f32"): False,
    ("bf16", "f32"): False,
    **dict.fromkeys((("f64", "f32"), ("f64", "f16"), ("f16", "f64"), ("f32", "f64")), True),
}
"""By (source, result) of conversions that keep the payload of NaN: whether they make it quiet.

Measured on an H200, as is that tf32 only truncates NaN; PTX leaves it open.
"""


def _with_kept_nan(bits: Array, a: Array, source: str, result: str, how: Conversion) -> Array:
    """Return converted bits with NaN replaced by what the hardware produces."""
    is_nan = np.isnan(decode(a, source))
    if not np.any(is_nan) or how.saturate or how.relu:
        return bits
    if (source, result) == ("f32", "tf32") and how.rounding == "rna":
        return np.where(is_nan, _tf32_of_nan(a, how), bits)
    quiet = KEPT_NAN.get((source, result))
    is_changed = source == result and (how.rounding or how.ftz)
    if quiet is None or is_changed:
        return bits
    if how.ftz and source == "f32":
        a = np.full_like(a, FORMATS["f32"].nan or 0)
    return np.where(is_nan, _moved_nan(a, FORMATS[source], FORMATS[result], quiet), bits)


def _moved_nan(a: Array, source: Format, result: Format, quiet: bool) -> Array:
    """Return the NaN of another format with the same sign and the upper bits of the payload."""
    word, dtype = a.astype(np.uint64), UNSIGNED[result.bits]
    payload = word & np.uint64((1 << source.mantissa) - 1)
    wider = result.mantissa - source.mantissa
    payload = payload << np.uint64(wider) if wider >= 0 else payload >> np.uint64(-wider)
    exponent = ((1 << result.exponent) - 1) << result.mantissa | quiet << (result.mantissa - 1)
    sign = word >> np.uint64(source.bits - 1) << np.uint64(result.bits - 1)
    return (sign | np.uint64(exponent) | payload).astype(dtype)


def _tf32_of_nan(a: Array, how: Conversion) -> Array:
    cut = a & np.uint32(0xFFFFE000)
    return cut - np.uint32(0x2000) if how.finite else cut


TABLE = (Semantics("cvt", build_cvt),)
