"""A stand-in for `cuda.bindings.driver`: the calls that a launch makes, recorded, on host memory.

Enumerations and structures are those of the package, which are made of the public header of the
driver.  Its calls have their names behind `on_`.
"""

# ruff: noqa: N802

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cuda.bindings import driver as bindings

from tileas_xdsl.runtime.gpu.driver import Driver
from tileas_xdsl.runtime.host_code import ENCODER_TYPE, tensor_map_of
from tileas_xdsl.target.tma.tensor_map_bytes import SIZE, encode

OK = bindings.CUresult.CUDA_SUCCESS


@dataclass
class Launched:
    """One recorded launch."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    stream: int
    function: Any
    parameters: int
    """Address of the array of parameter pointers."""

    def parameter(self, number: int, size: int) -> bytes:
        """Return the bytes of a parameter."""
        places = ctypes.cast(self.parameters, ctypes.POINTER(ctypes.c_void_p))
        return ctypes.string_at(places[number], size)

    def word(self, number: int, size: int = 8) -> int:
        """Return a parameter as an integer."""
        return int.from_bytes(self.parameter(number, size), "little")


@dataclass
class RecordingApi:
    """The subset of the API that `Driver` uses; all else is the package's own."""

    capability: tuple[int, int] = (9, 0)
    refuses: dict[str, Any] = field(default_factory=dict[str, Any])
    """Errors to return, by name of the call."""
    jit_log: bytes = b""
    launches: list[Launched] = field(default_factory=list[Launched])
    calls: Counter[str] = field(default_factory=Counter[str])
    live: Counter[str] = field(default_factory=Counter[str])
    """Number of live handles by kind."""
    attributes: dict[Any, int] = field(default_factory=dict[Any, int])
    """Attributes set on functions."""
    captures: dict[int, int] = field(default_factory=dict[int, int])
    """Numbers of the captures that streams are recorded in."""
    capture_mode: Any = bindings.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
    encoded: int = 0
    effect: Callable[[Launched], None] = lambda launched: None
    """The effect of a launch on memory."""

    def __post_init__(self) -> None:
        self._memory: dict[int, Any] = {}
        self._next = 1
        self._encoder = ENCODER_TYPE(self._encode)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cu"):
            return getattr(bindings, name)
        if not hasattr(bindings, name):
            raise AttributeError(f"the driver has no {name}")
        call = getattr(type(self), f"on_{name}", lambda _, *__: None)

        def recorded(*arguments: Any) -> tuple[Any, ...]:
            self.calls[name] += 1
            if name == "cuModuleLoadDataEx":
                arguments[3][0][: len(self.jit_log)] = self.jit_log
            if name in self.refuses:
                return (self.refuses[name], None)
            found = call(self, *arguments)
            return (OK,) if found is None else (OK, *found)

        return recorded

    def _handle(self, kind: str) -> tuple[int]:
        self.live[kind] += 1
        self._next += 1
        return (self._next,)

    def _encode(self, place: int, *arguments: Any) -> int:
        self.encoded += 1
        ctypes.memmove(place, encode(tensor_map_of((place, *arguments))), SIZE)
        return 0

    def _check_capture_mode(self) -> None:
        """A call that ends a capture, but where the mode of the thread is relaxed."""
        assert not self.captures or "RELAXED" in self.capture_mode.name

    # The calls, by name.

    def on_cuDeviceGet(self, number: int) -> tuple[int]:
        return (number,)

    def on_cuDevicePrimaryCtxRetain(self, device: int) -> tuple[int]:
        return self._handle("context")

    def on_cuDevicePrimaryCtxRelease(self, device: int) -> None:
        self.live["context"] -= 1

    def on_cuCtxPopCurrent(self) -> tuple[int]:
        return (0,)

    def on_cuDeviceGetName(self, size: int, device: int) -> tuple[bytes]:
        return (b"Stand-in\0",)

    def on_cuDeviceGetAttribute(self, which: Any, device: int) -> tuple[int]:
        names = bindings.CUdevice_attribute
        return (
            {
                names.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: self.capability[0],
                names.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: self.capability[1],
            }.get(which, 132),
        )

    def on_cuModuleLoadDataEx(
        self, image: bytes, count: int, options: Sequence[Any], values: Sequence[int]
    ) -> tuple[int]:
        return self._handle("module")

    def on_cuModuleUnload(self, module: int) -> None:
        self._check_capture_mode()
        self.live["module"] -= 1

    def on_cuModuleGetFunction(self, module: int, name: bytes) -> tuple[int]:
        return (int.from_bytes(name[:7], "little"),)

    def on_cuOccupancyMaxActiveBlocksPerMultiprocessor(
        self, function: Any, threads: int, shared: int
    ) -> tuple[int]:
        return (1,)

    def on_cuFuncSetAttribute(self, function: Any, which: Any, value: int) -> None:
        self.attributes[which] = value

    def on_cuMemAlloc(self, size: int) -> tuple[int]:
        self._check_capture_mode()
        memory = ctypes.create_string_buffer(size + 512)
        start = ctypes.addressof(memory)
        pointer = start + -start % 256
        self._memory[pointer] = memory
        self.live["memory"] += 1
        return (pointer,)

    def on_cuMemFree(self, pointer: int) -> None:
        self._check_capture_mode()
        del self._memory[pointer]
        self.live["memory"] -= 1

    def on_cuMemcpyHtoDAsync(self, to: int, source: int, size: int, stream: int) -> None:
        ctypes.memmove(to, source, size)

    def on_cuMemcpyDtoHAsync(self, to: int, source: int, size: int, stream: int) -> None:
        ctypes.memmove(to, source, size)

    def on_cuMemsetD8Async(self, to: int, value: int, size: int, stream: int) -> None:
        ctypes.memset(to, value, size)

    def on_cuEventCreate(self, flags: int) -> tuple[int]:
        return self._handle("event")

    def on_cuEventDestroy(self, event: int) -> None:
        self.live["event"] -= 1

    def on_cuEventElapsedTime(self, start: int, end: int) -> tuple[float]:
        return (0.25,)

    def on_cuStreamCreate(self, flags: int) -> tuple[int]:
        return self._handle("stream")

    def on_cuStreamDestroy(self, stream: int) -> None:
        self.live["stream"] -= 1

    def on_cuStreamBeginCapture(self, stream: int, mode: Any) -> None:
        (self.captures[stream],) = self._handle("capture")

    def on_cuStreamIsCapturing(self, stream: int) -> tuple[Any]:
        statuses = bindings.CUstreamCaptureStatus
        return (statuses(int(stream in self.captures)),)

    def on_cuStreamGetCaptureInfo(self, stream: int) -> tuple[Any, ...]:
        return (*self.on_cuStreamIsCapturing(stream), self.captures[stream])

    def on_cuStreamEndCapture(self, stream: int) -> tuple[int]:
        del self.captures[stream]
        return self._handle("graph")

    def on_cuThreadExchangeStreamCaptureMode(self, mode: Any) -> tuple[Any]:
        before, self.capture_mode = self.capture_mode, mode
        return (before,)

    def on_cuGraphDestroy(self, graph: int) -> None:
        self.live["graph"] -= 1

    def on_cuGraphInstantiate(self, graph: int, flags: int) -> tuple[int]:
        return self._handle("executable graph")

    def on_cuGraphExecDestroy(self, graph: int) -> None:
        self.live["executable graph"] -= 1

    def on_cuGetProcAddress(self, name: bytes, version: int, flags: int) -> tuple[int, int]:
        assert name == b"cuTensorMapEncodeTiled"
        return ctypes.cast(self._encoder, ctypes.c_void_p).value or 0, 0

    def on_cuGetErrorName(self, status: Any) -> tuple[bytes]:
        return (status.name.encode(),)

    def on_cuGetErrorString(self, status: Any) -> tuple[bytes]:
        return (b"what the driver says",)

    def on_cuLaunchKernelEx(self, config: Any, function: Any, parameters: int, extra: int) -> None:
        self.launches.append(
            Launched(
                (config.gridDimX, config.gridDimY, config.gridDimZ),
                (config.blockDimX, config.blockDimY, config.blockDimZ),
                config.sharedMemBytes,
                int(config.hStream),
                function,
                parameters,
            )
        )
        self.effect(self.launches[-1])


def recording_driver(**options: Any) -> tuple[Driver, RecordingApi]:
    """Return a driver and its recording."""
    api = RecordingApi(**options)
    return Driver(api), api
