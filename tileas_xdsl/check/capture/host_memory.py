"""Memory of the tensors that a program passes, by address."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx import LaunchError

POINTER = 8
"""Bytes of an address."""


def tensor_memory(tensor: Any) -> NDArray[np.uint8] | int:
    """Return bytes that share memory with a tensor of PyTorch and all views of it at higher
    addresses; 0 if there are none."""
    if tensor.device.type != "cpu":
        raise LaunchError(f"a tensor is on {tensor.device}; the checker takes those of the CPU")
    begin: int = tensor.data_ptr()
    storage = tensor.untyped_storage()
    size = storage.data_ptr() + storage.nbytes() - begin
    return bytes_at(begin, size) if size > 0 else 0


CPU, GPU = 1, 2
"""`kDLCPU`, `kDLCUDA` of DLPack."""

_TENSOR_OFFSETS = {b"dltensor": 0, b"dltensor_versioned": 32}
"""By the name of a capsule, where its `DLTensor` begins; its device is behind the address."""


def show_on_gpu(capsule: object) -> None:
    """Let a DLPack capsule of a tensor of the CPU say that it is of a GPU.

    A library then compiles for it as for one of a GPU, with addresses of global memory.
    """
    python = ctypes.pythonapi
    python.PyCapsule_GetName.argtypes = [ctypes.py_object]
    python.PyCapsule_GetName.restype = ctypes.c_char_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    name = python.PyCapsule_GetName(capsule)
    begin = python.PyCapsule_GetPointer(capsule, name) + _TENSOR_OFFSETS[name]
    device = ctypes.c_int32.from_address(begin + POINTER)
    if device.value != CPU:
        raise LaunchError("a tensor is on a GPU; the checker takes those of the CPU")
    device.value = GPU


def bytes_at(address: int, size: int) -> NDArray[np.uint8]:
    """Return memory of this process."""
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


@dataclass
class HostMemory:
    """The tensors that have been passed, by address."""

    arrays: dict[int, NDArray[np.uint8]] = field(default_factory=dict[int, NDArray[np.uint8]])
    """By the address of their first byte; the longest of those that begin there."""

    def add_all(self, values: Iterable[Any]) -> None:
        """Remember the tensors among arguments and in sequences of them."""
        for value in values:
            if isinstance(value, Sequence) and not isinstance(value, str | bytes):
                self.add_all(cast("Sequence[Any]", value))
            else:
                self._add(value)

    def _add(self, value: Any) -> None:
        if hasattr(value, "untyped_storage"):
            found = tensor_memory(value)
        elif isinstance(value, np.ndarray):
            array = cast("NDArray[Any]", value)
            found = bytes_at(array.__array_interface__["data"][0], array.nbytes)
        elif hasattr(value, "data_ptr") and hasattr(value, "element_type"):
            found = _runtime_tensor(value)
        else:
            return
        if isinstance(found, int):
            return
        address = int(found.__array_interface__["data"][0])
        known = self.arrays.get(address)
        if known is None or known.size < found.size:
            self.arrays[address] = found

    def find(self, address: int) -> tuple[NDArray[np.uint8], int] | None:
        """Return the tensor that an address is in, and the byte of it; None for other numbers."""
        for base, array in self.arrays.items():
            if base <= address < base + array.size:
                return array, address - base
        return None


def _runtime_tensor(tensor: Any) -> NDArray[np.uint8] | int:
    """Return the memory of a tensor of the CuTe DSL (`from_dlpack`)."""
    modes = zip(_flat(tensor.shape), _flat(tensor.stride), strict=True)
    last = sum((extent - 1) * stride for extent, stride in modes)
    size = ((last + 1) * int(tensor.element_type.width) + 7) // 8
    return bytes_at(int(tensor.data_ptr), size) if size > 0 else 0


def _flat(value: Any) -> list[int]:
    if isinstance(value, Sequence):
        return [n for one in cast("Sequence[Any]", value) for n in _flat(one)]
    return [int(value)]
