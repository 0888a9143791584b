"""A GPU: its context, modules, memory and events, each freed with its last reference.

Loading, allocating and freeing are allowed while a CUDA graph is captured: this thread's capture
mode is relaxed for them.  Source: CUDA driver API, cuThreadExchangeStreamCaptureMode.
"""

from __future__ import annotations

import weakref
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from math import prod
from typing import Any

import numpy as np

from tileas_xdsl.runtime.arguments.strided_views import Array
from tileas_xdsl.runtime.gpu.driver import Driver, DriverError, TensorMapMemory, installed_driver
from tileas_xdsl.runtime.gpu.launch_memory import LaunchMemory
from tileas_xdsl.target.kernel_abi import UNUSED_BYTES
from tileas_xdsl.target.tma.tensor_map import TensorMap

LOG_BYTES = 1 << 14
"""Size of the buffer for the driver's assembler log."""

_PLAIN_SHARED = 48 << 10
"""Bytes of dynamic shared memory that a block gets without opting in."""

_PLAIN_CLUSTER = 8

_EMPTY_KERNEL = b".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry empty() { ret; }\0"


class Device:
    """One GPU, in its primary context, which torch and cupy use too."""

    def __init__(self, driver: Driver, number: int = 0) -> None:
        """Open the GPU of this ordinal; raises `DriverError` if there is none."""
        self.driver, self.number = driver, number
        api = driver.api
        self._handle = driver("cuDeviceGet", number)
        self._context = driver("cuDevicePrimaryCtxRetain", self._handle)
        self._of_clusters: dict[int, int] = {}
        weakref.finalize(self, release, driver, "cuDevicePrimaryCtxRelease", self._handle)
        attributes = api.CUdevice_attribute
        self.capability = (
            int(self._attribute(attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)),
            int(self._attribute(attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)),
        )

    @property
    def name(self) -> str:
        """The name of the GPU."""
        text: bytes = self.driver("cuDeviceGetName", 256, self._handle)
        return text.split(b"\0")[0].decode()

    @property
    def multiprocessors(self) -> int:
        """The number of multiprocessors."""
        attributes = self.driver.api.CUdevice_attribute
        return int(self._attribute(attributes.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT))

    def multiprocessors_of_clusters(self, count: int) -> int:
        """Return how many multiprocessors clusters of so many CTAs can be on, a CTA on each.

        A cluster is on one group of multiprocessors, whose number is no multiple of each count.
        """
        if count not in self._of_clusters:
            self._of_clusters[count] = self._count_of_clusters((count, 1, 1))
        return self._of_clusters[count]

    def _count_of_clusters(self, cluster: tuple[int, int, int]) -> int:
        if cluster == (1, 1, 1):
            return self.multiprocessors
        attributes = self.driver.api.CUdevice_attribute
        most = attributes.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
        shared, module = int(self._attribute(most)), self.load(_EMPTY_KERNEL)
        return self.resident_ctas(module.function("empty", shared, cluster), 32, shared, cluster)

    def resident_ctas(
        self, function: Any, threads: int, shared: int, cluster: Sequence[int] = (1, 1, 1)
    ) -> int:
        """Return how many CTAs of a kernel, with so many bytes of shared memory, run at once.

        Those of a cluster share a group of multiprocessors, some of which have an odd number.
        """
        handle = self.driver.api.CUfunction(int(function))
        if (size := prod(cluster)) > 1:
            config = self._config(cluster, (threads, 1, 1), shared, 0, cluster)
            with self.relaxed():
                return int(self.driver("cuOccupancyMaxActiveClusters", handle, config)) * size
        with self.relaxed():
            found = self.driver(
                "cuOccupancyMaxActiveBlocksPerMultiprocessor", handle, threads, shared
            )
        return int(found) * self.multiprocessors

    def _attribute(self, which: Any) -> Any:
        return self.driver("cuDeviceGetAttribute", which, self._handle)

    @contextmanager
    def current(self) -> Generator[None]:
        """Make this GPU current within the context, and restore the previous one afterwards."""
        self.driver("cuCtxPushCurrent", self._context)
        try:
            yield
        finally:
            self.driver("cuCtxPopCurrent")

    @contextmanager
    def relaxed(self) -> Generator[None]:
        """Make this GPU current, and allow what a capture of this thread's would forbid."""
        with self.current(), relaxed(self.driver):
            yield

    def load(self, image: bytes) -> Module:
        """Load machine code or PTX text; an error carries the log of the driver's assembler."""
        api = self.driver.api
        errors = bytearray(LOG_BYTES)
        options = api.CUjit_option
        names = [options.CU_JIT_ERROR_LOG_BUFFER, options.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
        values = [errors, LOG_BYTES]
        with self.relaxed():
            try:
                handle = self.driver("cuModuleLoadDataEx", image, 2, names, values)
            except DriverError as error:
                log = errors.split(b"\0")[0].decode(errors="replace").strip()
                raise DriverError(f"{error}\n{log}" if log else str(error)) from None
        return Module(self, handle)

    def memory(self, size: int) -> Memory:
        """Allocate `size` bytes, uninitialised."""
        with self.relaxed():
            return Memory(self, int(self.driver("cuMemAlloc", max(size, 1))), size)

    @cached_property
    def launch_memory(self) -> LaunchMemory:
        """The memory of launches beside their arguments: counters, flags, partial tiles."""
        return LaunchMemory(self)

    @cached_property
    def _unused(self) -> Memory:
        return self.zeros(UNUSED_BYTES)

    @property
    def unused(self) -> int:
        """The address of zeros that tensor maps of empty arrays describe an element of."""
        return self._unused.pointer

    def launch(
        self,
        function: Any,
        grid: Sequence[int],
        block: Sequence[int],
        parameters: int,
        *,
        shared: int = 0,
        stream: int = 0,
        cluster: Sequence[int] = (1, 1, 1),
        overlaps: bool = False,
    ) -> None:
        """Enqueue a kernel: CTAs, threads, the address of pointers to its parameters.

        `shared` is in bytes; a `cluster` is for kernels whose code does not require one.  A kernel
        that `overlaps` may begin before the one in front of it has completed, which it waits for.
        """
        config = self._config(grid, block, shared, stream, cluster)
        if overlaps:
            attribute = self.driver.api.CUlaunchAttribute()
            which = self.driver.api.CUlaunchAttributeID
            attribute.id = which.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
            attribute.value.programmaticStreamSerializationAllowed = 1
            config.attrs = [*config.attrs, attribute]
            config.numAttrs += 1
        with self.current():
            self.driver("cuLaunchKernelEx", config, function, parameters, 0)

    def _config(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        shared: int,
        stream: int,
        cluster: Sequence[int],
    ) -> Any:
        """Return a launch configuration, with a cluster where one is asked for."""
        api = self.driver.api
        config = api.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = grid
        config.blockDimX, config.blockDimY, config.blockDimZ = block
        config.sharedMemBytes, config.hStream = shared, stream
        if tuple(cluster) != (1, 1, 1):
            attribute = api.CUlaunchAttribute()
            attribute.id = api.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            extents = attribute.value.clusterDim
            extents.x, extents.y, extents.z = cluster
            config.attrs, config.numAttrs = [attribute], 1
        return config

    def zeros(self, size: int) -> Memory:
        """Allocate bytes that are zero; no stream that is captured takes part."""
        found = self.memory(size)
        with self.relaxed():
            flags = int(self.driver.api.CUstream_flags.CU_STREAM_NON_BLOCKING)
            stream = int(self.driver("cuStreamCreate", flags))
            found.clear(stream)
            self.driver("cuStreamSynchronize", stream)
            self.driver("cuStreamDestroy", stream)
        return found

    def synchronize(self, stream: int = 0) -> None:
        """Wait until a stream has completed; errors of its kernels are raised here."""
        with self.current():
            self.driver("cuStreamSynchronize", stream)

    def capture(self, stream: int) -> int:
        """Return the number of the capture that a stream is recorded in; 0 for none."""
        statuses = self.driver.api.CUstreamCaptureStatus
        with self.current():
            status: Any = self.driver("cuStreamIsCapturing", stream)
            if int(status) == int(statuses.CU_STREAM_CAPTURE_STATUS_NONE):
                return 0
            found: Any = self.driver("cuStreamGetCaptureInfo", stream)
        return int(found[1])

    def encode(self, tensor_map: TensorMap) -> TensorMapMemory:
        """Encode a tensor map for this GPU (the driver encodes none where no GPU is current)."""
        with self.current():
            return self.driver.encode(tensor_map)

    def event(self) -> Event:
        """Create an event."""
        flags = self.driver.api.CUevent_flags.CU_EVENT_DEFAULT
        with self.current():
            return Event(self, self.driver("cuEventCreate", int(flags)))


class Module:
    """A loaded module on a GPU."""

    def __init__(self, device: Device, handle: Any) -> None:
        self.device, self._handle = device, handle
        weakref.finalize(self, release, device.driver, "cuModuleUnload", handle)

    def function(self, name: str, shared: int, cluster: Sequence[int]) -> Any:
        """Return a kernel, set up for its dynamic shared memory in bytes and cluster shape."""
        driver, attributes = self.device.driver, self.device.driver.api.CUfunction_attribute
        with self.device.relaxed():
            found = driver("cuModuleGetFunction", self._handle, name.encode())
            if shared > _PLAIN_SHARED:
                which = attributes.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
                driver("cuFuncSetAttribute", found, which, shared)
            if np.prod(cluster) > _PLAIN_CLUSTER:
                which = attributes.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
                driver("cuFuncSetAttribute", found, which, 1)
        return found

    def parameter_offsets(self, function: Any, count: int) -> Sequence[int]:
        """Return the offset of each parameter of a kernel in the block that a launch passes."""
        driver = self.device.driver
        with self.device.relaxed():
            found = [driver("cuFuncGetParamInfo", function, index) for index in range(count)]
        return [int(offset) for offset, _ in found]


class Memory:
    """An allocation on a GPU."""

    def __init__(self, device: Device, pointer: int, size: int) -> None:
        self.device, self.pointer, self.size = device, pointer, size
        weakref.finalize(self, release, device.driver, "cuMemFree", pointer)

    def write(self, array: Array, stream: int = 0) -> None:
        """Copy a contiguous array to it, in stream order."""
        with self.device.current():
            self.device.driver(
                "cuMemcpyHtoDAsync", self.pointer, array.ctypes.data, array.nbytes, stream
            )

    def read(self, array: Array, stream: int = 0) -> None:
        """Copy it to a contiguous array in stream order; synchronize before reading that."""
        with self.device.current():
            self.device.driver(
                "cuMemcpyDtoHAsync", array.ctypes.data, self.pointer, array.nbytes, stream
            )

    def clear(self, stream: int = 0) -> None:
        """Zero all bytes."""
        with self.device.current():
            self.device.driver("cuMemsetD8Async", self.pointer, 0, self.size, stream)


class Event:
    """An event in the order of a stream."""

    def __init__(self, device: Device, handle: Any) -> None:
        self.device, self._handle = device, handle
        weakref.finalize(self, release, device.driver, "cuEventDestroy", handle)

    def record(self, stream: int = 0) -> None:
        """Record the event after the work that the stream has so far."""
        with self.device.current():
            self.device.driver("cuEventRecord", self._handle, stream)

    def milliseconds_since(self, start: Event) -> float:
        """Return the milliseconds since another event, after waiting for this one."""
        with self.device.current():
            self.device.driver("cuEventSynchronize", self._handle)
            return float(self.device.driver("cuEventElapsedTime", start._handle, self._handle))


def release(driver: Driver, name: str, handle: Any) -> None:
    """Call a release function, ignoring errors of a driver that has shut down already.

    Garbage is collected at any time: what is captured in the meantime goes on.
    """
    with suppress(Exception), relaxed(driver):
        driver(name, handle)


@contextmanager
def relaxed(driver: Driver) -> Generator[None]:
    """Allow what a capture of this thread's would forbid."""
    mode = driver.api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    before: Any = driver("cuThreadExchangeStreamCaptureMode", mode)
    try:
        yield
    finally:
        driver("cuThreadExchangeStreamCaptureMode", before)


@cache
def gpu(number: int = 0) -> Device:
    """Return a GPU; raises `MissingDriverError`, or `DriverError` for a wrong ordinal."""
    return Device(installed_driver(), number)
