"""The names that atoms and layouts use for the element types of the IR."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatTF32Type,
)
from xdsl.ir import Attribute

from tileas_xdsl.layout.memory.elements import ALIASES

_FLOATS: Mapping[type[Attribute], str] = {
    BFloat16Type: "bf16",
    Float16Type: "f16",
    Float32Type: "f32",
    Float64Type: "f64",
    FloatTF32Type: "tf32",
    Float8E4M3FNType: "f8e4m3",
    Float8E5M2Type: "f8e5m2",
    Float8E8M0FNUType: "f8e8m0",
    Float6E2M3FNType: "f6e2m3",
    Float6E3M2FNType: "f6e3m2",
    Float4E2M1FNType: "f4e2m1",
}

_PTX_INTEGERS: Mapping[str, str] = {"b1": "i1", "s4": "i4", "u4": "i4"}
"""Names that only atoms have, since nothing but a matrix instruction reads such integers."""

FP4 = "f4e2m1"
NARROW_FLOATS = ("f8e4m3", "f8e5m2", "f6e2m3", "f6e3m2", FP4)
"""The floats of 8 bits and less that are multiplied, in any mixture."""


def element_name(type_: Attribute) -> str:
    """`f16`, `f8e4m3`, ...; other types, integers too, are called by their text."""
    return _FLOATS.get(type(type_), str(type_))


def canonical_name(name: str) -> str:
    """The one name of an element that has several: `e4m3`, `f8e4m3fn` and `f8e4m3` are one."""
    return _PTX_INTEGERS.get(name) or ALIASES.get(name, name)
