"""What launch plans need of a GPU: loaded code, tensor maps, memory that kernels write or read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cache

from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.runtime.gpu.device import Device, Memory, Module, gpu
from tileas_xdsl.runtime.gpu.driver import TensorMapMemory
from tileas_xdsl.runtime.gpu.launch_api import LaunchFunction, failure, launch_function
from tileas_xdsl.runtime.gpu.launch_memory import PER_THREAD_STREAM, Rows
from tileas_xdsl.runtime.gpu.timing import CACHE_BYTES, FLOODS
from tileas_xdsl.target.kernel_abi import TensorMapRecipe
from tileas_xdsl.target.tma.tensor_map import TensorMap
from tileas_xdsl.target.tma.tensor_map_rules import check_tensor_map


class GpuDevice:
    """One GPU."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.launch: LaunchFunction = launch_function()
        self._modules: dict[Executable, tuple[Module, int, Sequence[int]]] = {}
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
        return self.device.multiprocessors_of_clusters(count)

    def resident(self, executable: Executable) -> int:
        """Return how many CTAs of a kernel run at once."""
        handle, _ = self.function(executable)
        abi = executable.abi
        return self.device.resident_ctas(handle, abi.threads, abi.shared_bytes, abi.cluster)

    def _load(self, executable: Executable) -> tuple[Module, int, Sequence[int]]:
        abi = executable.abi
        module = self.device.load(executable.cubin or executable.ptx.encode() + b"\0")
        handle = module.function(abi.name, abi.shared_bytes, abi.cluster)
        return module, int(handle), module.parameter_offsets(handle, len(abi.parameters))

    def encode(self, tensor_map: TensorMap) -> TensorMapMemory:
        """Encode a tensor map; raises `LaunchError` for what no tensor map can describe."""
        check_tensor_map(tensor_map)
        return self.device.encode(tensor_map)

    def arena(self, size: int, stream: int) -> int:
        """Return the address of memory that CTAs of a launch have of their own."""
        return self.device.launch_memory.arena(size, stream)

    def transfer_memory(self, size: int, stream: int) -> int:
        """Return the address of memory through which CTAs of a launch transfer tiles."""
        return self.device.launch_memory.transfer(size, stream)

    @property
    def unused(self) -> int:
        """That of the GPU, which the first launch with an empty array allocates."""
        return self.device.unused

    def table(self, rows: Rows, recipes: Sequence[TensorMapRecipe], stream: int) -> int:
        """Return the address of a table of arrays, and of such maps, in the memory of the GPU."""
        return self.device.launch_memory.table(rows, recipes, stream).pointer

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
                self._flood = device.memory(CACHE_BYTES)
            for _ in range(FLOODS):
                self._flood.clear(stream)
        start.record(stream)
        launch()
        end.record(stream)
        return 1000 * end.milliseconds_since(start)

    def is_ordered(self, stream: int) -> bool:
        """Whether launches by the handle of a stream follow one another, none of them recorded."""
        return stream != PER_THREAD_STREAM and not self.device.capture(stream)


@cache
def gpu_device(number: int) -> GpuDevice:
    """Return a GPU by its ordinal; raises as `runtime.gpu.device.gpu`."""
    return GpuDevice(gpu(number))


def capability_of(number: int) -> tuple[int, int]:
    """Return the compute capability of a GPU."""
    return gpu(number).capability
