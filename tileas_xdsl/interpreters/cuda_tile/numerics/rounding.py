"""Rounding of exact numbers to a float format, in every rounding mode.

Exact results reach this file as float64 *rounded to odd*: an inexact one is the neighbour whose
last bit is set.  Rounding that once more to a format of at most 51 bits, in any direction, gives
what rounding the exact number gives (Boldo and Melquiond, "Emulation of FMA and correctly rounded
sums: proved algorithms using rounding to odd", 2008).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cuda_tile.enums import RoundingMode
from tileas_xdsl.dialects.cuda_tile.types.scalars import name_of_scalar
from tileas_xdsl.interpreters.cuda_tile.faults import Undefined
from tileas_xdsl.interpreters.cuda_tile.numerics.elements import Array, dtype_of

Reals: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Format:
    """A float format."""

    precision: int
    """Bits of the significand, the hidden one included."""
    least: int
    """The exponent of the smallest normal number."""
    largest: float
    """The largest finite number."""
    saturates: bool = False
    """Whether larger numbers become that one, as `cvt.satfinite` does; else infinity."""


FORMATS: Mapping[str, Format] = {
    "f16": Format(11, -14, 65504.0),
    "bf16": Format(8, -126, (2 - 2.0**-7) * 2.0**127),
    "f32": Format(24, -126, (2 - 2.0**-23) * 2.0**127),
    "tf32": Format(11, -126, (2 - 2.0**-10) * 2.0**127),
    "f64": Format(53, -1022, float(np.finfo(np.float64).max)),
    "f8E4M3FN": Format(4, -6, 448.0, saturates=True),
    "f8E5M2": Format(3, -14, 57344.0, saturates=True),
    "f4E2M1FN": Format(2, 0, 6.0, saturates=True),
    "f8E8M0FNU": Format(1, -127, 2.0**127, saturates=True),
}
"""By name; narrow formats saturate, for PTX has no other conversion to them (PTX ISA, `cvt`)."""


def _away(values: Reals) -> Reals:
    return np.copysign(np.floor(np.abs(values) + 0.5), values)


_TO_INTEGER: Mapping[RoundingMode, Callable[[Any], Any]] = {
    RoundingMode.NEAREST_EVEN: np.rint,
    RoundingMode.ZERO: np.trunc,
    RoundingMode.NEGATIVE_INF: np.floor,
    RoundingMode.POSITIVE_INF: np.ceil,
    RoundingMode.NEAREST_AWAY: _away,
}

NEAREST = frozenset(
    (RoundingMode.NEAREST_EVEN, RoundingMode.NEAREST_AWAY, RoundingMode.APPROX, RoundingMode.FULL)
)
"""Modes without a direction; of what may be approximate the exact result is the best one."""


def rounded(
    values: Reals,
    element: Attribute,
    mode: RoundingMode = RoundingMode.NEAREST_EVEN,
    *,
    flushed: bool = False,
    saturates: bool | None = None,
) -> Array:
    """Round float64, exact or rounded to odd, to a format; tiny results become zero if `flushed`.

    Results of f64 must be exact or already rounded.  `saturates` is by default what the format
    says; infinity becomes NaN where a format has none.
    """
    name = name_of_scalar(element)
    format_ = FORMATS[name]
    if saturates is not None:
        format_ = replace(format_, saturates=saturates)
    values = np.asarray(values, np.float64)
    if name != "f64":
        values = _to_grid(values, format_, mode)
        values = _bounded(values, format_, mode)
    if name == "f8E8M0FNU":
        return _of_scales(values, element)
    if name == "f4E2M1FN":
        values = np.where(np.isnan(values), format_.largest, values)
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.asarray(values.astype(dtype_of(element)))
    return flush(found) if flushed else found


def _to_grid(values: Reals, format_: Format, mode: RoundingMode) -> Reals:
    """The multiples of the last bit of the format that are next to the values."""
    finite = np.where(np.isfinite(values), values, 0.0)
    _, exponent = np.frexp(finite)
    last = np.maximum(exponent - 1, format_.least) - (format_.precision - 1)
    to_integer = _TO_INTEGER[RoundingMode.NEAREST_EVEN if mode not in _TO_INTEGER else mode]
    grid = np.ldexp(to_integer(np.ldexp(finite, -last)), last)
    return np.where(np.isfinite(values), np.copysign(grid, values), values)


def _bounded(values: Reals, format_: Format, mode: RoundingMode) -> Reals:
    """What is too large becomes the largest number, or infinity where the mode goes there."""
    largest = format_.largest
    if format_.saturates:
        return np.clip(values, -largest, largest)
    stays = {
        RoundingMode.ZERO: values != 0,
        RoundingMode.NEGATIVE_INF: values > 0,
        RoundingMode.POSITIVE_INF: values < 0,
    }.get(mode, np.zeros(values.shape, bool))
    beyond = np.isfinite(values) & (np.abs(values) > largest)
    bound = np.where(stays, largest, np.inf)
    return np.where(beyond, np.copysign(bound, values), values)


def _of_scales(values: Reals, element: Attribute) -> Array:
    """Powers of two as `f8E8M0FNU`, which has neither a sign nor a zero."""
    if np.any(values < 0):
        raise Undefined("makes a f8E8M0FNU, which has no sign, of a negative number")
    return np.maximum(values, 2.0**-127).astype(dtype_of(element))


def flush(values: Array) -> Array:
    """Subnormal numbers become zeros of the same sign."""
    tiny = np.abs(values) < np.finfo(values.dtype).tiny
    return np.where(tiny, np.copysign(np.zeros_like(values), values), values)
