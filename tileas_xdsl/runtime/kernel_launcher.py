"""Launches of a compiled kernel on a GPU: load the code once, pass parameters as in PTX.

Arguments are checked before anything is launched.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import warnings
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Any, Protocol, cast

import numpy as np
from xdsl.dialects import func

from tileas_xdsl.backend.nvidia_tools import find_tool
from tileas_xdsl.backend.ptxas import Assembled
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.errors import ArgumentError
from tileas_xdsl.dialects.ptx.structure.control import EntryOp
from tileas_xdsl.frontend.signature import Parameter
from tileas_xdsl.interpreters.ptx import LaunchError, load
from tileas_xdsl.interpreters.ptx.arguments import scalar_bytes
from tileas_xdsl.interpreters.ptx.launch_sizes import check_grid
from tileas_xdsl.interpreters.tile.arguments import check
from tileas_xdsl.interpreters.tile.launch import grid_of
from tileas_xdsl.interpreters.tile.memory.argument_arrays import AddressTable
from tileas_xdsl.runtime.arguments.cutile_arguments import in_memory
from tileas_xdsl.runtime.arguments.launch_items import LaunchItems
from tileas_xdsl.runtime.arguments.strided_views import Array, is_same_view
from tileas_xdsl.runtime.arguments.view_arguments import check_views
from tileas_xdsl.runtime.cutile.gpu.flat_arguments import flat_arguments
from tileas_xdsl.runtime.gpu.array_copies import StagedArray, to_device
from tileas_xdsl.runtime.gpu.device import Device
from tileas_xdsl.runtime.gpu.device_arrays import DeviceArray, device_array, row_major_strides
from tileas_xdsl.runtime.gpu.driver import DriverError, TensorMapMemory
from tileas_xdsl.runtime.gpu.launch_memory import Allocation
from tileas_xdsl.runtime.gpu.streams import stream_reader
from tileas_xdsl.runtime.host_code import HostCode, scalar_word
from tileas_xdsl.target.arch import TARGETS, get_target, target_of_capability
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.kernel_abi import (
    ARENA,
    TENSOR_MAP,
    TILE_BLOCKS,
    TRANSFER,
    BoundTensorMap,
    KernelAbi,
)
from tileas_xdsl.target.launches.specializations import Grid, LaunchPredicate, suits
from tileas_xdsl.target.tma.tensor_map import L2_FETCHES
from tileas_xdsl.target.tma.tensor_map_bytes import SIZE
from tileas_xdsl.target.tma.tensor_map_rules import check_tensor_map

POINTER_ALIGNMENT = 16
"""Alignment of array addresses in bytes, unless a signature gives another."""

MAX_PREPARED = 64
"""Maximal number of cached launches with equal arguments."""


class CompiledKernel(Protocol):
    """The interface of a compiled kernel that a launch needs (`compiled_kernel.CompiledKernel`)."""

    @property
    def target(self) -> str:
        """The compilation target."""
        ...

    @property
    def host_code(self) -> bytes | None:
        """The object whose functions encode the tensor maps of the kernel."""
        ...

    @property
    def parameters(self) -> Sequence[Parameter] | None:
        """The parameters of a cuTile kernel; None for other kernels."""
        ...

    @property
    def operation(self) -> func.FuncOp | EntryOp:
        """The kernel as it was read: a function, or an entry of PTX."""
        ...

    @property
    def function(self) -> func.FuncOp:
        """The kernel as a function of tiles."""
        ...

    @property
    def abi(self) -> KernelAbi:
        """The kernel parameters in PTX."""
        ...

    @cached_property
    def ptx(self) -> str:
        """The PTX text."""
        ...

    @property
    def is_for_threads(self) -> bool:
        """Whether the kernel is thread-level IR."""
        ...

    def assemble(self, *, strict: bool) -> Assembled:
        """The machine code and its facts; slow code is a warning unless `strict`."""
        ...


class CopiedArrayWarning(UserWarning):
    """A numpy array is copied to the GPU and back, which takes longer than most kernels."""


class SlowCodeWarning(UserWarning):
    """`ptxas` compiled the code in a way that makes it slow."""


@dataclass
class _Prepared:
    """Launch parameters, ready for the driver."""

    block: ctypes.Array[ctypes.c_void_p]
    """Pointers to the parameter values."""
    keep: Sequence[object]
    """Objects that own the memory of the parameters and arguments."""

    @property
    def address(self) -> int:
        return ctypes.addressof(self.block)


@dataclass(frozen=True)
class _Given:
    """The arguments of the tile kernel, and the device arrays behind them."""

    flat: Sequence[Any]
    device_arrays: Mapping[int, DeviceArray]
    """Device arrays by the `id` of their stand-in in `flat`."""

    def pointer(self, value: Any) -> int | None:
        """Return the address of an array argument."""
        found = self.device_arrays.get(id(value))
        return None if found is None else found.pointer


class Launcher:
    """One kernel on one GPU; raises `DriverError` if the GPU cannot run it."""

    def __init__(self, kernel: CompiledKernel, device: Device) -> None:
        self.kernel, self.device, self.abi = kernel, device, kernel.abi
        wanted = divmod(get_target(kernel.target).capability, 10)
        if device.capability != wanted:
            raise DriverError(
                f"the kernel is compiled for {kernel.target}, compute capability "
                f"{wanted[0]}.{wanted[1]}; GPU {device.number} ({device.name}) has "
                f"{device.capability[0]}.{device.capability[1]}"
            )
        self._module = device.load(_image(kernel))
        self._function = self._module.function(
            self.abi.name, self.abi.shared_bytes, self.abi.cluster
        )
        self._parameters = (
            load(kernel.ptx, f"{self.abi.name}.ptx").kernels[self.abi.name].parameters
        )
        self._names = argument_names(kernel)
        self._host = None
        if kernel.host_code is not None:
            self._host = HostCode(kernel.host_code, self.abi.name)
        self._prepared: OrderedDict[object, _Prepared] = OrderedDict()
        self._lock = threading.Lock()

    @cached_property
    def _resident(self) -> int:
        """The CTAs of the kernel that run at once."""
        shape = self.abi.threads, self.abi.shared_bytes, self.abi.cluster
        return self.device.resident_ctas(self._function, *shape)

    def suits(self, predicate: LaunchPredicate, *, args: Sequence[Any], grid: Grid) -> bool:
        """Whether a predicate holds for a launch on this GPU."""
        return suits(predicate, args, grid, self.device.multiprocessors_of_clusters)

    def launch(self, args: Sequence[Any], grid: int | Sequence[int], stream: Any = None) -> None:
        """Launch on a stream (default: torch's for its tensors, else the driver's default).

        numpy arrays are copied, synchronized and copied back; with others the launch is
        asynchronous. Raises `ArgumentError`, `LaunchError` and `DriverError`.
        """
        tile_blocks, is_asked = grid_of(grid), self.abi.counts_tile_blocks
        resident = self._resident if is_asked else None
        counted = flat_arguments(self.kernel.parameters, args) if is_asked else ()
        extents = self.abi.ctas(tile_blocks, resident, counted)
        items = self._items(args)
        staged = self._staged(items, handle := stream_handle(stream, items.values))
        arrays = [
            staged[index].on_gpu if index in staged else device_array(value, name)
            for index, (value, name) in enumerate(zip(items.values, items.names, strict=False))
        ]
        prepared = self._parameters_of(items, arrays, (tile_blocks, extents), handle)
        self.device.launch(
            self._function,
            extents,
            (self.abi.threads, 1, 1),
            prepared.address,
            shared=self.abi.shared_bytes,
            stream=handle,
            overlaps=self.abi.waits_first,
        )
        if staged:
            self.device.synchronize(handle)
            for one in staged.values():
                one.read_back()

    # Arguments.

    def _items(self, args: Sequence[Any]) -> LaunchItems:
        if self.kernel.parameters is None:
            return LaunchItems.plain(self._names, args)
        return LaunchItems.of(self.kernel.parameters, args)

    def _staged(self, items: LaunchItems, stream: int) -> Mapping[int, StagedArray]:
        """Copy numpy arrays to the GPU once, with a warning; return them by index of the item."""
        found: dict[int, StagedArray] = {}
        takes = self.kernel.parameters is not None
        for index, (value, name) in enumerate(zip(items.values, items.names, strict=False)):
            if not isinstance(value, np.ndarray) or not value.ndim:
                continue
            if self.device.capture(stream):
                raise LaunchError(
                    f"'{name}' is an array of numpy's, which no graph copies: graphs are recorded "
                    "with arrays on the GPU"
                )
            array = cast("Array", value)
            same = (one for one in found.values() if is_same_view(one.array, array))
            staged = next(same, None)
            found[index] = staged or StagedArray(
                name, array, to_device(array, self.device, name, stream, keeps_strides=takes)
            )
        if found:
            names = ", ".join(f"'{items.names[index]}'" for index in found)
            text = f"{names}: arrays of numpy's are copied to the GPU and back"
            warnings.warn(text, CopiedArrayWarning, stacklevel=4)
        return found

    def _checked(self, items: LaunchItems, arrays: Sequence[DeviceArray | None]) -> _Given:
        """Return the arguments of the tile function after checking them."""
        device_arrays: dict[int, DeviceArray] = {}
        stand_ins: list[Any] = []
        alignments = items.alignments(POINTER_ALIGNMENT)
        for index, (value, found) in enumerate(zip(items.values, arrays, strict=True)):
            if found is not None:
                self._check_array(found, items.names[index], alignments[index])
            stand_ins.append(value if found is None else found.shadow)
            if found is not None:
                device_arrays[id(stand_ins[-1])] = found
        flat = items.flattened(stand_ins)
        if self.kernel.is_for_threads:
            check_views(self.kernel.operation, flat)
        else:
            check(self.kernel.function, self._as_checked(flat))
        self._check_row_major(flat, device_arrays)
        return _Given(flat, device_arrays)

    def _as_checked(self, flat: Sequence[Any]) -> Sequence[Any]:
        """Return the values to check against the function's types: of cuTile, the memory spans."""
        return flat if self.kernel.parameters is None else [*map(in_memory, flat)]

    def _check_array(self, found: DeviceArray, name: str, alignment: int) -> None:
        if found.device not in (None, self.device.number):
            raise ArgumentError(
                f"'{name}' is on GPU {found.device}; the launch is on GPU {self.device.number}"
            )
        if found.pointer % alignment:
            raise ArgumentError(
                f"'{name}' begins at {found.pointer:#x}, which is no multiple of {alignment} bytes"
            )

    def _check_row_major(
        self, flat: Sequence[Any], device_arrays: Mapping[int, DeviceArray]
    ) -> None:
        """Raise for arrays that are not row-major, where the kernel takes no strides."""
        if self.kernel.parameters is not None:
            return
        for name, value in zip(self._names, flat, strict=False):
            found = device_arrays.get(id(value))
            if found is not None and not found.is_row_major:
                raise ArgumentError(
                    f"'{name}' has strides of {found.strides} bytes; the kernel takes rows without "
                    f"gaps, {row_major_strides(found.shape, found.dtype.itemsize)}"
                )

    # Parameters.

    def _parameters_of(
        self,
        items: LaunchItems,
        arrays: Sequence[DeviceArray | None],
        grids: tuple[Grid, Grid],
        stream: int,
    ) -> _Prepared:
        """Return the parameters for these arguments, cached for recent launches.

        The grid is that of the program, in tile blocks, and the CTAs that run it.
        """
        pairs = zip(items.values, arrays, strict=True)
        order = self.device.launch_memory.order(stream)
        key = (order, grids, items.lengths, *(_key(value, found) for value, found in pairs))
        with self._lock:
            if key not in self._prepared:
                check_grid(grids[1], self.abi.cluster)
                if self.device.capture(stream):
                    self.device.launch_memory.keep(self._module)
                self._prepared[key] = self._prepare(self._checked(items, arrays), grids, stream)
                while len(self._prepared) > MAX_PREPARED:
                    self._prepared.popitem(last=False)
            self._prepared.move_to_end(key)
            return self._prepared[key]

    def _prepare(self, given: _Given, grids: tuple[Grid, Grid], stream: int) -> _Prepared:
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
        return _Prepared(pointers, keep)

    def _table(self, table: AddressTable, argument: int, given: _Given, stream: int) -> Allocation:
        """Return memory with address, extents and strides of each array of a list, and its maps."""
        rows = zip(table.arrays, table.words.tolist(), strict=True)
        addressed = tuple((given.pointer(array) or 0, *words[1:]) for array, words in rows)
        return self.device.launch_memory.table(addressed, self.abi.maps_of_list(argument), stream)

    def _parameter(self, name: str, parameter: Any, given: _Given) -> Any:
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
        is_plain = self.kernel.parameters is None and argument < len(self._names)
        return f"'{self._names[argument]}'" if is_plain else f"argument {argument}"

    def _maps_of_host(self, given: _Given) -> Sequence[bytes]:
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


def target_of(device: Device) -> str:
    """Return the target whose code a GPU runs; raises `DriverError` if there is none."""
    major, minor = device.capability
    if (found := target_of_capability(10 * major + minor)) is not None:
        return found.name
    text = f"GPU {device.number} ({device.name}) has compute capability {major}.{minor}"
    raise DriverError(f"{text}; kernels are compiled for {', '.join(TARGETS)}")


def _image(kernel: CompiledKernel) -> bytes:
    """Return machine code where ptxas is installed, else PTX for the driver to compile.

    What ptxas makes slow, by spills or serialised products, is a warning.
    """
    if find_tool("ptxas") is None:
        return kernel.ptx.encode() + b"\0"
    assembled = kernel.assemble(strict=False)
    for slow in assembled.warnings:
        warnings.warn(str(slow), SlowCodeWarning, stacklevel=5)
    return assembled.cubin


def _u64(number: int) -> ctypes.c_uint64:
    return ctypes.c_uint64(number)


def _key(value: object, found: DeviceArray | None) -> object:
    """What of an argument the parameters depend on."""
    if found is not None:
        return found.pointer, found.shape, found.strides, found.dtype, found.device
    return type(value).__name__, np.asarray(value).tobytes()


def argument_names(kernel: CompiledKernel) -> Sequence[str]:
    """Return the names of a kernel's arguments in the source."""
    if kernel.parameters is not None:
        return [parameter.name for parameter in kernel.parameters]
    arguments = kernel.operation.body.blocks[0].args
    return [argument.name_hint or f"argument {n}" for n, argument in enumerate(arguments)]


def stream_handle(stream: Any, args: Sequence[Any] = ()) -> int:
    """Return the driver handle of a stream; None is the current one.

    Streams are those of torch, cupy, numba and cuda-core; raises `ArgumentError` for other objects.
    """
    if stream is None:
        return _torch_stream(args)
    if (read := stream_reader(stream)) is not None:
        return read(stream)
    raise ArgumentError(
        f"a stream is one of torch, cupy, numba, cuda-core or a number, not {stream!r}"
    )


def _torch_stream(args: Sequence[Any]) -> int:
    """Return torch's current stream if an argument is its tensor, else the default stream."""
    torch = sys.modules.get("torch")
    tensors = [value for value in args if hasattr(value, "data_ptr")]
    if torch is None or not tensors or torch.version.cuda is None:  # torch for CPUs has no streams
        return 0
    return int(torch.cuda.current_stream(tensors[0].device).cuda_stream)
