"""Arrays in GPU memory of any library: torch, cupy, numba, jax and others.

An array is read by the interface it has: `data_ptr` (torch, whose bf16 no protocol supports),
`__cuda_array_interface__`, or DLPack.  numpy arrays are in host memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import ml_dtypes
import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.errors import ArgumentError
from tileas_xdsl.frontend.dlpack import CPU, read_dlpack
from tileas_xdsl.runtime.arguments.strided_views import Array, strided_view

_NARROW = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu")
"""Narrow element types whose names torch and ml_dtypes share."""


@dataclass(frozen=True, slots=True)
class DeviceArray:
    """An array that a kernel can access."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """Strides in bytes."""
    dtype: np.dtype[Any]
    device: int | None
    """The ordinal of its GPU, None if unknown."""
    read_only: bool
    owner: Any
    """The object that keeps the memory alive."""

    @property
    def __cuda_array_interface__(self) -> Mapping[str, Any]:
        """The array by CUDA's array interface."""
        return {
            "version": 3,
            "shape": self.shape,
            "strides": self.strides,
            "typestr": self.dtype.str,
            "data": (self.pointer, self.read_only),
        }

    @property
    def shadow(self) -> Array:
        """Return a numpy array of this shape, strides and elements; its data is invalid."""
        one = np.empty(1, self.dtype)
        return strided_view(one, self.shape, self.strides)

    @property
    def is_row_major(self) -> bool:
        """Return whether the array is row-major without gaps."""
        return self.strides == row_major_strides(self.shape, self.dtype.itemsize)


def row_major_strides(shape: Sequence[int], size: int) -> tuple[int, ...]:
    """Return the strides in bytes of a contiguous row-major array of elements of `size` bytes."""
    return tuple(prod(shape[axis + 1 :]) * size for axis in range(len(shape)))


def device_array(value: Any, name: str) -> DeviceArray | None:
    """Return a value as an array in GPU memory, None if it is none.

    Raises `ArgumentError`, which names the argument, for arrays that cannot be used.
    """
    if isinstance(value, DeviceArray):
        return value
    if hasattr(value, "data_ptr") and hasattr(value, "stride"):
        return _of_torch(value, name)
    if hasattr(value, "__cuda_array_interface__"):
        return _of_interface(value, name)
    if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray | np.generic):
        return _of_dlpack(value, name)
    return None


def _of_torch(tensor: Any, name: str) -> DeviceArray:
    if tensor.device.type != "cuda":
        raise ArgumentError(
            f"'{name}' is a tensor on '{tensor.device}': move it with .cuda(), or give an array of "
            "numpy's, which is copied"
        )
    word = str(tensor.dtype).removeprefix("torch.")
    dtype = _named(word, name)
    strides = tuple(stride * dtype.itemsize for stride in tensor.stride())
    shape, number = tuple(tensor.shape), tensor.device.index or 0
    return DeviceArray(tensor.data_ptr(), shape, strides, dtype, number, False, tensor)


def _named(word: str, name: str) -> np.dtype[Any]:
    if word in _NARROW:
        return np.dtype(getattr(ml_dtypes, word))
    try:
        return np.dtype(word)
    except TypeError:
        raise ArgumentError(f"'{name}' has elements of type {word}, which no kernel has") from None


def _of_interface(value: Any, name: str) -> DeviceArray:
    found = value.__cuda_array_interface__
    try:
        dtype, shape = np.dtype(found["typestr"]), tuple(found["shape"])
        pointer, read_only = found["data"]
    except (KeyError, TypeError, ValueError) as error:
        raise ArgumentError(f"'{name}' has no proper __cuda_array_interface__: {error}") from error
    strides = found.get("strides") or row_major_strides(shape, dtype.itemsize)
    number = getattr(getattr(value, "device", None), "id", None)
    return DeviceArray(int(pointer), shape, tuple(strides), dtype, number, bool(read_only), value)


def _of_dlpack(value: Any, name: str) -> DeviceArray:
    try:
        found = read_dlpack(value)
    except BufferError as error:
        raise ArgumentError(f"'{name}' cannot be read by DLPack: {error}") from error
    if found.device_type == CPU:
        raise ArgumentError(
            f"'{name}' is an array in the memory of the host: give one of numpy's, which is copied"
        )
    dtype = _named(found.element, name)
    strides = tuple(stride * dtype.itemsize for stride in found.strides)
    description = found.address, found.shape, strides, dtype
    return DeviceArray(*description, found.device, False, found.owner)
