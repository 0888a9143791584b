"""In which registers a value of the IR is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatTF32Type,
    IndexType,
    VectorType,
)
from xdsl.ir import Attribute

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute.types.elements import as_vector, integer_bits
from tileas_xdsl.dialects.cute.types.pointers import PtrType
from tileas_xdsl.dialects.cute_nvgpu.types import SmemDescType, TmaDescriptorTiledType
from tileas_xdsl.dialects.ptx.types import RegType, reg
from tileas_xdsl.layout.units import WORD_BITS

_FLOATS: Mapping[type[Attribute], tuple[str, int]] = {
    Float16Type: ("f16", 16),
    BFloat16Type: ("bf16", 16),
    Float32Type: ("f32", 32),
    Float64Type: ("f64", 64),
    FloatTF32Type: ("tf32", 32),
    Float8E4M3FNType: ("e4m3", 8),
    Float8E5M2Type: ("e5m2", 8),
    Float8E8M0FNUType: ("ue8m0", 8),
}
"""PTX's name of a float and its bits."""

_KINDS: Mapping[str, str] = {"f32": "f32", "f64": "f64"}
"""Floats that have registers of their own; the others are bits."""


@dataclass(frozen=True, slots=True)
class Form:
    """The registers of one value."""

    element: str
    """PTX's name of an element: f16, e4m3, f32, i32, i1 ..."""
    bits: int
    """Of one element."""
    per_register: int
    """Elements in a register: 2 or 4 where they are packed, the first one lowest."""
    kind: str
    count: int
    """How many registers."""

    @property
    def register(self) -> RegType:
        """The type of the value in `ptx`."""
        return reg(self.kind, self.count)

    @property
    def packed(self) -> bool:
        """Whether a register holds several elements."""
        return self.per_register > 1

    @property
    def has_literals(self) -> bool:
        """Whether its registers may be literals: neither narrow floats nor several integers."""
        return not ((self.is_float or self.packed) and self.kind.startswith("b"))

    @property
    def elements(self) -> int:
        """How many elements."""
        return self.count * self.per_register

    @property
    def is_float(self) -> bool:
        """Whether elements are floats."""
        return self.element[0] != "i"


@lru_cache(maxsize=4096)
def form_of(type_: Attribute) -> Form | None:
    """The registers of a value of this type; None if there are none for it.

    `index` has 32 bits.  Fragments of 16- and 8-bit elements fill 32-bit registers; alone such an
    element, or a pair of bytes, is in 16 bits.
    """
    vector = as_vector(type_)
    if vector is not None:
        return _fragment(vector)
    element = _element(type_)
    if element is None:
        return None
    name, bits = element
    return Form(name, bits, 1, _kind(name, max(bits, 16) if bits > 1 else 1), 1)


def _fragment(type_: VectorType) -> Form | None:
    element = _element(type_.get_element_type())
    if element is None or type_.get_num_dims() != 1:
        return None
    name, bits = element
    length = type_.get_shape()[0]
    if bits == 1 or bits >= WORD_BITS:
        return Form(name, bits, 1, _kind(name, bits), length)
    per_word = WORD_BITS // bits
    if length % per_word == 0:
        return Form(name, bits, per_word, "b32", length // per_word)
    if length * bits in (8, 16):
        return Form(name, bits, length, "b16", 1)
    return None


def _element(type_: Attribute) -> tuple[str, int] | None:
    if width := integer_bits(type_):
        return (f"i{width}", width) if width in (1, 8, 16, 32, 64) else None
    if isinstance(type_, IndexType):
        return "i32", 32
    if isinstance(type_, PtrType):
        return f"i{type_.address_bits}", type_.address_bits
    if isinstance(type_, SmemDescType | TmaDescriptorTiledType):
        return "i64", 64
    return _FLOATS.get(type(type_))


def _kind(name: str, bits: int) -> str:
    return "pred" if bits == 1 else _KINDS.get(name, f"b{bits}")
