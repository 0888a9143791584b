"""Which conversions there are.

Source: PTX ISA 9.7.9.21, `cvt`, checked against ptxas 13.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tileas_xdsl.target.isa.arithmetic import NONE, ROUNDINGS
from tileas_xdsl.target.isa.requirements import ANYWHERE, Requirement

TO_INTEGERS = ("rni", "rzi", "rmi", "rpi")
"""Roundings of floats to whole numbers."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """One pair of types."""

    roundings: tuple[str, ...] = (NONE,)
    saturations: tuple[str, ...] = (NONE,)
    ftz: bool = False
    relu: bool = False
    requirement: Requirement = ANYWHERE


_INTEGERS = tuple(f"{sign}{bits}" for sign in "us" for bits in (8, 16, 32, 64))
_WIDTHS = {"f16": 16, "f32": 32, "f64": 64}
_SATFINITE = Requirement((8, 1))
Rows = Iterator[tuple[tuple[str, str], Conversion]]


def _integers() -> Rows:
    for source in _INTEGERS:
        for to in _INTEGERS:
            clamps = (NONE,) if _holds(to, source) else (NONE, "sat")
            yield (to, source), Conversion(saturations=clamps)
        for to in _WIDTHS:
            flushes = to == "f32"
            yield (to, source), Conversion(ROUNDINGS, (NONE, "sat"), ftz=flushes)
            yield (source, to), Conversion(TO_INTEGERS, (NONE, "sat"), ftz=flushes)
        if int(source[1:]) > 8:
            yield ("bf16", source), Conversion(ROUNDINGS)
            yield (source, "bf16"), Conversion(TO_INTEGERS)


def _holds(to: str, source: str) -> bool:
    """Whether every number of `source` is one of `to`: nothing to clamp."""
    wider = int(to[1:]) - int(source[1:])
    if to[0] == source[0]:
        return wider >= 0
    return to[0] == "s" and wider > 0


def _floats() -> Rows:
    for source, width in _WIDTHS.items():
        for to, to_width in _WIDTHS.items():
            rounds = ROUNDINGS if to_width < width else (NONE,)
            same = to == source
            roundings = (NONE, *TO_INTEGERS) if same else rounds
            flushes = "f32" in (to, source)
            yield (to, source), Conversion(roundings, (NONE, "sat"), ftz=flushes)
    halves = Conversion(("rn", "rz"), (NONE, "sat", "satfinite"), ftz=True, relu=True)
    yield ("f16", "f32"), halves
    yield ("bf16", "f32"), Conversion(("rn", "rz"), (NONE, "satfinite"), relu=True)
    yield ("f32", "bf16"), Conversion()
    yield ("tf32", "f32"), Conversion(("rna", "rn", "rz"), (NONE, "satfinite"), relu=True)


def _packed() -> Rows:
    for bytes_type in ("e4m3x2", "e5m2x2"):
        yield (bytes_type, "f16x2"), Conversion(("rn",), ("satfinite",), relu=True)
        yield ("f16x2", bytes_type), Conversion(("rn",), relu=True)


CONVERSIONS: Mapping[tuple[str, str], Conversion] = MappingProxyType(
    dict((*_integers(), *_floats(), *_packed()))
)
"""By the type converted to and that converted from."""

PACKINGS: Mapping[str, Conversion] = MappingProxyType(
    {
        **dict.fromkeys(
            ("f16x2", "bf16x2"), Conversion(("rn", "rz"), (NONE, "satfinite"), relu=True)
        ),
        **dict.fromkeys(("e4m3x2", "e5m2x2"), Conversion(("rn",), ("satfinite",), relu=True)),
    }
)
"""By the packed type: how two f32 become one."""

SATFINITE = _SATFINITE
"""`satfinite` to f16, bf16 and tf32 came later than the conversions themselves."""
