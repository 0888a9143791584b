"""Launches of PTX text on a GPU, with the arguments of the PTX emulator."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from tileas_xdsl.interpreters.ptx import PtxModule
from tileas_xdsl.interpreters.ptx.arguments import Arguments, bind
from tileas_xdsl.interpreters.ptx.launch import pick_kernel
from tileas_xdsl.interpreters.ptx.launch_sizes import Shape, Three, launch_sizes
from tileas_xdsl.interpreters.ptx.memory.global_memory import Buffer
from tileas_xdsl.interpreters.ptx.parsing.syntax import Kernel
from tileas_xdsl.runtime.arguments.strided_views import Array
from tileas_xdsl.runtime.gpu.device import Device, Memory
from tileas_xdsl.runtime.gpu.driver import AlignedMemory
from tileas_xdsl.target.tma.tensor_map import TensorMap


class TextLauncher:
    """One kernel of a PTX text on one GPU; a `DriverError` carries the driver's log.

    `module` is the text as parsed by the emulator, which has the parameters.
    """

    def __init__(
        self,
        text: str,
        module: PtxModule,
        device: Device,
        kernel: str | None = None,
        dynamic_shared: int = 0,
        cubin: bytes | None = None,
    ) -> None:
        """Load the kernel of this name or the only one; `dynamic_shared` is in bytes.

        The driver compiles the text, unless it is given as a `cubin`.
        """
        self.entry: Kernel = pick_kernel(module, kernel)
        self.device, self.dynamic_shared = device, dynamic_shared
        self._module = device.load(cubin or text.encode() + b"\0")

    def prepare(
        self,
        args: Sequence[Any],
        grid: Shape,
        block: Shape | None = None,
        cluster: Shape | None = None,
    ) -> PreparedText:
        """Prepare a launch with copies of its arrays on the GPU; the arguments are those of `run`.

        Raises `LaunchError` for arguments that do not fit, `DriverError` for a failed driver call.
        """
        sizes = launch_sizes(self.entry, grid, block, cluster)
        device_arrays = _DeviceArrays(self.device)
        arguments = bind(self.entry, args, device_arrays)
        return PreparedText(self, sizes, device_arrays, arguments)

    def launch(
        self,
        args: Sequence[Any],
        grid: Shape,
        block: Shape | None = None,
        cluster: Shape | None = None,
    ) -> list[Array | None]:
        """Launch once and synchronize; return the arrays afterwards, None for scalars."""
        prepared = self.prepare(args, grid, block, cluster)
        prepared.start()
        return prepared.results()

    def start(self, sizes: tuple[Three, Three, Three], parameters: int, stream: int) -> None:
        """Enqueue a launch with grid, block, cluster and pointers to the parameters."""
        grid, block, cluster = sizes
        function = self._module.function(self.entry.name, self.dynamic_shared, cluster)
        self.device.launch(
            function,
            grid,
            block,
            parameters,
            shared=self.dynamic_shared,
            stream=stream,
            cluster=cluster if self.entry.required_cluster is None else (1, 1, 1),
        )


class PreparedText:
    """A launch of a text whose arrays are on the GPU; it can be started many times."""

    def __init__(
        self,
        launcher: TextLauncher,
        sizes: tuple[Three, Three, Three],
        device_arrays: _DeviceArrays,
        arguments: Arguments,
    ) -> None:
        self._launcher, self._sizes = launcher, sizes
        self._device_arrays, self._arguments = device_arrays, arguments
        self._cells = [AlignedMemory(data, len(data)) for data in arguments.parameters.values()]
        self._block = (ctypes.c_void_p * len(self._cells))(*(cell.address for cell in self._cells))

    def start(self, stream: int = 0) -> None:
        """Enqueue the launch on a stream."""
        self._launcher.start(self._sizes, ctypes.addressof(self._block), stream)

    def results(self) -> list[Array | None]:
        """Synchronize; return the arrays, None for scalars; `DriverError` if a kernel failed."""
        self._launcher.device.synchronize()
        self._device_arrays.read_back()
        return self._arguments.results()


class _DeviceArrays:
    """Arrays on a GPU, with the interface of the emulator's `bind`."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._pairs: list[tuple[Buffer, Memory]] = []

    def add(self, name: str, data: Array) -> Buffer:
        """Copy bytes to the GPU."""
        buffer = Buffer(name, 0, data)
        memory = self._device.memory(buffer.data.nbytes)
        buffer.base, buffer.end = memory.pointer, memory.pointer + data.size
        memory.write(buffer.data)
        self._device.synchronize()
        self._pairs.append((buffer, memory))
        return buffer

    def encode(self, tensor_map: TensorMap) -> bytes:
        """Return the bytes of a tensor map, encoded by the driver."""
        return self._device.encode(tensor_map).data

    def read_back(self) -> None:
        """Copy the GPU memory back to the buffers."""
        for buffer, memory in self._pairs:
            memory.read(buffer.data)
        self._device.synchronize()
