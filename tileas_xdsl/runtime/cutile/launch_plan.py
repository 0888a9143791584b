"""Launches of one kernel with arguments of one shape: what a launch changes is written in place.

The parameters of a launch are cells of memory that the driver is given pointers to.  Extents and
strides are in cells that are written once.  Addresses and numbers are packed by one `struct`, in
the order in which `argument_keys` reads them off the arguments.  Tensor maps are encoded once for
each address:

    pointers   -> [ cell 0 | cell 1 | ... ]       given to the driver
    changing   =  { address of a, address of b, n, ... }    one `pack_into` a launch
    fixed      =  { extents and strides }                   written once
    maps       =  { 128 bytes each }                        looked up by address
"""

from __future__ import annotations

import ctypes
import struct
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Literal, Protocol, TypeAlias, cast

from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.runtime.gpu.driver import TensorMapMemory
from tileas_xdsl.runtime.gpu.launch_api import CONFIG, LaunchFunction, programmatic_attribute
from tileas_xdsl.target.kernel_abi import ARENA, TENSOR_MAP, TensorMapRecipe
from tileas_xdsl.target.tma.tensor_map import TensorMap
from tileas_xdsl.target.tma.tensor_map_bytes import SIZE

MAX_BLOCKS = (1 << 24) - 1
"""Blocks along an axis of a grid, as cuTile has it."""

MAX_ENCODED = 256
"""Maximal number of cached tensor maps of a plan."""

PROMOTION = "256B"
"""L2 promotion of tensor maps: the granularity of L2 fetches."""

_CELL = 8
"""Bytes of a cell."""

_FORMATS = {
    "f16": "e6x",
    "f32": "f4x",
    "f64": "d",
    **{f"{kind}8": "b7x" for kind in "usb"},
    **{f"{kind}16": "h6x" for kind in "usb"},
    **{f"{kind}32": "i4x" for kind in "usb"},
    **{f"{kind}64": "q" for kind in "usb"},
}
"""How `struct` packs a number of a PTX type into a cell."""

_WORD = "Q"
"""How addresses are packed."""


@dataclass(frozen=True, slots=True)
class Changing:
    """A value that each launch gives, and its index among those."""

    index: int
    kind: Literal["address", "table", "number"]
    """The address of an array, of a table of arrays (given as its rows), or a number."""


FlatValue: TypeAlias = "Changing | int"
"""An argument of the lowered function: one that a launch gives, or an extent or stride."""


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

    def function(self, executable: Executable) -> int:
        """Load the code; return the handle of the kernel."""
        ...

    def encode(self, tensor_map: TensorMap) -> TensorMapMemory:
        """Encode a tensor map."""
        ...

    def table(self, rows: Any, stream: int) -> int:
        """Return the address of a table of arrays."""
        ...

    def arena(self, size: int, stream: int) -> int:
        """Return the address of memory for tensor maps that blocks of a launch write."""
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
    ) -> None:
        self._executable, self._device, self._flat = executable, device, flat
        self._abi = executable.abi
        self._attribute = programmatic_attribute() if programmatic else None
        self._function = device.function(executable)
        self._launch = device.launch
        self._lock = threading.Lock()
        self._addresses: tuple[int, ...] = ()
        self._config = ctypes.create_string_buffer(CONFIG.size)
        self._config_address = ctypes.addressof(self._config)
        self._lay_out(executable.parameter_types)
        self.start = self._starter()
        """Launch; `values` are the addresses and numbers in order, `args` are not looked at.

        Raises `ValueError`, `OverflowError` and `LaunchError`, as cuTile does.
        """

    def _lay_out(self, types: Sequence[str]) -> None:
        """Make the cells and the array of pointers to them."""
        names = self._abi.parameters
        formats = self._changing_formats(types)
        packer = struct.Struct("<" + "".join(formats))
        self._pack = packer.pack_into
        self._changing = ctypes.create_string_buffer(max(packer.size, 1))
        self._fixed = ctypes.create_string_buffer(_CELL * max(len(names), 1))
        self._pointers = (ctypes.c_void_p * max(len(names), 1))()
        self._map_slots: list[tuple[int, TensorMapRecipe]] = []
        self._arena_slot: int | None = None
        for slot, (name, kind) in enumerate(zip(names, types, strict=True)):
            self._pointers[slot] = self._cell(slot, name, kind)
        self._pointers_address = ctypes.addressof(self._pointers)
        self._maps: OrderedDict[tuple[int, int], TensorMapMemory] = OrderedDict()
        self._bound: Sequence[TensorMapMemory] = ()
        found = [self._flat[recipe.argument] for _, recipe in self._map_slots]
        indices = [one.index for one in found if isinstance(one, Changing)]
        self._map_addresses = _picker(indices)

    def _changing_formats(self, types: Sequence[str]) -> Sequence[str]:
        """How each changing value is packed; by its parameter, or as a word if it has none."""
        changing = [value for value in self._flat if isinstance(value, Changing)]
        self._tables = {value.index for value in changing if value.kind == "table"}
        formats = [_WORD for _ in changing]
        for name, kind in zip(self._abi.parameters, types, strict=True):
            value = self._value(name)
            if isinstance(value, Changing) and value.kind == "number":
                formats[value.index] = _FORMATS[kind]
        return formats

    def _value(self, name: str) -> FlatValue | None:
        """The argument that a parameter passes; None for tensor maps and the arena."""
        kind, position, *_ = [*name.split(), ""]
        return self._flat[int(position)] if kind in ("ptr", "scalar") else None

    def _cell(self, slot: int, name: str, kind: str) -> int:
        """Return the address of a parameter's cell; note where tensor maps go."""
        fixed = ctypes.addressof(self._fixed) + _CELL * slot
        if name == ARENA:
            self._arena_slot = slot
            return fixed
        if name.startswith(TENSOR_MAP):
            self._map_slots.append((slot, self._abi.tensor_maps[int(name.split()[-1])]))
            return fixed
        value = self._value(name)
        if isinstance(value, Changing):
            return ctypes.addressof(self._changing) + _CELL * value.index
        assert value is not None
        struct.pack_into("<" + _FORMATS[kind], self._fixed, _CELL * slot, value)
        return fixed

    def _starter(self) -> Start:
        """Return `start`: all that it needs is in variables of a closure, not in attributes."""
        lock, launch, pack, changing = self._lock, self._launch, self._pack, self._changing
        config, function, pointers = self._config_address, self._function, self._pointers_address
        tables, maps = bool(self._tables), bool(self._map_slots)
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
            with lock:
                try:
                    pack(changing, 0, *values)
                except struct.error as error:
                    raise _overflow(error) from None
                if maps:
                    self._point_to_maps(values)
                if stream != last_stream or (grid is not last_grid and grid != last_grid):
                    last_stream = None
                    self._configure(grid, stream)
                    last_grid, last_stream = grid, stream
                status = launch(config, function, pointers, 0)
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
            self._device.table(value, stream) if index in self._tables else value
            for index, value in enumerate(values)
        )

    def _write(self, values: tuple[Any, ...]) -> None:
        self._pack(self._changing, 0, *values)
        if self._map_slots:
            self._point_to_maps(values)

    def _point_to_maps(self, values: tuple[Any, ...]) -> None:
        """Let the parameters point to the tensor maps of the addresses among the values."""
        addresses = self._map_addresses(values)
        if addresses == self._addresses:
            return
        self._addresses = ()
        self._bound = [self._encoded(*pair) for pair in enumerate(addresses)]
        for (slot, _), memory in zip(self._map_slots, self._bound, strict=True):
            self._pointers[slot] = memory.address
        self._addresses = addresses

    def _encoded(self, index: int, address: int) -> TensorMapMemory:
        """Return the tensor map of a parameter for an address, encoded once."""
        found = self._maps.get((index, address))
        if found is None:
            recipe = self._map_slots[index][1]
            found = self._device.encode(self._tensor_map(recipe, address))
            self._maps[index, address] = found
            if len(self._maps) > MAX_ENCODED:
                self._maps.popitem(last=False)
        return found

    def _tensor_map(self, recipe: TensorMapRecipe, address: int) -> TensorMap:
        found = recipe.described(self._flat)
        if recipe.is_of_nothing(self._flat):
            address = self._device.unused
        return replace(found, address=address + found.address, l2_promotion=PROMOTION)

    def _configure(self, grid: tuple[int, ...], stream: int) -> None:
        """Write the launch configuration."""
        x, y, z = self._abi.ctas(checked_grid(grid))
        attribute = 0 if self._attribute is None else ctypes.addressof(self._attribute)
        abi = self._abi
        block = (abi.threads, 1, 1, abi.shared_bytes)
        CONFIG.pack_into(self._config, 0, x, y, z, *block, stream, attribute, int(attribute != 0))
        if self._arena_slot is not None:
            size = x * y * z * abi.arena_slots * SIZE
            arena = self._device.arena(size, stream)
            struct.pack_into("<Q", self._fixed, _CELL * self._arena_slot, arena)

    def _repeat(
        self, grid: tuple[int, ...], stream: int, values: tuple[Any, ...], status: int
    ) -> None:
        """Launch again in the GPU's own context, which need not be the thread's."""

        def launch() -> int:
            with self._lock:
                self._write(values)
                self._configure(grid, stream)
                address = self._pointers_address
                return self._launch(self._config_address, self._function, address, 0)

        self._device.retry(launch, status)


def _picker(indices: Sequence[int]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Return the function that takes the values at these indices."""
    if len(indices) > 1:
        return itemgetter(*indices)
    return lambda values: tuple([values[index] for index in indices])


def _overflow(error: struct.error) -> OverflowError:
    return OverflowError(f"Python int too large to convert to C int: {error}")


def checked_grid(grid: Any) -> tuple[int, int, int]:
    """Return three extents; raises as cuTile for what is no grid."""
    if not isinstance(grid, tuple):
        raise TypeError("Grid must be a tuple")
    given = cast("tuple[Any, ...]", grid)
    if len(given) > 3:
        raise ValueError(f"Grid dimensions must be at most 3, got length {len(given)}")
    extents: tuple[Any, ...] = (*given, 1, 1, 1)
    for axis, extent in enumerate(extents):
        if extent > MAX_BLOCKS:
            raise ValueError(
                f"Grid[{axis}] exceeds 24-bit limit: max={MAX_BLOCKS}, got={extent}. "
                "Use multiple kernel launches for larger workloads."
            )
        if extent < 0:
            raise OverflowError("can't convert negative value to unsigned int")
    return extents[0], extents[1], extents[2]
