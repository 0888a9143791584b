"""What `wgmma.mma_async` multiplies (PTX ISA 9.7.15.5.2): elements, accumulators, shapes.

K is always 32 bytes of an operand.  Only 16-bit elements may be MN-major in shared memory.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    FloatTF32Type,
    IntegerType,
    Signedness,
)
from xdsl.ir import Attribute

from tileas_xdsl.data_classes import dataclass

M = 64
"""Rows that a warpgroup multiplies."""

THREADS = 128
"""Threads of a warpgroup: each holds `M * N / THREADS` elements of the accumulator."""

K_BYTES = 32

_INTEGER_N = (8, 16, 24, *range(32, 257, 16))


@dataclass(frozen=True, slots=True)
class WgmmaElement:
    """One element type of A and B."""

    name: str
    bits: int
    accumulators: tuple[str, ...]
    partners: tuple[str, ...]
    """The elements of the other operand."""
    transposes: bool = False
    """Whether it may be MN-major."""
    n: tuple[int, ...] = tuple(range(8, 257, 8))

    @property
    def k(self) -> int:
        """Elements along K that one instruction multiplies."""
        return K_BYTES * 8 // self.bits


_FP8 = ("e4m3", "e5m2")
_INT8 = ("s8", "u8")

ELEMENTS: Mapping[str, WgmmaElement] = {
    element.name: element
    for element in (
        WgmmaElement("f16", 16, ("f16", "f32"), ("f16",), transposes=True),
        WgmmaElement("bf16", 16, ("f32",), ("bf16",), transposes=True),
        WgmmaElement("tf32", 32, ("f32",), ("tf32",)),
        WgmmaElement("e4m3", 8, ("f16", "f32"), _FP8),
        WgmmaElement("e5m2", 8, ("f16", "f32"), _FP8),
        WgmmaElement("s8", 8, ("i32",), _INT8, n=_INTEGER_N),
        WgmmaElement("u8", 8, ("i32",), _INT8, n=_INTEGER_N),
    )
}
"""By the name that PTX has for them."""

_NAMES: Mapping[Attribute, str] = {
    Float16Type(): "f16",
    BFloat16Type(): "bf16",
    FloatTF32Type(): "tf32",
    Float32Type(): "f32",
    Float8E4M3FNType(): "e4m3",
    Float8E5M2Type(): "e5m2",
    Float6E2M3FNType(): "e2m3",
    Float6E3M2FNType(): "e3m2",
    Float4E2M1FNType(): "e2m1",
    IntegerType(8): "s8",
    IntegerType(8, Signedness.SIGNED): "s8",
    IntegerType(8, Signedness.UNSIGNED): "u8",
    IntegerType(32): "i32",
}


def ptx_element(type_: Attribute | str) -> str:
    """PTX's name of an element type; other types are called by their text."""
    return type_ if isinstance(type_, str) else _NAMES.get(type_, str(type_))
