"""Which element types `tl` converts, combines and multiplies."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType
from xdsl.ir import Attribute

from tileas_xdsl.dialects.tl.enums import Reduction

_OF_BITS = (Reduction.AND, Reduction.OR, Reduction.XOR)

_EXTREMES = (Reduction.MAX, Reduction.MIN, Reduction.ABSMAX)

_EIGHT_BITS = ("f8E4M3FN", "f8E5M2")

PRODUCTS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("f16", "f16"): ("f32", "f16"),
    ("bf16", "bf16"): ("f32",),
    ("f32", "f32"): ("f32",),
    ("tf32", "tf32"): ("f32",),
    ("f64", "f64"): ("f64",),
    ("i8", "i8"): ("i32",),
    **{(a, b): ("f32", "f16") for a in _EIGHT_BITS for b in _EIGHT_BITS},
}
"""Of what matrix instructions multiply, what they accumulate in; f32 is read as tf32.

Source: PTX ISA, wgmma.mma_async and mma.
"""


def is_convertible(source: Attribute, target: Attribute) -> bool:
    """Return whether a copy may convert between the element types: floats, or equal types."""
    return source == target or (isinstance(source, AnyFloat) and isinstance(target, AnyFloat))


def is_combinable(kind: Reduction, element: Attribute) -> bool:
    """Whether a reduction is of such elements; those of bits are of integers."""
    if kind in _OF_BITS:
        return isinstance(element, IntegerType)
    return isinstance(element, AnyFloat | IntegerType)


def has_nan_order(kind: Reduction, element: Attribute) -> bool:
    """Whether a reduction either leaves out NaN or propagates it: extremes of floats."""
    return kind in _EXTREMES and isinstance(element, AnyFloat)


def is_summable(element: Attribute) -> bool:
    """Return whether elements can be added."""
    return isinstance(element, AnyFloat | IntegerType | IndexType)
