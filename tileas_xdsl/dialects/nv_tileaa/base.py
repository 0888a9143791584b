"""What the operations of `nv_tileaa` have in common: how values are named in constructors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.irdl import base

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.field_init import as_value
from tileas_xdsl.dialects.fields import Field
from tileas_xdsl.dialects.interned import tensor_of

Value: TypeAlias = SSAValue | Operation
Array: TypeAlias = MemRefType[Attribute]
"""An array behind a pointer."""

Tile: TypeAlias = TensorType[Attribute]

ARRAY = base(MemRefType[Attribute])
ArrayOperand: TypeAlias = Field[SSAValue[Array], Value]
Axes: TypeAlias = Field[DenseArrayBase[IntegerType], Iterable[int]]
Shape: TypeAlias = "Field[OpResult[Tile], Sequence[int]]"
"""A result given by its extents."""

COUNT = base(IndexType) | base(IntegerType[int])
"""A number of elements; integers are read as unsigned."""


def as_array(value: Value) -> Array:
    """The type of a value that is an array."""
    return cast("Array", as_value(value).type)


def numbers(values: Iterable[int]) -> DenseArrayBase[IntegerType]:
    """A list of numbers as a property."""
    return DenseArrayBase.from_list(i64, list(values))


def number(value: int) -> IntegerAttr:
    """A number of 64 bits as a property."""
    return IntegerAttr(value, i64)


def listed(values: Iterable[object]) -> str:
    """Values as messages show them."""
    return ", ".join(map(str, values))


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """The extents of a tile; none of a scalar."""
    return tuple(type_.get_shape()) if isinstance(type_, TensorType) else ()


def element_of(type_: Attribute) -> Attribute:
    """The element type of a tile; a scalar is its own."""
    return cast(Tile, type_).element_type if isinstance(type_, TensorType) else type_


def tile_of(element: Attribute, shape: Sequence[int]) -> Attribute:
    """A tile, or the scalar that stands for one of rank 0."""
    return tensor_of(element, tuple(shape)) if shape else element


def tile_like(shape: Sequence[int], type_: Attribute) -> Tile:
    """A tile of a shape with the elements of another type."""
    return tensor_of(element_of(type_), tuple(shape))


def type_at(given: Mapping[str, Any], field: str) -> Attribute:
    """The type of an operand that a constructor is given."""
    return as_value(given[field]).type


def check_shape(op: Operation, what: str, type_: Attribute, wanted: Sequence[int]) -> None:
    """A value has an expected shape."""
    if (given := shape_of(type_)) != tuple(wanted):
        raise op_error(op, f"{what} has extents ({listed(wanted)}), not ({listed(given)})")


def check_elements(op: Operation, first: Attribute, second: Attribute) -> None:
    """Operand and result have the same elements."""
    if (a := element_of(first)) != (b := element_of(second)):
        raise op_error(op, f"keeps the element type {a}, but gives {b}")
