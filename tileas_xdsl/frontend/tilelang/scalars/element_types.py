"""Element types of TVM as types of `tl`: integers are signless, booleans are bytes in memory."""

from __future__ import annotations

import re
from collections.abc import Mapping

from xdsl.dialects.builtin import (
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    FloatTF32Type,
    IntegerType,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
)
from xdsl.ir import Attribute

_FLOATS: Mapping[str, Attribute] = {
    "float16": f16,
    "bfloat16": bf16,
    "float32": f32,
    "float64": f64,
    "float8_e4m3": Float8E4M3FNType(),
    "float8_e4m3fn": Float8E4M3FNType(),
    "float8_e5m2": Float8E5M2Type(),
    "custom[tfloat32]": FloatTF32Type(),
    "float8_e8m0fnu": Float8E8M0FNUType(),
    "float4_e2m1fn": Float4E2M1FNType(),
}

_INTEGER = re.compile(r"u?int(\d+)")

BOOLEAN = "bool"


def scalar_type(dtype: str) -> Attribute | None:
    """The type of a value; None for what `tl` has no values of: vectors, pointers."""
    if dtype == BOOLEAN:
        return i1
    if (found := _INTEGER.fullmatch(dtype)) is not None:
        return IntegerType(int(found[1]))
    return _FLOATS.get(dtype)


def memory_type(dtype: str) -> Attribute | None:
    """The type of an element in memory; None as for `scalar_type`."""
    return i8 if dtype == BOOLEAN else scalar_type(dtype)


def is_unsigned(dtype: str) -> bool:
    """Whether integers of the type count from 0."""
    return dtype.startswith("uint") or dtype == BOOLEAN
