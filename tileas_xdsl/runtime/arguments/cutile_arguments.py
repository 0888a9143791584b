"""Conversion of cuTile kernel arguments to those of the lowered function, and back.

An array becomes a pointer, its extents and its strides in elements; a list of arrays the address of
a table with those of each, and its length; a tuple its items; a constant is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any, cast

import numpy as np

from tileas_xdsl.diagnostics.errors import ArgumentError
from tileas_xdsl.frontend.argument_parameters import constant_value
from tileas_xdsl.frontend.leaf_values import leaf_values
from tileas_xdsl.frontend.signature import (
    ArrayParameter,
    ConstantParameter,
    Extent,
    Leaf,
    ListParameter,
    Parameter,
    ScalarParameter,
    TupleParameter,
)
from tileas_xdsl.interpreters.cuda_tile.launch import ArrayTable
from tileas_xdsl.interpreters.tile.memory.argument_arrays import AddressTable
from tileas_xdsl.runtime.arguments.host_arrays import host_array
from tileas_xdsl.runtime.arguments.strided_views import Array, strided_view


def flattened(parameters: Sequence[Parameter], values: Sequence[Any]) -> Sequence[Any]:
    """Return the arguments of the lowered function for `values`, one per parameter of the kernel.

    Raises `ArgumentError` for values that do not match what the kernel was compiled for.
    """
    return [flat for pair in leaf_values(parameters, values) for flat in _flat_values(*pair)]


def flat_names(parameters: Sequence[Parameter], values: Sequence[Any]) -> Sequence[str]:
    """The names of the parameters that the flat values are of."""
    return [
        parameter.name
        for parameter, value in leaf_values(parameters, values)
        for _ in _flat_values(parameter, value)
    ]


def held(parameters: Sequence[Parameter], values: Sequence[Any]) -> Sequence[Any]:
    """Return the same with arrays as their memory; raises `ArgumentError` as `flattened`."""
    return [in_memory(value) for value in flattened(parameters, values)]


def with_tables(flat: Sequence[Any]) -> Sequence[Any]:
    """Return arguments with tables of arrays as the interpreter of Tile IR takes them."""
    return [
        ArrayTable(value.arrays, value.words) if isinstance(value, AddressTable) else value
        for value in flat
    ]


def restored(
    parameters: Sequence[Parameter], values: Sequence[Any], flat: Sequence[Any]
) -> Sequence[Any]:
    """Return `values` after a run that left `flat`: arrays updated, the others unchanged."""
    left = iter(flat)
    pairs = zip(parameters, values, strict=True)
    return [_restored(parameter, value, left) for parameter, value in pairs]


def _restored(parameter: Parameter, value: Any, left: Iterator[Any]) -> Any:
    match parameter:
        case TupleParameter(items=items):
            return tuple(_restored(*pair, left) for pair in zip(items, value, strict=True))
        case ListParameter(name=name):
            arrays, _ = next(left), next(left)
            pairs = zip(value, arrays, strict=True)
            return [_as_given(host_array(given, name), array) for given, array in pairs]
        case ArrayParameter(name=name, shape=shape):
            found = _as_given(host_array(value, name), next(left))
            for _ in range(2 * len(shape)):
                next(left)
            return found
        case ScalarParameter():
            next(left)
        case ConstantParameter():
            pass
    return value


def _flat_values(parameter: Leaf, value: Any) -> Iterator[Any]:
    match parameter:
        case ConstantParameter():
            if ConstantParameter(parameter.name, constant_value(value)) != parameter:
                text = f"'{parameter.name}' is {value!r}; the kernel was compiled for"
                raise ArgumentError(f"{text} {parameter.value!r}")
        case ScalarParameter():
            if not isinstance(value, int | float | np.generic):
                raise ArgumentError(f"'{parameter.name}' is a number, not {value!r}")
            _check_number(parameter, value)
            yield value
        case ListParameter():
            yield from _of_list(parameter, value)
        case ArrayParameter():
            array = host_array(value, parameter.name)
            strides = _checked_strides(parameter, array)
            yield array
            yield from array.shape
            yield from strides


def _of_list(parameter: ListParameter, values: Any) -> Iterator[Any]:
    """The table of the arrays of a list: address, extents and strides of each, in 64-bit words."""
    if not isinstance(values, list) or not values:
        raise ArgumentError(f"'{parameter.name}' is a list of arrays, not {values!r}")
    arrays = [host_array(value, parameter.name) for value in cast("list[Any]", values)]
    rows = [[0, *array.shape, *_checked_strides(parameter.item, array)] for array in arrays]
    yield AddressTable(arrays, np.array(rows, np.int64))
    yield len(arrays)


_DTYPES: Mapping[str, str] = {"bool_": "bool", "tfloat32": "float32"}
"""By element type, numpy's name where it differs."""


def _check_number(parameter: ScalarParameter, value: Any) -> None:
    """Raise unless a scalar has the parameter's kind (integers stay integers) and bit width."""
    name, element = parameter.name, parameter.element
    bits = 1 if element == "bool_" else int(element.partition("int")[2] or 0)
    if not bits:
        return
    if isinstance(value, float | np.floating):
        raise ArgumentError(f"'{name}' is a number of type {element}, not {value!r}")
    if not -(1 << (bits - 1)) <= int(value) < 1 << bits:
        raise ArgumentError(f"'{name}' is {value}, which has more than the bits of {element}")


def _check_elements(parameter: ArrayParameter, array: Array) -> None:
    """Raise unless an array has the element type of the kernel; signedness is ignored."""
    wanted = _DTYPES.get(parameter.element, parameter.element)
    if array.dtype.name.removeprefix("u") != wanted.removeprefix("u"):
        text = f"'{parameter.name}' is an array of {wanted}"
        raise ArgumentError(f"{text}, not of {array.dtype.name}")


def _checked_strides(parameter: ArrayParameter, array: Array) -> Sequence[int]:
    """Return the strides in elements; raise where the array is not what the kernel was compiled
    for."""
    if array.ndim != len(parameter.shape):
        text = f"'{parameter.name}' has {len(parameter.shape)} dimensions"
        raise ArgumentError(f"{text}, not {array.ndim}")
    _check_elements(parameter, array)
    if any(stride % array.itemsize for stride in array.strides):
        raise ArgumentError(f"the strides of '{parameter.name}' are no whole elements")
    strides = _strides(array)
    known = ((array.shape, parameter.shape, "extent"), (strides, parameter.strides, "stride"))
    known = known[: 2 if array.size else 1]  # Nothing is reached by the strides of an empty array.
    for numbers, extents, word in known:
        for axis, (number, extent) in enumerate(zip(numbers, extents, strict=True)):
            if not _fits(number, extent):
                text = f"{word} {axis} of '{parameter.name}' is {number}"
                raise ArgumentError(f"{text}; the kernel was compiled for {_said(extent)}")
            if number >> (parameter.index_bits - 1) > 0:
                text = f"{word} {axis} of '{parameter.name}' is {number}, more than"
                raise ArgumentError(f"{text} indices of {parameter.index_bits} bits reach")
    if any(stride < 0 for stride in strides):
        raise ArgumentError(f"'{parameter.name}' runs backwards; kernels count strides upwards")
    return strides


def _strides(array: Array) -> Sequence[int]:
    """Return the strides in elements, as DLPack has them: packed ones where nothing is between.

    The strides of one row say nothing: numpy's are those of the array that it was cut out of.
    """
    if array.flags.c_contiguous:
        return [prod(array.shape[axis + 1 :]) for axis in range(array.ndim)]
    return [stride // array.itemsize for stride in array.strides]


def in_memory(value: Any) -> Any:
    """Return an array as the memory span that a launch passes; any other value unchanged.

    The span reaches from the first to the last element, gaps included; unsigned ones are viewed
    signed.
    """
    if isinstance(value, AddressTable):
        return AddressTable([in_memory(array) for array in value.arrays], value.words)
    if not isinstance(value, np.ndarray):
        return value
    array = held = cast("Array", value)
    if not array.flags.c_contiguous or not array.ndim:
        held = strided_view(array, (_span(array),), (array.itemsize,))
    return held.view(f"i{array.itemsize}") if array.dtype.kind == "u" else held


def _as_given(given: Array, left: Array) -> Array:
    """Return the memory that a run left, with the shape and type of the given array."""
    left = left.view(given.dtype) if left.dtype != given.dtype else left
    if given.flags.c_contiguous:
        return left if left.shape == given.shape else left.reshape(given.shape)
    return strided_view(left, given.shape, given.strides)


def _span(array: Array) -> int:
    """Return the number of elements from the first to the last, gaps included."""
    if not array.size:
        return 0
    pairs = zip(array.shape, array.strides, strict=True)
    return 1 + sum((n - 1) * stride for n, stride in pairs) // array.itemsize


def _fits(number: int, extent: Extent) -> bool:
    return (
        number == extent.constant if extent.constant is not None else number % extent.divisor == 0
    )


def _said(extent: Extent) -> str:
    if extent.constant is not None:
        return str(extent.constant)
    return f"multiples of {extent.divisor}"
