"""Launches of a compiled kernel on a GPU: load the code once, pass parameters as in PTX.

Arguments are checked before anything is launched.
"""

from __future__ import annotations

import threading
import warnings
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np

from tileas_xdsl.backend.nvidia_tools import find_tool
from tileas_xdsl.diagnostics.errors import ArgumentError
from tileas_xdsl.interpreters.ptx import LaunchError
from tileas_xdsl.interpreters.ptx.launch_sizes import check_grid
from tileas_xdsl.interpreters.tile.arguments import check
from tileas_xdsl.interpreters.tile.launch import grid_of
from tileas_xdsl.runtime.arguments.cutile_arguments import in_memory
from tileas_xdsl.runtime.arguments.launch_items import LaunchItems
from tileas_xdsl.runtime.arguments.strided_views import Array, is_same_view
from tileas_xdsl.runtime.arguments.view_arguments import check_views
from tileas_xdsl.runtime.cutile.gpu.flat_arguments import flat_arguments
from tileas_xdsl.runtime.gpu.array_copies import StagedArray, to_device
from tileas_xdsl.runtime.gpu.device import Device
from tileas_xdsl.runtime.gpu.device_arrays import DeviceArray, device_array, row_major_strides
from tileas_xdsl.runtime.gpu.driver import DriverError
from tileas_xdsl.runtime.gpu.streams import stream_handle
from tileas_xdsl.runtime.launch_parameters import CheckedArguments, LaunchParameters, PreparedBlock
from tileas_xdsl.runtime.launchable import CompiledKernel, argument_names
from tileas_xdsl.target.arch import TARGETS, get_target, target_of_capability
from tileas_xdsl.target.launches.specializations import Grid, LaunchPredicate, suits

POINTER_ALIGNMENT = 16
"""Alignment of array addresses in bytes, unless a signature gives another."""

MAX_PREPARED = 64
"""Maximal number of cached launches with equal arguments."""


class CopiedArrayWarning(UserWarning):
    """A numpy array is copied to the GPU and back, which takes longer than most kernels."""


class SlowCodeWarning(UserWarning):
    """`ptxas` compiled the code in a way that makes it slow."""


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
        self._names = argument_names(kernel)
        self._parameters = LaunchParameters(kernel, device, self._names)
        self._prepared: OrderedDict[object, PreparedBlock] = OrderedDict()
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

    def _checked(
        self, items: LaunchItems, arrays: Sequence[DeviceArray | None]
    ) -> CheckedArguments:
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
        return CheckedArguments(flat, device_arrays)

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
    ) -> PreparedBlock:
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
                given = self._checked(items, arrays)
                self._prepared[key] = self._parameters.prepared(given, grids, stream)
                while len(self._prepared) > MAX_PREPARED:
                    self._prepared.popitem(last=False)
            self._prepared.move_to_end(key)
            return self._prepared[key]


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


def _key(value: object, found: DeviceArray | None) -> object:
    """What of an argument the parameters depend on."""
    if found is not None:
        return found.pointer, found.shape, found.strides, found.dtype, found.device
    return type(value).__name__, np.asarray(value).tobytes()
