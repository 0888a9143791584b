"""Views of memory by shape and strides, for elements of every type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
"""An array of any shape and element type."""


def strided_view(array: Array, shape: Sequence[int], strides: Sequence[int]) -> Array:
    """Return a view of an array's memory that begins at its first element; strides in bytes.

    numpy's `as_strided` passes the element type by its name, which says nothing to numpy for some
    types of ml_dtypes (`<f1` of float8_e5m2); elements without a type go in its place.
    """
    untyped = array.view(f"V{array.itemsize}")
    return as_strided(untyped, shape, strides).view(array.dtype)


def is_same_view(a: Array, b: Array) -> bool:
    """Whether two arrays are the same elements of one memory, in the same places."""
    described = ((one.ctypes.data, one.shape, one.strides, one.dtype) for one in (a, b))
    return next(described) == next(described)
