"""Read an array through DLPack, the exchange protocol of array libraries, without a package.

A capsule holds a `DLManagedTensor` (dmlc/dlpack, `dlpack.h`, the version without a version field,
which every producer still makes).
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from tileas_xdsl.data_classes import dataclass

CPU, CUDA, CUDA_HOST = 1, 2, 3
"""`DLDeviceType`."""

ELEMENTS: Mapping[tuple[int, int], str] = {
    **{(0, bits): f"int{bits}" for bits in (8, 16, 32, 64)},
    **{(1, bits): f"uint{bits}" for bits in (8, 16, 32, 64)},
    **{(2, bits): f"float{bits}" for bits in (16, 32, 64)},
    (4, 16): "bfloat16",
    (6, 8): "bool",
    (10, 8): "float8_e4m3fn",
    (12, 8): "float8_e5m2",
    (14, 8): "float8_e8m0fnu",
}
"""Names of element types, as in numpy and ml_dtypes, by `DLDataTypeCode` and bits."""


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


@dataclass(frozen=True, slots=True)
class DlpackArray:
    """What a capsule says of an array."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """In elements."""
    element: str
    device_type: int
    device: int
    owner: object
    """The capsule, which keeps the memory alive."""


def read_dlpack(value: Any) -> DlpackArray:
    """Return the array of an object with `__dlpack__`, not synchronised with its stream.

    Raises `BufferError` for what the producer does not export, and for elements without a name.
    """
    is_on_gpu = value.__dlpack_device__()[0] not in (CPU, CUDA_HOST)
    capsule = value.__dlpack__(stream=-1) if is_on_gpu else value.__dlpack__()
    found = _Tensor.from_address(_pointer(capsule))
    element = ELEMENTS.get((int(found.code), int(found.bits)))
    if element is None or found.lanes != 1:
        raise BufferError(f"elements of DLPack type {found.code}, {found.bits} bits")
    shape = tuple(found.shape[axis] for axis in range(found.ndim))
    strides = tuple(found.strides[axis] for axis in range(found.ndim)) if found.strides else None
    return DlpackArray(
        (found.data or 0) + int(found.byte_offset),
        shape,
        packed(shape) if strides is None else strides,
        element,
        int(found.device_type),
        int(found.device_id),
        capsule,
    )


def packed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides, in elements, of a contiguous row-major array."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return tuple(strides)


def _pointer(capsule: object) -> int:
    read = ctypes.pythonapi.PyCapsule_GetPointer
    read.restype, read.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return int(read(capsule, b"dltensor"))
