"""The scalar types of PTX: widths, kinds and the numpy types that hold them.

Source: PTX ISA 5.2, fundamental types, packed types and alternate floating-point formats.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from tileas_xdsl.data_classes import dataclass

Kind = Literal["untyped", "unsigned", "signed", "float", "predicate"]


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A type of an instruction or a register; `bits` is its width in a register."""

    name: str
    bits: int
    kind: Kind

    @property
    def size(self) -> int:
        """Size in memory in bytes."""
        return self.bits // 8

    @property
    def signed(self) -> bool:
        """Whether values are two's complement."""
        return self.kind == "signed"


_KINDS: Mapping[str, Kind] = {"b": "untyped", "u": "unsigned", "s": "signed", "f": "float"}

_INTEGERS = tuple(
    ScalarType(f"{letter}{bits}", bits, _KINDS[letter])
    for letter in "bus"
    for bits in (8, 16, 32, 64)
)

_OTHERS = (
    ScalarType("pred", 1, "predicate"),
    ScalarType("b128", 128, "untyped"),
    ScalarType("f16", 16, "float"),
    ScalarType("f32", 32, "float"),
    ScalarType("f64", 64, "float"),
    ScalarType("bf16", 16, "float"),
    ScalarType("tf32", 32, "float"),
    ScalarType("f16x2", 32, "float"),
    ScalarType("bf16x2", 32, "float"),
    ScalarType("f32x2", 64, "float"),
    ScalarType("u16x2", 32, "unsigned"),
    ScalarType("s16x2", 32, "signed"),
)

TYPES: Mapping[str, ScalarType] = {t.name: t for t in (*_INTEGERS, *_OTHERS)}
"""The types by name, without their dot."""

UNSIGNED: Mapping[int, np.dtype[Any]] = {
    1: np.dtype(np.bool_),
    8: np.dtype(np.uint8),
    16: np.dtype(np.uint16),
    32: np.dtype(np.uint32),
    64: np.dtype(np.uint64),
}
"""The numpy type of registers by width in bits."""

SIGNED: Mapping[int, np.dtype[Any]] = {
    8: np.dtype(np.int8),
    16: np.dtype(np.int16),
    32: np.dtype(np.int32),
    64: np.dtype(np.int64),
}

NATIVE_FLOATS: Mapping[str, np.dtype[Any]] = {
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}
"""The float formats with a numpy type."""
