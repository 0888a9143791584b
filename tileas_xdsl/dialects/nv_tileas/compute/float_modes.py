"""Rounding, flush-to-zero, saturation and approximation of `arith` and `math` on floats.

MLIR's fast-math flags permit something; what is required is in attributes that any such operation
may carry: `nv_tileas.rounding = "rz"`, `nv_tileas.ftz` (subnormal operands and results are zero)
and `nv_tileas.sat` (the result is clamped to [0, 1], NaN is 0).  The keywords are PTX's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatTF32Type,
    StringAttr,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute, Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.target.math_functions import MATH_FUNCTIONS

ROUNDING = "nv_tileas.rounding"
FLUSH = "nv_tileas.ftz"
SATURATE = "nv_tileas.sat"
BY_DOUBLES = "nv_tileas.by_f64"
"""A division of f32 that is seldom reached: thrice as slow by f64, but no subroutine of ptxas."""

NEAREST = "rn"
DIRECTED = ("rz", "rm", "rp")
"""Towards zero, minus infinity, infinity."""
APPROXIMATE = ("approx", "full")
"""Not rounded: some units off; `full` over the whole range."""
AWAY = "rna"
"""To nearest, ties away from zero: of conversions only."""


@dataclass(frozen=True, slots=True)
class Modes:
    """The modes that an operation supports."""

    roundings: tuple[str, ...] = ()
    flushes: bool = True
    saturates: bool = False
    exact: Mapping[type[Attribute], tuple[str, ...]] = field(
        default_factory=lambda: dict.fromkeys((Float32Type, Float64Type), DIRECTED)
    )
    """By element type the correct roundings other than to nearest even."""


_ARITHMETIC = Modes((NEAREST, *DIRECTED), saturates=True)
_CONVERSION = Modes(
    (NEAREST, AWAY, *DIRECTED),
    flushes=False,
    exact={
        BFloat16Type: (AWAY, *DIRECTED),
        Float16Type: (AWAY, *DIRECTED),
        Float32Type: DIRECTED,
        FloatTF32Type: (AWAY, "rz"),
        Float8E8M0FNUType: ("rz", "rp"),
    },
)
"""What a float may be rounded to; 8-bit numbers go to nearest even only (PTX ISA, `cvt`)."""
_FLUSHES = Modes()

MODES: Mapping[str, Modes] = MappingProxyType(
    {
        "arith.addf": _ARITHMETIC,
        "arith.subf": _ARITHMETIC,
        "arith.mulf": _ARITHMETIC,
        "math.fma": _ARITHMETIC,
        "arith.extf": _CONVERSION,
        "arith.truncf": _CONVERSION,
        "nv_tileaa.fp_to_fp": _CONVERSION,
        "arith.divf": Modes((NEAREST, *DIRECTED, *APPROXIMATE)),
        "math.sqrt": Modes((NEAREST, *DIRECTED, "approx")),
        "arith.minimumf": _FLUSHES,
        "arith.maximumf": _FLUSHES,
        "arith.minnumf": _FLUSHES,
        "arith.maxnumf": _FLUSHES,
        "math.exp2": Modes(("approx",)),
        "math.rsqrt": Modes(("approx",)),
        "math.tanh": Modes(("approx", "full"), flushes=False),
        **{
            f"math.{name}": Modes(("approx",), flushes=False)
            for name, function in MATH_FUNCTIONS.items()
            if function.fast and name not in ("sqrt", "exp2", "rsqrt", "tanh")
        },
    }
)
"""By operation."""


@dataclass(frozen=True, slots=True)
class FloatMode:
    """The modes of one operation."""

    rounding: str = ""
    """The rounding; empty for the default: to nearest even, or contracted where that is allowed."""
    ftz: bool = False
    sat: bool = False
    fuses: bool = False
    """Whether multiply and add may be contracted into an fma."""
    approximate: bool = False
    """Whether functions may be approximated."""

    @property
    def exact(self) -> bool:
        """Whether it rounds to nearest like IEEE 754 and nothing else."""
        return self.rounding in ("", NEAREST) and not (self.ftz or self.sat)


def float_mode(op: Operation) -> FloatMode:
    """Return the modes of an operation; raises `OpError` for unsupported ones."""
    flags = op.properties.get("fastmath") or op.attributes.get("fastmath")
    given = flags.data if isinstance(flags, FastMathFlagsAttr) else ()
    names = {str(flag.value) for flag in given}
    allowed = bool({"afn", "fast"} & names)
    rounding = _rounding(op)
    ftz, sat = (name in op.attributes for name in (FLUSH, SATURATE))
    if rounding or ftz or sat:
        _check(op, rounding, ftz, sat)
    return FloatMode(
        rounding,
        # What may be approximate may take subnormal numbers as zero, unless a rounding is named.
        ftz or (allowed and not rounding),
        sat,
        bool({"contract", "fast"} & names),
        rounding == "approx" or (allowed and not rounding),
    )


def _rounding(op: Operation) -> str:
    found = op.attributes.get(ROUNDING)
    if found is None:
        return ""
    if not isinstance(found, StringAttr):
        raise op_error(op, f"has {ROUNDING} as text, not {found}")
    return found.data


def _check(op: Operation, rounding: str, ftz: bool, sat: bool) -> None:
    modes = MODES.get(op.name)
    if modes is None:
        raise op_error(op, f"has none of {ROUNDING}, {FLUSH} and {SATURATE}")
    if rounding and rounding not in modes.roundings:
        known = ", ".join(modes.roundings) or "none"
        raise op_error(op, f"rounds by one of {known}; {ROUNDING} is {rounding}")
    for asked, can, name in ((ftz, modes.flushes, FLUSH), (sat, modes.saturates, SATURATE)):
        if asked and not can:
            raise op_error(op, f"has no {name}")
    element = _element(op.results[0].type)
    if (ftz or sat) and not isinstance(element, Float32Type):
        raise op_error(op, f"flushes and saturates f32 only, not {element}")
    exact = modes.exact.get(type(element), ())
    if rounding in (AWAY, *DIRECTED) and rounding not in exact:
        others = f" or {', '.join(exact)}" if exact else " only"
        raise op_error(op, f"rounds {element} to nearest{others}, not by {rounding}")


def _element(type_: Attribute) -> Attribute:
    shaped: Any = type_
    return shaped.element_type if isinstance(type_, TensorType | VectorType) else type_
