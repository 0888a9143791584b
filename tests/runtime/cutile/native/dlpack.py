"""Tensors that C reads by DLPack's exchange interface, without a library of tensors."""

from __future__ import annotations

import ctypes
from typing import Any

from tests.runtime.cutile.launches import Tensor

CODES = {"float32": (2, 32), "float16": (2, 16), "int32": (0, 32)}
NAME = b"dlpack_exchange_api"


class DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    )


class ExchangeApi(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("others", ctypes.c_void_p * 4),
        ("read", ctypes.c_void_p),
        ("stream", ctypes.c_void_p),
    )


@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
def read(tensor: Any, found: Any) -> int:
    if tensor.is_unreadable:
        return -1
    rank = len(tensor.shape)
    tensor.memory = (ctypes.c_int64 * (2 * rank))(*tensor.shape, *tensor.strides)
    extents = ctypes.addressof(tensor.memory)
    code, bits = CODES[tensor.dtype.removeprefix("torch.")]
    # The offset is part of the address.
    data, offset = tensor.address - 64, 64
    if tensor.address < 64:
        data, offset = tensor.address, 0
    place = (2, tensor.device_index, rank, code, bits, 1)
    found[0] = DLTensor(data, *place, extents, extents + 8 * rank, offset)
    return 0


def capsule(major: int) -> Any:
    """Return a capsule of the interface in a version."""
    api = ExchangeApi(major, 3, read=ctypes.cast(read, ctypes.c_void_p).value)
    APIS.append(api)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
    )
    return new(ctypes.addressof(api), NAME, None)


APIS: list[ExchangeApi] = []


class FastTensor(Tensor):
    """A tensor whose type has the interface."""

    is_unreadable = False
    __dlpack_c_exchange_api__ = capsule(1)


class NewerTensor(Tensor):
    """A tensor of a version that is not known."""

    is_unreadable = False
    __dlpack_c_exchange_api__ = capsule(2)
