"""A GPU that records launches: it reads what the driver would read."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.runtime.gpu.driver import TensorMapMemory
from tileas_xdsl.runtime.gpu.launch_api import CONFIG
from tileas_xdsl.target.kernel_abi import TensorMapRecipe
from tileas_xdsl.target.tma.tensor_map import TensorMap
from tileas_xdsl.target.tma.tensor_map_bytes import encode

BANK = 0x210
"""Bytes of the constant bank before the parameters, on sm_90."""

SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}


@dataclass
class Launched:
    """What the driver was given."""

    grid: tuple[int, ...]
    threads: int
    shared: int
    stream: int
    attributes: int
    parameters: Sequence[bytes]

    def numbers(self) -> Sequence[int]:
        """The parameters that are no tensor maps, as integers."""
        return [int.from_bytes(p, "little") for p in self.parameters if len(p) <= 8]


@dataclass
class RecordingGpu:
    """A GPU that launches nothing; `statuses` are what its next launches return."""

    functions: list[Sequence[str]] = field(default_factory=list[Sequence[str]])
    """The types of the parameters of each kernel."""
    launches: list[Launched] = field(default_factory=list[Launched])
    encoded: list[TensorMap] = field(default_factory=list[TensorMap])
    tables: list[Any] = field(default_factory=list[Any])
    statuses: list[int] = field(default_factory=list[int])
    captures: dict[int, int] = field(default_factory=dict[int, int])
    """By stream, the number of the capture that it is recorded in."""
    retries: int = 0
    unused: int = 0x90000
    multiprocessors: int = 132

    def multiprocessors_of_clusters(self, count: int) -> int:
        """As an H200 has them: in groups of 16 and 18, and two of fewer."""
        return self.multiprocessors if count < 4 else self.multiprocessors - 12

    def function(self, executable: Executable) -> tuple[int, Sequence[int]]:
        self.functions.append(executable.parameter_types)
        return len(self.functions), self._offsets(self.functions[-1])

    def _offsets(self, types: Sequence[str]) -> Sequence[int]:
        """Return the offsets of the driver: aligned with what precedes the block in the bank."""
        found, end = list[int](), BANK
        for kind in types:
            size = _size(kind)
            begin = align_up(end, 64 if kind.endswith("]") else size)
            found.append(begin - BANK)
            end = begin + size
        return found

    def resident(self, executable: Executable) -> int:
        return 132

    def launch(self, config: int, function: int, parameters: int, extra: int, /) -> int:
        assert parameters == 0
        if self.statuses and (status := self.statuses.pop(0)):
            return status
        found = CONFIG.unpack(ctypes.string_at(config, CONFIG.size))
        pointer, block, size, count, end = (ctypes.c_void_p * 5).from_address(extra)
        assert (pointer, size, end) == (1, 2, None)
        bytes_ = ctypes.string_at(block or 0, ctypes.c_size_t.from_address(count or 0).value)
        stream, attributes = found[7], found[9]
        data = self._parameters(bytes_, self.functions[function - 1])
        self.launches.append(Launched(found[:3], found[3], found[6], stream, attributes, data))
        return 0

    def _parameters(self, block: bytes, types: Sequence[str]) -> Sequence[bytes]:
        """Return the bytes of each parameter."""
        offsets = self._offsets(types)
        found = [
            block[offset : offset + _size(kind)]
            for offset, kind in zip(offsets, types, strict=True)
        ]
        assert not types or len(block) == offsets[-1] + _size(types[-1])
        return found

    def encode(self, tensor_map: TensorMap) -> TensorMapMemory:
        self.encoded.append(tensor_map)
        return TensorMapMemory(encode(tensor_map))

    def arena(self, size: int, stream: int) -> int:
        return size + (stream << 40)

    def is_ordered(self, stream: int) -> bool:
        return not self.captures.get(stream, 0)

    def transfer_memory(self, size: int, stream: int) -> int:
        return size + (stream << 40) + (self.captures.get(stream, 0) << 48)

    def table(self, rows: Any, recipes: Sequence[TensorMapRecipe], stream: int) -> int:
        self.tables.append(rows)
        return 0x7000

    def measure(self, launch: Callable[[], None], stream: int, flush: bool) -> float:
        launch()
        return 12.5 + flush

    def retry(self, launch: Callable[[], int], status: int) -> None:
        self.retries += 1
        if launch():
            raise RuntimeError(f"Failed to launch cuTile kernel: {status}")


def _size(kind: str) -> int:
    if kind.endswith("]"):
        return int(kind.partition("[")[2][:-1])
    return SIZES[kind.lstrip("usbf")]


class Tensor:
    """As much of a tensor of torch on a GPU as launches read."""

    requires_grad = True

    def __init__(
        self, address: int, shape: Sequence[int], dtype: str = "float32", device: int = 0
    ) -> None:
        self.address, self.shape, self.device_index = address, tuple(shape), device
        self.dtype = f"torch.{dtype}"
        self.strides = tuple(_packed(shape))

    def data_ptr(self) -> int:
        return self.address

    def stride(self) -> tuple[int, ...]:
        return self.strides

    def element_size(self) -> int:
        return {"float32": 4, "float16": 2, "int32": 4}[self.dtype.removeprefix("torch.")]

    def get_device(self) -> int:
        return self.device_index

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0) if self.device_index < 0 else (2, self.device_index)


def _packed(shape: Sequence[int]) -> Sequence[int]:
    found = [1]
    for extent in reversed(shape[1:]):
        found.insert(0, found[0] * extent)
    return found[: len(shape)]
