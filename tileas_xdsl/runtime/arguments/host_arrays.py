"""Arrays of any library in the memory of the host, seen as numpy arrays of the same memory."""

from __future__ import annotations

import ctypes
from typing import Any, cast

import ml_dtypes
import numpy as np

from tileas_xdsl.diagnostics.errors import ArgumentError
from tileas_xdsl.frontend.array_arguments import ArrayFacts, ArrayReadError, array_facts
from tileas_xdsl.runtime.arguments.strided_views import Array, strided_view

HOST_DEVICES = (1, 3)
"""`DLDeviceType` of memory that the host reads: its own, and pinned."""


def host_array(value: Any, name: str) -> Array:
    """Return the numpy array of an array argument, which shares its memory.

    Raises `ArgumentError` for what is no array, and for arrays in the memory of a GPU.
    """
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(cast("Array", value))
    try:
        facts = array_facts(value)
    except ArrayReadError as error:
        raise ArgumentError(f"'{name}': {error}") from error
    if facts is None:
        raise ArgumentError(f"'{name}' is an array, not a value of type {type(value).__name__}")
    if not is_on_host(value):
        raise ArgumentError(f"'{name}' is in the memory of a GPU; interpreters read the host's")
    return _view(facts)


def write_changes(array: Array, left: Array, name: str) -> bool:
    """Write what a launch left of an array to it; return whether that is other than it was.

    Only changed elements are written: what one memory shows through two arguments is not undone.
    Raises `ArgumentError` where a kernel changed an array that is read-only.
    """
    changed = _changed(array, left)
    if not changed.any():
        return False
    if not array.flags.writeable:
        text = f"'{name}' is a read-only array, and the kernel changed {changed.sum()} elements"
        raise ArgumentError(f"{text} of its copy: give it {name}.copy()")
    np.copyto(array, left.reshape(array.shape), where=changed)
    return True


def _changed(before: Array, after: Array) -> Array:
    """Whether the bytes of each element differ; numbers need not, such as NaNs."""
    pairs = _bytes_of(before) != _bytes_of(after)
    return pairs.any(axis=-1).reshape(before.shape)


def _bytes_of(array: Array) -> Array:
    rows = np.ascontiguousarray(array)
    return rows.reshape(-1).view(np.uint8).reshape(rows.size, rows.itemsize)


def is_array(value: Any) -> bool:
    """Whether a value is an array of any library; numbers of numpy's are none."""
    if isinstance(value, np.generic):
        return False
    known = ("__dlpack_device__", "__cuda_array_interface__", "__array_interface__")
    return any(hasattr(value, name) for name in known)


def is_on_host(value: Any) -> bool:
    """Whether the host reads the memory of an array."""
    if hasattr(value, "__dlpack_device__"):
        return value.__dlpack_device__()[0] in HOST_DEVICES
    return not hasattr(value, "__cuda_array_interface__")


def _view(facts: ArrayFacts) -> Array:
    """Return the memory at an address as an array; who gave it keeps it alive."""
    dtype = np.dtype(getattr(ml_dtypes, facts.element, facts.element))
    if 0 in facts.shape:
        return np.empty(facts.shape, dtype)
    pairs = zip(facts.shape, facts.strides, strict=True)
    span = 1 + sum((extent - 1) * stride for extent, stride in pairs)
    memory: Any = (ctypes.c_uint8 * (span * dtype.itemsize)).from_address(facts.address)
    flat: Array = np.frombuffer(memory, np.uint8).view(dtype)
    strides = [stride * dtype.itemsize for stride in facts.strides]
    return strided_view(flat, facts.shape, strides)
