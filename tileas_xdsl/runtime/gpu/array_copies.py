"""Copies of arrays of numpy on a GPU, and back.

A kernel that takes strides is compiled for those that its arrays have: rows with gaps are copied
with their gaps, as the memory from the first element to the last.
"""

from __future__ import annotations

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.runtime.arguments.cutile_arguments import in_memory
from tileas_xdsl.runtime.arguments.host_arrays import write_changes
from tileas_xdsl.runtime.arguments.strided_views import Array, strided_view
from tileas_xdsl.runtime.arguments.subbyte_packing import PACKED, packed, unpacked
from tileas_xdsl.runtime.gpu.device import Device, Memory
from tileas_xdsl.runtime.gpu.device_arrays import DeviceArray, row_major_strides


@dataclass
class StagedArray:
    """A numpy array and its copy on the GPU."""

    name: str
    array: Array
    on_gpu: DeviceArray

    def read_back(self) -> None:
        """Copy the device memory back to the array; `ArgumentError` if it is read-only."""
        write_changes(self.array, from_device(self.on_gpu), self.name)


def to_device(
    array: Array,
    device: Device,
    name: str = "an array",
    stream: int = 0,
    *,
    keeps_strides: bool = False,
) -> DeviceArray:
    """Copy an array to a GPU, row-major or with its strides, if kernels can count them.

    Raises `LaunchError`, which names the array, where that is impossible.
    """
    strides = row_major_strides(array.shape, array.dtype.itemsize)
    if keeps_strides and _has_countable_strides(array):
        data, strides = np.ascontiguousarray(in_memory(array)), array.strides
    else:
        data = np.ascontiguousarray(packed(array, f"'{name}'"))
    memory = device.memory(data.nbytes)
    memory.write(data, stream)
    device.synchronize(stream)
    description = memory.pointer, array.shape, strides, array.dtype
    return DeviceArray(*description, device.number, False, memory)


def _has_countable_strides(array: Array) -> bool:
    """Whether the steps from element to element are whole elements upwards."""
    steps = all(stride >= 0 and not stride % array.itemsize for stride in array.strides)
    return steps and array.size > 0 and array.dtype != PACKED


def from_device(array: DeviceArray) -> Array:
    """Return the elements of an array made by `to_device`, after synchronizing."""
    memory = array.owner
    assert isinstance(memory, Memory)
    is_packed = array.dtype == PACKED
    found = np.empty(memory.size // array.dtype.itemsize, array.dtype)
    if is_packed:
        found = np.empty((*array.shape[:-1], array.shape[-1] // 2), np.uint8)
    memory.read(found)
    memory.device.synchronize()
    return unpacked(found) if is_packed else strided_view(found, array.shape, array.strides)
