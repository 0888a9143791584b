"""Attributes and types that are made often: equal ones are one object.

Whoever makes an attribute has its parameters made and checked: `vector<4xf32>` are three attributes
and 40 calls.  One kernel of attention asks for 600 vector types, of which 20 differ.  Attributes
never change, so the first one serves all.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    NoneAttr,
    StringAttr,
    TensorType,
    UnitAttr,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute

KEPT = 1 << 14
"""Attributes of a kind that are kept, the last ones asked for; kernels have some hundred."""

UNIT = UnitAttr()
NONE = NoneAttr()

_kept = lru_cache(KEPT)

AttributeT = TypeVar("AttributeT", bound=Attribute)


def shared(attribute: AttributeT) -> AttributeT:
    """Return the first of the attributes that equal this one; none with floats: -0.0 equals 0.0."""
    return cast("AttributeT", _first(attribute))


@_kept
def _first(attribute: Attribute) -> Attribute:
    return attribute


@_kept
def integer_attr(value: int, type_: IntegerType | IndexType) -> IntegerAttr:
    """Return an integer attribute."""
    return IntegerAttr(value, type_)


def i32_attr(value: int) -> IntegerAttr[IntegerType]:
    """Return an `i32` attribute: a count, an offset or a size."""
    return _i32_attr(value)


@_kept
def _i32_attr(value: int) -> IntegerAttr[IntegerType]:
    return IntegerAttr(value, i32)


def float_attr(value: float, type_: AnyFloat) -> FloatAttr[AnyFloat]:
    """Return a float attribute; 0.0 and -0.0, which are equal, are distinguished by their texts."""
    is_number = value == value
    return _float_attr(repr(float(value)), type_) if is_number else FloatAttr(value, type_)


@_kept
def _float_attr(text: str, type_: AnyFloat) -> FloatAttr[AnyFloat]:
    return FloatAttr(float(text), type_)


@_kept
def int_attr(number: int) -> IntAttr:
    """Return a number as the parameter of a type."""
    return IntAttr(number)


@_kept
def int_list(numbers: tuple[int, ...]) -> ArrayAttr[IntAttr]:
    """Return numbers as the parameter of a type."""
    return ArrayAttr([int_attr(number) for number in numbers])


@_kept
def integer_type(bits: int) -> IntegerType:
    """Return the signless integer type of so many bits."""
    return IntegerType(bits)


@_kept
def vector_of(element: Attribute, length: int) -> VectorType[Attribute]:
    """Return the type of a vector of one dimension."""
    return VectorType(element, [length])


@_kept
def tensor_of(
    element: Attribute, shape: tuple[int, ...], encoding: Attribute = NONE
) -> TensorType[Attribute]:
    """Return the type of a tile."""
    return TensorType(element, shape, encoding)


@_kept
def text_attr(text: str) -> StringAttr:
    """Return a string attribute."""
    return StringAttr(text)


@_kept
def int_array(numbers: tuple[int, ...]) -> DenseArrayBase[IntegerType]:
    """Return an array of `i32`, of sizes of operands for example."""
    return DenseArrayBase.from_list(i32, numbers)


@_kept
def bool_array(flags: tuple[bool, ...]) -> DenseArrayBase[IntegerType]:
    """Return an array of `i1`."""
    return DenseArrayBase.from_list(i1, [int(flag) for flag in flags])


@_kept
def index_array(numbers: tuple[int, ...]) -> DenseArrayBase[IntegerType]:
    """Return an array of `i64`: static positions and extents."""
    return DenseArrayBase.from_list(i64, numbers)
