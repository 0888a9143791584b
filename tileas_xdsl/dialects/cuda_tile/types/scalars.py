"""The element types of tiles: which scalars there are, by the names that diagnostics use."""

from __future__ import annotations

from typing import TypeGuard

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatNanEncoding,
    FloatNonfiniteBehavior,
    FloatSemantics,
    FloatTF32Type,
    IntegerType,
    ReducedPrecisionFloatType,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.printer import Printer


@irdl_attr_definition
class Float8E5M3FNUType(ParametrizedAttribute, ReducedPrecisionFloatType):
    """`f8E5M3FNU`: an unsigned scale type with 5 exponent and 3 mantissa bits."""

    name = "cuda_tile.f8E5M3FNU"
    SEMANTICS = FloatSemantics(
        exponent_bits=5,
        mantissa_bits=3,
        exponent_bias=15,
        nonfinite=FloatNonfiniteBehavior.NAN_ONLY,
        nan_encoding=FloatNanEncoding.ALL_ONES,
        has_sign=False,
    )

    def print_builtin(self, printer: Printer) -> None:
        printer.print_string(f"!{self.name}")


ELEMENTS: dict[str, Attribute] = {
    "i1": i1,
    "i4": IntegerType(4),
    "i8": i8,
    "i16": i16,
    "i32": i32,
    "i64": i64,
    "f16": Float16Type(),
    "bf16": BFloat16Type(),
    "f32": Float32Type(),
    "tf32": FloatTF32Type(),
    "f64": Float64Type(),
    "f8E4M3FN": Float8E4M3FNType(),
    "f8E5M2": Float8E5M2Type(),
    "f8E8M0FNU": Float8E8M0FNUType(),
    "f4E2M1FN": Float4E2M1FNType(),
    "f8E5M3FNU": Float8E5M3FNUType(),
}
"""Every scalar of the dialect by its name."""

INTEGERS = ("i1", "i8", "i16", "i32", "i64")
ARITHMETIC_FLOATS = ("f16", "bf16", "f32", "f64")
"""The floats that arithmetic works on; the others are for storage and products."""
SMALL_FLOATS = ("tf32", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f4E2M1FN", "f8E5M3FNU")
FLOATS = (*ARITHMETIC_FLOATS, *SMALL_FLOATS)
NUMBERS = (*INTEGERS, *FLOATS)


FLOAT_CLASSES = (
    BFloat16Type,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    Float8E5M3FNUType,
    FloatTF32Type,
)


def bit_width(element: Attribute) -> int:
    """The number of bits of a scalar; 19 for `tf32`, as MLIR counts.

    Raises `TypeError` for what is no scalar of the dialect.
    """
    if is_integer(element):
        return element.width.data
    if isinstance(element, FLOAT_CLASSES):
        return element.bitwidth
    raise TypeError(f"{element} has no width")


def is_integer(type_: Attribute) -> TypeGuard[IntegerType[int]]:
    """Whether this scalar is an integer."""
    return isinstance(type_, IntegerType)


def is_float(type_: Attribute) -> bool:
    """Whether this scalar is a float."""
    return isinstance(type_, FLOAT_CLASSES)


_NAMES = {type_: name for name, type_ in ELEMENTS.items()}


def name_of_scalar(type_: Attribute) -> str:
    """The name of a scalar of the dialect; raises `KeyError` for anything else."""
    return _NAMES[type_]


def widens(source: Attribute, result: Attribute) -> bool:
    """Whether every value of one float type is a value of another.

    It has at least as many bits of precision and exponents at least as large and as small.
    """
    ours, theirs = _RANGES[_NAMES[source]], _RANGES[_NAMES[result]]
    precise = theirs[0] >= ours[0]
    return precise and theirs[1] >= ours[1] and theirs[2] <= ours[2]


_RANGES = {
    "f16": (11, 15, -14),
    "bf16": (8, 127, -126),
    "f32": (24, 127, -126),
    "tf32": (11, 127, -126),
    "f64": (53, 1023, -1022),
    "f8E4M3FN": (4, 8, -6),
    "f8E5M2": (3, 15, -14),
    "f8E8M0FNU": (1, 127, -127),
    "f4E2M1FN": (2, 2, 0),
    "f8E5M3FNU": (4, 15, -14),
}
"""Bits of precision, largest and smallest exponent of each float, as `APFloat` has them."""
