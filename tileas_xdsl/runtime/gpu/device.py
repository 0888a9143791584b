"""A GPU: its context, code, memory and marks in time, each freed with its last owner."""

from __future__ import annotations

import weakref
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

import numpy as np

from tileas_xdsl.interpreters.tile.numerics.element_types import Array
from tileas_xdsl.runtime.gpu.driver import Driver, DriverError, TensorMapMemory, installed_driver
from tileas_xdsl.target.tensor_map import TensorMap

LOG_BYTES = 1 << 14
"""Room for what the driver says of PTX."""

_PLAIN_SHARED = 48 << 10
"""Bytes of shared memory that a block gets without asking."""

_PLAIN_CLUSTER = 8


class Device:
    """One GPU, in the context that torch and cupy use too."""

    def __init__(self, driver: Driver, number: int = 0) -> None:
        """The GPU of this number; raises `DriverError` if there is none."""
        self.driver, self.number = driver, number
        api = driver.api
        self._handle = driver("cuDeviceGet", number)
        self._context = driver("cuDevicePrimaryCtxRetain", self._handle)
        weakref.finalize(self, quietly, api.cuDevicePrimaryCtxRelease, self._handle)
        attributes = api.CUdevice_attribute
        self.capability = (
            int(self._attribute(attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)),
            int(self._attribute(attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)),
        )

    @property
    def name(self) -> str:
        """What it is called."""
        text: bytes = self.driver("cuDeviceGetName", 256, self._handle)
        return text.split(b"\0")[0].decode()

    @property
    def multiprocessors(self) -> int:
        """How many it has."""
        attributes = self.driver.api.CUdevice_attribute
        return int(self._attribute(attributes.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT))

    def _attribute(self, which: Any) -> Any:
        return self.driver("cuDeviceGetAttribute", which, self._handle)

    @contextmanager
    def current(self) -> Generator[None]:
        """Calls go to this GPU inside; afterwards to the one before."""
        self.driver("cuCtxPushCurrent", self._context)
        try:
            yield
        finally:
            self.driver("cuCtxPopCurrent")

    def load(self, image: bytes) -> Module:
        """Machine code or PTX text; an error has the log of the driver's assembler."""
        api = self.driver.api
        errors = bytearray(LOG_BYTES)
        options = api.CUjit_option
        names = [options.CU_JIT_ERROR_LOG_BUFFER, options.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
        values = [errors, LOG_BYTES]
        with self.current():
            try:
                handle = self.driver("cuModuleLoadDataEx", image, 2, names, values)
            except DriverError as error:
                log = errors.split(b"\0")[0].decode(errors="replace").strip()
                raise DriverError(f"{error}\n{log}" if log else str(error)) from None
        return Module(self, handle)

    def memory(self, size: int) -> Memory:
        """So many bytes; the contents are whatever was there."""
        with self.current():
            return Memory(self, int(self.driver("cuMemAlloc", max(size, 1))), size)

    def synchronize(self, stream: int = 0) -> None:
        """Wait until a stream has done everything; errors of its kernels are raised here."""
        with self.current():
            self.driver("cuStreamSynchronize", stream)

    def encode(self, tensor_map: TensorMap) -> TensorMapMemory:
        """A tensor map for this GPU: the driver encodes none where no GPU is current."""
        with self.current():
            return self.driver.encode(tensor_map)

    def event(self) -> Event:
        """A mark in time."""
        flags = self.driver.api.CUevent_flags.CU_EVENT_DEFAULT
        with self.current():
            return Event(self, self.driver("cuEventCreate", int(flags)))


class Module:
    """Code on a GPU."""

    def __init__(self, device: Device, handle: Any) -> None:
        self.device, self._handle = device, handle
        weakref.finalize(self, quietly, device.driver.api.cuModuleUnload, handle)

    def function(self, name: str, shared: int, cluster: Sequence[int]) -> Any:
        """A kernel that may use so much dynamic shared memory and clusters of these extents."""
        driver, attributes = self.device.driver, self.device.driver.api.CUfunction_attribute
        with self.device.current():
            found = driver("cuModuleGetFunction", self._handle, name.encode())
            if shared > _PLAIN_SHARED:
                which = attributes.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
                driver("cuFuncSetAttribute", found, which, shared)
            if np.prod(cluster) > _PLAIN_CLUSTER:
                which = attributes.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
                driver("cuFuncSetAttribute", found, which, 1)
        return found


class Memory:
    """Bytes on a GPU."""

    def __init__(self, device: Device, pointer: int, size: int) -> None:
        self.device, self.pointer, self.size = device, pointer, size
        weakref.finalize(self, quietly, device.driver.api.cuMemFree, pointer)

    def write(self, array: Array, stream: int = 0) -> None:
        """Copy a contiguous array into it, in the order of a stream."""
        with self.device.current():
            self.device.driver(
                "cuMemcpyHtoDAsync", self.pointer, array.ctypes.data, array.nbytes, stream
            )

    def read(self, array: Array, stream: int = 0) -> None:
        """Copy it into a contiguous array; the stream must be waited for."""
        with self.device.current():
            self.device.driver(
                "cuMemcpyDtoHAsync", array.ctypes.data, self.pointer, array.nbytes, stream
            )

    def clear(self, stream: int = 0) -> None:
        """Make all bytes 0."""
        with self.device.current():
            self.device.driver("cuMemsetD8Async", self.pointer, 0, self.size, stream)


class Event:
    """A mark in the order of a stream."""

    def __init__(self, device: Device, handle: Any) -> None:
        self.device, self._handle = device, handle
        weakref.finalize(self, quietly, device.driver.api.cuEventDestroy, handle)

    def record(self, stream: int = 0) -> None:
        """Set the mark behind what the stream has been told so far."""
        with self.device.current():
            self.device.driver("cuEventRecord", self._handle, stream)

    def milliseconds_since(self, start: Event) -> float:
        """The time between two marks, waiting for this one."""
        with self.device.current():
            self.device.driver("cuEventSynchronize", self._handle)
            return float(self.device.driver("cuEventElapsedTime", start._handle, self._handle))


def quietly(call: Any, *handles: Any) -> None:
    """Free something; at the end of the process the driver may be gone already."""
    with suppress(Exception):
        call(*handles)


@cache
def gpu(number: int = 0) -> Device:
    """A GPU of this machine; raises `MissingDriverError`, or `DriverError` for a wrong number."""
    return Device(installed_driver(), number)
