"""The CUDA runtime as compiled host code of a kernel library sees it: launches are recorded.

Host code computes grids, parameters and tensor maps and calls the CUDA runtime; here it calls
`HostRuntime`, which keeps of each launch what a GPU would get, and checks it afterwards.  Addresses
of tensors in parameters, plain or within structures and tensor maps, become those of the emulator.

Source: CUDA runtime API, `cudaLaunchConfig_t`, `cudaLaunchAttribute`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.check.capture.host_memory import POINTER, HostMemory
from tileas_xdsl.check.capture.launch_capture import CaptureSettings
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx import LateArg, LaunchError, PtxModule, TensorMapArg, load
from tileas_xdsl.interpreters.ptx.parsing.syntax import Parameter
from tileas_xdsl.target.costs.latencies import latencies
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.tma.tensor_map_bytes import HEADER_OFFSET, SIZE, TAIL_OFFSET, decode

CLUSTER_DIMENSION = 4
"""`cudaLaunchAttributeClusterDimension`."""
MULTIPROCESSORS, SHARED_PER_BLOCK = 16, 97
"""`cudaDevAttrMultiProcessorCount`, `cudaDevAttrMaxSharedMemoryPerBlockOptin`."""
NOT_SUPPORTED = 801
"""`cudaErrorNotSupported`."""


class _Attribute(ctypes.Structure):
    """`cudaLaunchAttribute`."""

    _fields_ = (
        ("id", ctypes.c_int32),
        ("pad", ctypes.c_int32),
        ("dim", ctypes.c_uint32 * 3),
        ("rest", ctypes.c_uint8 * 52),
    )


class _Config(ctypes.Structure):
    """`cudaLaunchConfig_t`."""

    _fields_ = (
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared", ctypes.c_size_t),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(_Attribute)),
        ("count", ctypes.c_uint32),
    )


@dataclass(frozen=True)
class _Kernel:
    """A kernel of a compiled function."""

    text: str
    module: PtxModule
    name: str


@dataclass(frozen=True)
class _Launch:
    """What host code passed to a launch."""

    kernel: _Kernel
    grid: Sequence[int]
    block: Sequence[int]
    cluster: Sequence[int] | None
    shared: int
    parameters: Sequence[bytes]


@dataclass
class HostRuntime:
    """The CUDA runtime as compiled host code sees it; nothing is executed."""

    settings: CaptureSettings
    texts: dict[str, PtxModule] = field(default_factory=dict[str, PtxModule])
    loading: str = ""
    """The PTX whose kernels are asked for."""
    kernels: list[_Kernel] = field(default_factory=list[_Kernel])
    launches: list[_Launch] = field(default_factory=list[_Launch])
    """Those that have not been checked."""
    failure: Exception | None = None
    """What a function raised."""

    @contextmanager
    def in_host_code(self) -> Generator[None]:
        """Raise what a function raised, rather than the error that host code makes of it."""
        self.failure = None
        try:
            yield
        except Exception as error:
            raise self.failure or error from None

    @property
    def functions(self) -> Mapping[str, Any]:
        """By name, C functions that host code links to; all return a `cudaError_t`."""
        return {name: self._callback(call) for name, call in self._calls.items()}

    @property
    def _calls(self) -> Mapping[str, Callable[..., int]]:
        return {
            "_cudaLibraryLoadData": self._load_library,
            "_cudaLibraryGetKernel": self._get_kernel,
            "_cudaLaunchKernelEx": self._launch,
            "_cudaGetDevice": self._zero,
            "_cuKernelGetAttribute": self._zero,
            "_cudaDeviceGetAttribute": self._device_attribute,
            "_cudaFuncSetAttribute": self._nothing,
            "_cudaKernelSetAttributeForDevice": self._nothing,
        }

    def _callback(self, function: Callable[..., int]) -> Any:
        """Return a C function; those of fewer arguments ignore the last ones.

        C cannot pass on an exception: it is kept, and host code sees an error.
        """

        def called(*values: int | None) -> int:
            try:
                return function(*values)
            except Exception as error:
                self.failure = error
                return NOT_SUPPORTED

        return ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 4)(called)

    def _nothing(self, *_: int | None) -> int:
        return 0

    def _zero(self, result: int, *_: int | None) -> int:
        ctypes.c_int32.from_address(result).value = 0
        return 0

    def _device_attribute(self, result: int, attribute: int, *_: int | None) -> int:
        target = self.settings.target
        known = {
            MULTIPROCESSORS: latencies(target.name).multiprocessors,
            SHARED_PER_BLOCK: target.shared_memory_per_block,
        }
        if attribute not in known:
            return NOT_SUPPORTED
        ctypes.c_int32.from_address(result).value = known[attribute]
        return 0

    def _load_library(self, result: int, *_: int | None) -> int:
        ctypes.c_void_p.from_address(result).value = 1
        return 0

    def _get_kernel(self, result: int, _library: int, name: int, *_: int | None) -> int:
        text = self.loading
        module = self.texts.setdefault(text, load(text, "cute_dsl.ptx"))
        self.kernels.append(_Kernel(text, module, ctypes.string_at(name).decode()))
        ctypes.c_void_p.from_address(result).value = len(self.kernels)
        return 0

    def _launch(self, config: int, handle: int, values: int, *_: int | None) -> int:
        made = _Config.from_address(config)
        kernel = self.kernels[handle - 1]
        attributes = (made.attributes[i] for i in range(made.count))
        cluster = next((a.dim for a in attributes if a.id == CLUSTER_DIMENSION), None)
        entry = kernel.module.kernels[kernel.name]
        addresses = (ctypes.c_void_p * len(entry.parameters)).from_address(values)
        self.launches.append(
            _Launch(
                kernel,
                list(made.grid),
                list(made.block),
                None if cluster is None else list(cluster),
                made.shared,
                [
                    ctypes.string_at(address, parameter.size)
                    for address, parameter in zip(addresses, entry.parameters, strict=True)
                ],
            )
        )
        return 0

    def check(self, memory: HostMemory) -> None:
        """Check what has been launched; the tensors hold the results afterwards."""
        launches, self.launches = self.launches, []
        for launch in launches:
            kernel = launch.kernel
            parameters = kernel.module.kernels[kernel.name].parameters
            values = [
                _value(data, parameter, memory)
                for data, parameter in zip(launch.parameters, parameters, strict=True)
            ]
            self.settings.check(
                kernel.text,
                kernel.module,
                kernel.name,
                launch.grid,
                launch.block,
                values,
                cluster=launch.cluster,
                shared=launch.shared,
            )


def _value(data: bytes, parameter: Parameter, memory: HostMemory) -> Any:
    """Return a parameter as the emulator takes it: what are addresses of tensors stays one."""
    pointers = dict(_pointers(data, memory))
    if not pointers:
        return data if parameter.is_array else int.from_bytes(data, "little")
    array, offset = next(iter(pointers.values()))
    if len(data) == POINTER and not offset:
        return array
    if len(data) == SIZE and 0 in pointers:
        try:
            return TensorMapArg(replace(decode(_as_of_driver(data)), address=offset), array)
        except TargetError as error:
            raise LaunchError(f"parameter '{parameter.name}': {error}") from None

    def made(bases: Sequence[int]) -> bytes:
        words = bytearray(data)
        for base, (at, (_, within)) in zip(bases, pointers.items(), strict=True):
            words[at : at + POINTER] = (base + within).to_bytes(POINTER, "little")
        return bytes(words)

    return LateArg([array for array, _ in pointers.values()], made)


def _as_of_driver(data: bytes) -> bytes:
    """Return a tensor map that host code made as the driver makes it.

    Host code of the DSL (4.8) writes the fields itself: it sets bit 1 of the word at byte 8 and
    leaves the bytes from 64 on, of which TMA reads nothing, as the stack was.
    """
    header = data[HEADER_OFFSET] & ~2
    return (
        data[:HEADER_OFFSET]
        + bytes([header])
        + data[HEADER_OFFSET + 1 : TAIL_OFFSET].ljust(SIZE - HEADER_OFFSET - 1, b"\0")
    )


def _pointers(
    data: bytes, memory: HostMemory
) -> Iterator[tuple[int, tuple[NDArray[np.uint8], int]]]:
    """By offset in a parameter, the tensor that an address is in, and the byte of it."""
    for at in range(0, len(data) - POINTER + 1, POINTER):
        found = memory.find(int.from_bytes(data[at : at + POINTER], "little"))
        if found is not None:
            yield at, found
