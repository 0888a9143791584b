"""Parameters of a launch as the driver takes them: a block of pointers to values.

Tensor maps are encoded for the addresses of arrays, lists of arrays become tables in the memory of
the GPU, and what CTAs have of their own is allocated (`launch_memory`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx import LaunchError, load
from tileas_xdsl.interpreters.ptx.arguments import scalar_bytes
from tileas_xdsl.interpreters.tile.memory.argument_arrays import AddressTable
from tileas_xdsl.runtime.gpu.device import Device
from tileas_xdsl.runtime.gpu.device_arrays import DeviceArray
from tileas_xdsl.runtime.gpu.driver import TensorMapMemory
from tileas_xdsl.runtime.gpu.launch_memory import Allocation
from tileas_xdsl.runtime.host_code import HostCode, scalar_word
from tileas_xdsl.runtime.launchable import CompiledKernel
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.kernel_abi import (
    ARENA,
    TENSOR_MAP,
    TILE_BLOCKS,
    TRANSFER,
    BoundTensorMap,
)
from tileas_xdsl.target.launches.specializations import Grid
from tileas_xdsl.target.tma.tensor_map import L2_FETCHES
from tileas_xdsl.target.tma.tensor_map_bytes import SIZE
from tileas_xdsl.target.tma.tensor_map_rules import check_tensor_map


@dataclass
class PreparedBlock:
    """Launch parameters, ready for the driver."""

    block: ctypes.Array[ctypes.c_void_p]
    """Pointers to the parameter values."""
    keep: Sequence[object]
    """Objects that own the memory of the parameters and arguments."""

    @property
    def address(self) -> int:
        return ctypes.addressof(self.block)


@dataclass(frozen=True)
class CheckedArguments:
    """The arguments of the tile kernel, and the device arrays behind them."""

    flat: Sequence[Any]
    device_arrays: Mapping[int, DeviceArray]
    """Device arrays by the `id` of their stand-in in `flat`."""

    def pointer(self, value: Any) -> int | None:
        """Return the address of an array argument."""
        found = self.device_arrays.get(id(value))
        return None if found is None else found.pointer


class LaunchParameters:
    """The parameters of a kernel on a GPU, and how their values follow from arguments."""

    def __init__(self, kernel: CompiledKernel, device: Device, names: Sequence[str]) -> None:
        """`names` are those of the arguments in the source."""
        self.device, self.abi = device, kernel.abi
        self._names = names if kernel.parameters is None else ()
        self._parameters = (
            load(kernel.ptx, f"{self.abi.name}.ptx").kernels[self.abi.name].parameters
        )
        self._host = None
        if kernel.host_code is not None:
            self._host = HostCode(kernel.host_code, self.abi.name)

    def prepared(
        self, given: CheckedArguments, grids: tuple[Grid, Grid], stream: int
    ) -> PreparedBlock:
        """Return the block for arguments and a grid: that in tile blocks, and the CTAs."""
        tile_blocks, ctas = grids
        maps = self._maps_of_host(given)
        keep: list[object] = []
        pointers = (ctypes.c_void_p * len(self.abi.parameters))()
        pairs = zip(self.abi.parameters, self._parameters, strict=True)
        for index, (name, parameter) in enumerate(pairs):
            if maps and name.startswith(TENSOR_MAP):
                value: Any = TensorMapMemory(maps[int(name.split()[-1])])
            elif name in (ARENA, TRANSFER):
                value = _u64(self._memory(name, ctas, stream))
            elif name.startswith(TILE_BLOCKS):
                value = ctypes.c_uint32(tile_blocks[int(name.split()[-1])])
            elif isinstance(table := self.abi.value(name, given.flat), AddressTable):
                keep.append(memory := self._table(table, int(name.split()[-1]), given, stream))
                value = _u64(memory.pointer)
            else:
                value = self._parameter(name, parameter, given)
            keep.append(value)
            is_map = isinstance(value, TensorMapMemory)
            pointers[index] = value.address if is_map else ctypes.addressof(value)
        return PreparedBlock(pointers, keep)

    def _table(
        self, table: AddressTable, argument: int, given: CheckedArguments, stream: int
    ) -> Allocation:
        """Return memory with address, extents and strides of each array of a list, and its maps."""
        rows = zip(table.arrays, table.words.tolist(), strict=True)
        addressed = tuple((given.pointer(array) or 0, *words[1:]) for array, words in rows)
        return self.device.launch_memory.table(addressed, self.abi.maps_of_list(argument), stream)

    def _parameter(self, name: str, parameter: Any, given: CheckedArguments) -> Any:
        """Return a pointer to the value of a parameter."""
        value = self.abi.value(name, given.flat)
        if isinstance(value, BoundTensorMap):
            pointer = given.pointer(given.flat[value.argument])
            if value.is_of_nothing:
                pointer = self.device.unused
            assert pointer is not None
            found = replace(
                value.tensor_map,
                address=pointer + value.tensor_map.address,
                l2_promotion=L2_FETCHES,
            )
            try:
                check_tensor_map(found)
            except TargetError as error:
                raise LaunchError(f"{self._title(value.argument)}: {error}") from error
            return self.device.encode(found)
        pointer = given.pointer(value)
        if pointer is not None:
            return _u64(pointer)
        data = scalar_bytes(parameter, value, f"'{parameter.name}'")
        return ctypes.create_string_buffer(data, len(data))

    def _title(self, argument: int) -> str:
        is_plain = argument < len(self._names)
        return f"'{self._names[argument]}'" if is_plain else f"argument {argument}"

    def _maps_of_host(self, given: CheckedArguments) -> Sequence[bytes]:
        """Return the tensor maps that host code encodes for the arguments."""
        if self._host is None:
            return ()
        own = TENSOR_MAP, ARENA, TRANSFER
        names = [name for name in self.abi.parameters if not name.startswith(own)]
        values = [self.abi.value(name, given.flat) for name in names]
        pairs = [(value, given.pointer(value)) for value in values]
        return self._host.encode([scalar_word(value) if at is None else at for value, at in pairs])

    def _memory(self, name: str, ctas: Grid, stream: int) -> int:
        """Return what CTAs have of their own, or transfer tiles by."""
        memory = self.device.launch_memory
        if name == ARENA:
            return memory.arena(prod(ctas) * self.abi.arena_slots * SIZE, stream)
        return memory.transfer(self.abi.transfer_size(ctas), stream)


def _u64(number: int) -> ctypes.c_uint64:
    return ctypes.c_uint64(number)
