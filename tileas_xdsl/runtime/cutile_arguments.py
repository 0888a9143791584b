"""Conversion of cuTile kernel arguments to those of the lowered function, and back.

An array becomes a pointer, its extents and its strides in elements; a constant is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from tileas_xdsl.frontend.signature import (
    ArrayParameter,
    ConstantParameter,
    Extent,
    Parameter,
    ScalarParameter,
)
from tileas_xdsl.interpreters.tile.arguments import ArgumentError

Array: TypeAlias = NDArray[Any]


def flattened(parameters: Sequence[Parameter], values: Sequence[Any]) -> Sequence[Any]:
    """Return the arguments of the lowered function for `values`, one per parameter of the kernel.

    Raises `ArgumentError` for values that do not match what the kernel was compiled for.
    """
    if len(values) != len(parameters):
        names = ", ".join(parameter.name for parameter in parameters)
        raise ArgumentError(f"{len(values)} arguments; the kernel's parameters are {names}")
    return [flat for pair in zip(parameters, values, strict=True) for flat in _of_one(*pair)]


def held(parameters: Sequence[Parameter], values: Sequence[Any]) -> Sequence[Any]:
    """Return the same with arrays as their memory; raises `ArgumentError` as `flattened`."""
    return [in_memory(value) for value in flattened(parameters, values)]


def restored(
    parameters: Sequence[Parameter], values: Sequence[Any], flat: Sequence[Any]
) -> Sequence[Any]:
    """Return `values` after a run that left `flat`: arrays updated, the others unchanged."""
    found, left = list(values), iter(flat)
    for position, parameter in enumerate(parameters):
        match parameter:
            case ArrayParameter():
                found[position] = _as_given(np.asarray(values[position]), next(left))
                for _ in range(2 * len(parameter.shape)):
                    next(left)
            case ScalarParameter():
                next(left)
            case ConstantParameter():
                pass
    return found


def _of_one(parameter: Parameter, value: Any) -> Iterator[Any]:
    match parameter:
        case ConstantParameter():
            if value != parameter.value:
                text = f"'{parameter.name}' is {value!r}; the kernel was compiled for"
                raise ArgumentError(f"{text} {parameter.value!r}")
        case ScalarParameter():
            if not isinstance(value, int | float | np.generic):
                raise ArgumentError(f"'{parameter.name}' is a number, not {value!r}")
            _check_number(parameter, value)
            yield value
        case ArrayParameter():
            yield from _of_array(parameter, value)


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


def _of_array(parameter: ArrayParameter, value: Any) -> Iterator[Any]:
    if not isinstance(value, np.ndarray | np.generic):
        text = f"'{parameter.name}' is an array, not a value of type {type(value).__name__}"
        raise ArgumentError(text)
    array = np.asarray(cast("Array", value))
    if array.ndim != len(parameter.shape):
        text = f"'{parameter.name}' has {len(parameter.shape)} dimensions"
        raise ArgumentError(f"{text}, not {array.ndim}")
    _check_elements(parameter, array)
    if any(stride % array.itemsize for stride in array.strides):
        raise ArgumentError(f"the strides of '{parameter.name}' are no whole elements")
    strides = [stride // array.itemsize for stride in array.strides]
    known = ((array.shape, parameter.shape, "extent"), (strides, parameter.strides, "stride"))
    for numbers, extents, word in known:
        for axis, (number, extent) in enumerate(zip(numbers, extents, strict=True)):
            if not _fits(number, extent):
                text = f"{word} {axis} of '{parameter.name}' is {number}"
                raise ArgumentError(f"{text}; the kernel was compiled for {_said(extent)}")
    if any(stride < 0 for stride in strides):
        raise ArgumentError(f"'{parameter.name}' runs backwards; kernels count strides upwards")
    yield value
    yield from array.shape
    yield from strides


def in_memory(value: Any) -> Any:
    """Return an array as the memory span that a launch passes; any other value unchanged.

    The span reaches from the first to the last element, gaps included; unsigned ones are viewed
    signed.
    """
    if not isinstance(value, np.ndarray):
        return value
    array = held = cast("Array", value)
    if array.ndim and not array.flags.c_contiguous:
        held = as_strided(array, (_span(array),), (array.itemsize,), writeable=False)
    is_unsigned = array.ndim and array.dtype.kind == "u"
    return held.view(f"i{array.itemsize}") if is_unsigned else held


def _as_given(given: Array, left: Array) -> Array:
    """Return the memory that a run left, with the shape and type of the given array."""
    left = left.view(given.dtype) if left.dtype != given.dtype else left
    if given.flags.c_contiguous:
        return left
    return as_strided(left, given.shape, given.strides)


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
