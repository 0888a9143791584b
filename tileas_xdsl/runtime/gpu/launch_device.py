"""What launch plans need of a GPU: loaded code, tensor maps, memory that kernels write or read.

Loading and allocating are allowed while a CUDA graph is captured: this thread's capture mode is
relaxed for them.  Source: CUDA driver API, cuThreadExchangeStreamCaptureMode.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.runtime.gpu.device import Device, Memory, Module, gpu
from tileas_xdsl.runtime.gpu.driver import TensorMapMemory
from tileas_xdsl.runtime.gpu.launch_api import LaunchFunction, failure, launch_function
from tileas_xdsl.runtime.gpu.timing import CACHE_BYTES
from tileas_xdsl.target.tma.tensor_map import TensorMap
from tileas_xdsl.target.tma.tensor_map_rules import check_tensor_map

MAX_TABLES = 256
"""Maximal number of lists of arrays whose tables stay in the memory of a GPU."""

Rows = tuple[tuple[int, ...], ...]
"""A list of arrays: address, extents and strides of each."""


class GpuDevice:
    """One GPU."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.launch: LaunchFunction = launch_function()
        self._modules: dict[Executable, tuple[Module, int, Sequence[int]]] = {}
        self._arenas: dict[int, Memory] = {}
        self._kept: list[Memory] = []
        self._transfer_memory: dict[tuple[int, int], Memory] = {}
        self._tables: OrderedDict[Rows, Memory] = OrderedDict()
        self._flood: Memory | None = None
        self._lock = threading.Lock()

    def function(self, executable: Executable) -> tuple[int, Sequence[int]]:
        """Load the code; return the handle of the kernel, and the offsets of its parameters."""
        with self._lock:
            found = self._modules.get(executable)
            if found is None:
                found = self._modules[executable] = self._load(executable)
        return found[1], found[2]

    @property
    def multiprocessors(self) -> int:
        """The number of multiprocessors."""
        return self.device.multiprocessors

    def multiprocessors_of_clusters(self, count: int) -> int:
        """Return how many multiprocessors clusters of so many CTAs can be on, a CTA on each."""
        with self._relaxed():
            return self.device.multiprocessors_of_clusters(count)

    def resident(self, executable: Executable) -> int:
        """Return how many CTAs of a kernel run at once."""
        handle, _ = self.function(executable)
        abi = executable.abi
        return self.device.resident_ctas(handle, abi.threads, abi.shared_bytes, abi.cluster)

    def _load(self, executable: Executable) -> tuple[Module, int, Sequence[int]]:
        abi = executable.abi
        with self._relaxed():
            module = self.device.load(executable.cubin or executable.ptx.encode() + b"\0")
            handle = module.function(abi.name, abi.shared_bytes, abi.cluster)
            return module, int(handle), module.parameter_offsets(handle, len(abi.parameters))

    def encode(self, tensor_map: TensorMap) -> TensorMapMemory:
        """Encode a tensor map; raises `LaunchError` for what no tensor map can describe."""
        check_tensor_map(tensor_map)
        return self.device.encode(tensor_map)

    def arena(self, size: int, stream: int) -> int:
        """Return the address of memory that blocks of a launch have of their own.

        Launches of a stream follow one another and share it.  A captured graph may run beside
        them, so each captured launch has its own.
        """
        if self.is_capturing(stream):
            self._kept.append(self._memory(size))
            return self._kept[-1].pointer
        with self._lock:
            found = self._arenas.get(stream)
            if found is None or found.size < size:
                found = self._arenas[stream] = self._memory(size)
                self._kept.append(found)  # plans that launched before have its address
        return found.pointer

    def transfer_memory(self, size: int, stream: int) -> int:
        """Return the address of memory through which CTAs of a launch transfer tiles.

        It begins as zeros, and is as launches leave it.  Those of a stream share it, and those of a
        captured graph that follow one another in a stream.
        """
        key = (stream, self.capture(stream))
        with self._lock:
            found = self._transfer_memory.get(key)
            if found is None or found.size < size:
                with self._relaxed():
                    found = self._transfer_memory[key] = self.device.zeros(size)
                self._kept.append(found)  # so do plans, and graphs that may be launched again
        return found.pointer

    @property
    def unused(self) -> int:
        """That of the GPU, which the first launch with an empty array allocates."""
        with self._relaxed():
            return self.device.unused

    def table(self, rows: Rows, stream: int) -> int:
        """Return the address of a table of arrays in the memory of the GPU, written once.

        Raises `RuntimeError` while a graph is captured, as cuTile does.
        """
        if self.is_capturing(stream):
            raise RuntimeError("List argument in CUDAGraph isn't supported yet")
        with self._lock:
            found = self._tables.get(rows)
            if found is None:
                words = np.array([word for row in rows for word in row], np.int64)
                found = self._tables[rows] = self._memory(words.nbytes)
                found.write(words, stream)
                self.device.synchronize(stream)
            self._tables.move_to_end(rows)
            while len(self._tables) > MAX_TABLES:
                self._tables.popitem(last=False)
        return found.pointer

    def retry(self, launch: Callable[[], int], status: int) -> None:
        """Repeat a launch that failed in the context of this GPU; raise if it fails again."""
        with self.device.current():
            again = launch()
        if again:
            raise failure(again or status)

    def measure(self, launch: Callable[[], None], stream: int, flush: bool) -> float:
        """Return the microseconds that a launch takes, after writing more than the L2 if asked."""
        device = self.device
        start, end = device.event(), device.event()
        if flush:
            if self._flood is None:
                self._flood = self._memory(CACHE_BYTES)
            self._flood.clear(stream)
        start.record(stream)
        launch()
        end.record(stream)
        return 1000 * end.milliseconds_since(start)

    def is_capturing(self, stream: int) -> bool:
        """Whether launches on a stream are recorded for a graph."""
        api = self.device.driver.api
        with self.device.current():
            status: Any = self.device.driver("cuStreamIsCapturing", stream)
        return int(status) != int(api.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE)

    def capture(self, stream: int) -> int:
        """Return the number of the capture that a stream is recorded in; 0 for none."""
        if not self.is_capturing(stream):
            return 0
        with self.device.current():
            found: Any = self.device.driver("cuStreamGetCaptureInfo", stream)
        return int(found[1])

    def _memory(self, size: int) -> Memory:
        with self._relaxed():
            return self.device.memory(size)

    @contextmanager
    def _relaxed(self) -> Generator[None]:
        """Allow what a capture of this thread's would forbid."""
        driver = self.device.driver
        mode = driver.api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        before: Any = driver("cuThreadExchangeStreamCaptureMode", mode)
        try:
            yield
        finally:
            driver("cuThreadExchangeStreamCaptureMode", before)


@cache
def gpu_device(number: int) -> GpuDevice:
    """Return a GPU by its ordinal; raises as `runtime.gpu.device.gpu`."""
    return GpuDevice(gpu(number))


def capability_of(number: int) -> tuple[int, int]:
    """Return the compute capability of a GPU."""
    return gpu(number).capability
