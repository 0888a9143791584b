"""Launches of one kernel with arguments of one shape: what a launch changes is written in place.

A block of memory holds the parameters as the driver copies them (`parameter_block`), another one
the grid, the stream and the sizes of the launch.  A launch fills the first, changes the second if
grid or stream are others than before, and calls the driver.
"""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.runtime.cutile.gpu.parameter_block import Changing, FlatValue, ParameterBlock
from tileas_xdsl.runtime.cutile.grids import checked_grid
from tileas_xdsl.runtime.gpu.driver import TensorMapMemory
from tileas_xdsl.runtime.gpu.launch_api import (
    CONFIG,
    LaunchFunction,
    capturing_address,
    function_address,
    programmatic_attribute,
)
from tileas_xdsl.target.kernel_abi import TRANSFER, TensorMapRecipe
from tileas_xdsl.target.launches.few_tile_blocks import ANY_NUMBER, NO_NUMBER
from tileas_xdsl.target.tma.tensor_map import L2_FETCHES, TensorMap
from tileas_xdsl.target.tma.tensor_map_bytes import SIZE


class Start(Protocol):
    """How a plan launches."""

    def __call__(
        self,
        grid: tuple[int, ...],
        stream: int,
        values: tuple[Any, ...],
        args: tuple[Any, ...] = ...,
    ) -> None:
        """Launch."""
        ...


class PlanDevice(Protocol):
    """What a plan needs of a GPU."""

    launch: LaunchFunction

    @property
    def unused(self) -> int:
        """The address of `UNUSED_BYTES` that maps of empty arrays describe an element of."""
        ...

    def function(self, executable: Executable) -> tuple[int, Sequence[int]]:
        """Load the code; return the handle of the kernel, and the offsets of its parameters."""
        ...

    def resident(self, executable: Executable) -> int:
        """Return how many CTAs of a kernel run at once."""
        ...

    def encode(self, tensor_map: TensorMap) -> TensorMapMemory:
        """Encode a tensor map."""
        ...

    def table(self, rows: Any, recipes: Sequence[TensorMapRecipe], stream: int) -> int:
        """Return the address of a table of arrays, with such maps of each."""
        ...

    def arena(self, size: int, stream: int) -> int:
        """Return the address of memory for tensor maps that blocks of a launch write."""
        ...

    def is_ordered(self, stream: int) -> bool:
        """Whether launches by the handle of a stream follow one another, none of them recorded."""
        ...

    def transfer_memory(self, size: int, stream: int) -> int:
        """Return the address of memory, at first zeros, through which CTAs transfer tiles."""
        ...

    def measure(self, launch: Callable[[], None], stream: int, flush: bool) -> float:
        """Return the microseconds that a launch takes."""
        ...

    def retry(self, launch: Callable[[], int], status: int) -> None:
        """Repeat a launch that failed in the context of the GPU; raise if it fails again."""
        ...


class LaunchPlan:
    """A kernel on one GPU for arguments that differ in addresses and numbers only.

    Threads may share it: a lock is held while its memory is written and handed to the driver, which
    copies the parameters before it returns.
    """

    def __init__(
        self,
        executable: Executable,
        device: PlanDevice,
        flat: Sequence[FlatValue],
        *,
        programmatic: bool = False,
        tile_blocks: range = ANY_NUMBER,
    ) -> None:
        """Prepare launches; of grids of other numbers of tile blocks, C makes that of one."""
        self.has_launched = False
        """Whether a launch was made here, which C can make again."""
        self._limits = tile_blocks.start, tile_blocks.stop - 1
        self._executable, self._device, self._flat = executable, device, flat
        self._abi = executable.abi
        may_overlap = programmatic or self._abi.waits_first
        self._attribute = programmatic_attribute() if may_overlap else None
        self._function, offsets = device.function(executable)
        self._of_stream = bool(self._abi.arena_slots) or TRANSFER in self._abi.parameters
        self._resident = device.resident(executable) if self._abi.counts_tile_blocks else None
        self._launch = device.launch
        self._lock = threading.Lock()
        self._config = ctypes.create_string_buffer(CONFIG.size)
        self._config_address = ctypes.addressof(self._config)
        self._tables = {
            value.index: self._abi.maps_of_list(position)
            for position, value in enumerate(flat)
            if isinstance(value, Changing) and value.kind == "table"
        }
        self._block = ParameterBlock(
            self._abi, executable.parameter_types, offsets, flat, self._encoded
        )
        self.start = self._starter()
        """Launch; `values` are the addresses and numbers in order, `args` are not looked at.

        Raises `ValueError`, `OverflowError` and `LaunchError`, as cuTile does.
        """

    def native(self, make: Callable[..., Any]) -> Any:
        """Return a `Launch` of the C launcher that `make` makes, after a first launch in Python.

        None where each launch has work for Python: tables of arrays.  Where CTAs count the tile
        blocks of a grid, or have memory of their own, it is for the grid of that launch alone; that
        memory is a stream's, or that of a graph, which Python records.
        """
        abi, block, enqueue = self._abi, self._block, function_address(self._launch)
        if enqueue is None or self._tables:
            return None
        of_stream, capturing = self._of_stream, capturing_address() if self._of_stream else 0
        of_grid = of_stream or abi.counts_tile_blocks
        limits = (NO_NUMBER.start, NO_NUMBER.stop - 1) if of_grid else self._limits
        ctas = 0 if of_grid else abi.tile_block_ctas
        with self._lock:  # Another thread may launch on another stream, or for a graph.
            if not self.has_launched:
                return None
            config, content, grid = self._config.raw, block.content, tuple(block.tile_blocks)
        places = config, self._function, enqueue, ctas, limits, grid, of_stream, capturing, content
        return make(*places, tuple(block.numbers), tuple(block.maps), self)

    def _starter(self) -> Start:
        """Return `start`: all that it needs is in variables of a closure, not in attributes."""
        lock, launch, fill, tables = self._lock, self._launch, self._block.fill, self._tables
        config, function, extra = self._config_address, self._function, self._block.address
        of_stream, is_ordered = self._of_stream, self._device.is_ordered
        last_grid: Any = None
        last_stream: Any = None

        def start(
            grid: tuple[int, ...],
            stream: int,
            values: tuple[Any, ...],
            args: tuple[Any, ...] = (),
        ) -> None:
            nonlocal last_grid, last_stream
            if tables:
                values = self._with_tables(values, stream)
            is_single = of_stream and not is_ordered(stream)
            with lock:
                if (
                    is_single
                    or stream != last_stream
                    or (grid is not last_grid and grid != last_grid)
                ):
                    last_stream = None
                    self._configure(grid, stream)
                    self.has_launched = not is_single
                    last_grid, last_stream = grid, None if is_single else stream
                try:
                    fill(*values)
                except struct.error as error:
                    raise _overflow(error) from None
                status = launch(config, function, 0, extra)
            if status:
                self._repeat(grid, stream, values, status)

        return start

    def measure(
        self,
        grid: tuple[int, ...],
        stream: int,
        values: tuple[Any, ...],
        args: tuple[Any, ...],
        *,
        flush: bool,
    ) -> float:
        """Launch and wait; return the microseconds between two events."""
        return self._device.measure(lambda: self.start(grid, stream, values, args), stream, flush)

    def _with_tables(self, values: tuple[Any, ...], stream: int) -> tuple[Any, ...]:
        """Replace the rows of lists of arrays by the addresses of their tables."""
        return tuple(
            value
            if (recipes := self._tables.get(index)) is None
            else self._device.table(value, recipes, stream)
            for index, value in enumerate(values)
        )

    def _encoded(self, recipe: TensorMapRecipe, address: int) -> bytes:
        return self._device.encode(self._tensor_map(recipe, address)).data

    def _tensor_map(self, recipe: TensorMapRecipe, address: int) -> TensorMap:
        found = recipe.described(self._flat)
        if recipe.is_of_nothing(self._flat):
            address = self._device.unused
        return replace(found, address=address + found.address, l2_promotion=L2_FETCHES)

    def _configure(self, grid: tuple[int, ...], stream: int) -> None:
        """Write the launch configuration."""
        self.has_launched = True
        self._block.tile_blocks[:] = tile_blocks = checked_grid(grid)
        x, y, z = self._abi.ctas(tile_blocks, self._resident, self._flat)
        attribute = 0 if self._attribute is None else ctypes.addressof(self._attribute)
        abi = self._abi
        block = (abi.threads, 1, 1, abi.shared_bytes)
        CONFIG.pack_into(self._config, 0, x, y, z, *block, stream, attribute, int(attribute != 0))
        if abi.arena_slots:
            size = x * y * z * abi.arena_slots * SIZE
            self._block.arena[0] = self._device.arena(size, stream)
        if size := abi.transfer_size((x, y, z)):
            self._block.transfer[0] = self._device.transfer_memory(size, stream)

    def _repeat(
        self, grid: tuple[int, ...], stream: int, values: tuple[Any, ...], status: int
    ) -> None:
        """Launch again in the GPU's own context, which need not be the thread's."""

        def launch() -> int:
            with self._lock:
                self._configure(grid, stream)
                self._block.fill(*values)
                return self._launch(self._config_address, self._function, 0, self._block.address)

        self._device.retry(launch, status)


def _overflow(error: struct.error) -> OverflowError:
    return OverflowError(f"Python int too large to convert to C int: {error}")
