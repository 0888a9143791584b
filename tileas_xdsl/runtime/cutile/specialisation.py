"""What of the arguments of a launch is part of a kernel's types, by the rules of cuTile.

Of an array: element type, rank, which strides are 1, which extents and which strides in bytes are
multiples of 16, and whether the address is.  Of a constant: its value.  Of other numbers: the type.
Arrays of more than five dimensions have nothing but their type, their rank and their address.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tileas_xdsl.frontend.signature import (
    ArrayParameter,
    ConstantParameter,
    Extent,
    Parameter,
    ScalarParameter,
)
from tileas_xdsl.runtime.gpu.device_arrays import DeviceArray

DIVISOR = 16
"""The multiple, of elements or of bytes, that is part of a type."""

MAX_RANK = 5
"""Rank of the largest tensor map, up to which extents and strides are looked at."""


def parameters_for(kernel: Any, args: Sequence[Any]) -> tuple[Parameter, ...]:
    """Return the parameters to compile a kernel for; arrays are given as `DeviceArray`.

    Raises `TypeError` as cuTile does.
    """
    function = kernel._annotated_function
    names = [*function.pysig.parameters]
    if len(names) != len(args):
        wanted = f"{len(names)} argument" + ("" if len(names) == 1 else "s")
        given = f"{len(args)} {'was' if len(args) == 1 else 'were'} given"
        raise TypeError(f"Kernel expects {wanted} but {given}")
    rows = zip(names, args, function.parameter_annotations, strict=True)
    return tuple(_parameter(n, *row) for n, row in enumerate(rows))


def _parameter(number: int, name: str, value: Any, annotation: Any) -> Parameter:
    kind = type(value).__name__
    if getattr(annotation, "constant", False):
        if not isinstance(value, bool | int | float):
            raise TypeError(
                f"Invalid kernel argument #{number}: Could not interpret object of type "
                f"'{kind}' as a constant."
            )
        return ConstantParameter(name, value)
    if isinstance(value, DeviceArray):
        return array_parameter(name, value)
    if isinstance(value, bool | int | float):
        return ScalarParameter(name, _scalar_type(value, annotation))
    raise TypeError(
        f"Invalid kernel argument #{number}: Objects of type '{kind}' are not supported."
    )


def _scalar_type(value: bool | float, annotation: Any) -> str:
    if isinstance(value, bool):
        return "bool_"
    if isinstance(value, float):
        return "float32"
    wide = getattr(annotation, "scalar", None)
    return "int32" if wide is None else str(wide.dtype)


def array_parameter(name: str, array: DeviceArray) -> ArrayParameter:
    """Return the parameter that an array is passed as."""
    size = array.dtype.itemsize
    is_seen = len(array.shape) <= MAX_RANK
    shape = [Extent(None, DIVISOR if is_seen and not n % DIVISOR else 1) for n in array.shape]
    strides = [_stride(n, size) if is_seen else Extent() for n in array.strides]
    aligned = DIVISOR if not array.pointer % DIVISOR else 1
    return ArrayParameter(name, element_name(array.dtype), tuple(shape), tuple(strides), aligned)


def element_name(dtype: np.dtype[Any]) -> str:
    """What cuTile calls an element type."""
    return "bool_" if dtype.name == "bool" else str(dtype.name)


def _stride(in_bytes: int, size: int) -> Extent:
    if in_bytes == size:
        return Extent(1)
    return Extent(None, DIVISOR // size if not in_bytes % DIVISOR else 1)
