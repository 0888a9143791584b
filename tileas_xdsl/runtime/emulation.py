"""Runs of a compiled kernel on the PTX emulator, with the arguments of the tile kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, prod
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute_nvgpu.threads.barriers import MBARRIER_BYTES
from tileas_xdsl.executors import Workers
from tileas_xdsl.interpreters.ptx import (
    AddressTableArg,
    Finding,
    LateArg,
    LaunchError,
    Report,
    SharedName,
    TensorMapArg,
    load,
    run,
)
from tileas_xdsl.interpreters.ptx.execution.state import Order
from tileas_xdsl.interpreters.ptx.launch import Progress
from tileas_xdsl.interpreters.ptx.launch_sizes import Shape
from tileas_xdsl.interpreters.ptx.memory.access_counts import AccessCount, AccessCounter
from tileas_xdsl.interpreters.tile.launch import Grid, grid_of
from tileas_xdsl.interpreters.tile.memory.argument_arrays import AddressTable
from tileas_xdsl.runtime.arguments.subbyte_packing import packed, unpacked
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.kernel_abi import (
    ARENA,
    TENSOR_MAP,
    TILE_BLOCKS,
    TRANSFER,
    UNUSED_BYTES,
    BoundTensorMap,
    KernelAbi,
)
from tileas_xdsl.target.tma.tensor_map_bytes import SIZE
from tileas_xdsl.threads.smem.smem_layout import MBARRIERS, allocations_in

if TYPE_CHECKING:
    from tileas_xdsl.runtime.host_code import HostCode

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Emulation:
    """The result of a run of PTX."""

    arrays: Sequence[Any]
    """The arguments after the run; scalars are unchanged."""
    findings: Sequence[Finding]
    """Findings of the checker; empty if the program is correct."""
    instructions: int
    """Instructions executed, counted once per convergence group."""
    finished: bool
    """Whether all blocks ran to completion."""
    printed: str = ""
    """The text that threads printed, in the order in which they ran."""
    accesses: Sequence[AccessCount] = ()
    """What accesses of warps cost, by instruction, where it was asked for."""
    counter: AccessCounter | None = None
    """What was counted besides: instructions, bytes of bulk copies."""

    @staticmethod
    def of(report: Report, arrays: Sequence[Any]) -> Emulation:
        """Return what a run of PTX came to, with the arrays of the tile kernel."""
        return Emulation(
            arrays,
            report.findings,
            report.instructions,
            report.finished,
            report.printed,
            report.accesses,
            report.counter,
        )


def emulate(
    ptx: str,
    abi: KernelAbi,
    args: Sequence[Any],
    grid: Shape = 1,
    *,
    order: Order = "eager",
    seed: int = 0,
    checks: bool = True,
    jobs: Workers = 1,
    progress: Progress | None = None,
    limit: float = inf,
    host_code: bytes | None = None,
    count_accesses: int = 0,
    names: Sequence[str] = (),
) -> Emulation:
    """Run PTX that was compiled from a tile kernel; the arrays are not modified.

    Arrays that overlap, as one that is passed twice, share memory as on a GPU; 4-bit elements are
    packed two to a byte there.  `order` says when asynchronous operations complete: eager, lazy, or
    random by `seed`.  A run is aborted when a cluster has executed `limit` instructions.
    `host_code`, an object, encodes the tensor maps from the addresses of the arrays.
    `count_accesses` runs so many clusters alone and counts what accesses of warps cost.  Findings
    call the arguments by their `names`.  Raises
    `LaunchError` for arguments and sizes that do not fit, `PtxError` for unsupported instructions,
    `HostCodeError` where host code cannot be loaded.
    """
    own = _Arguments.of(args)
    values = _values(abi, own, _loaded(host_code, abi.name))
    _set_hidden(values, abi, grid_of(grid))
    report = run(
        load(ptx, f"{abi.name}.ptx"),
        abi.name,
        values,
        abi.ctas(grid_of(grid)),
        dynamic_shared=abi.shared_bytes,
        shared_names=_shared_names(abi),
        argument_names=_argument_names(abi, names),
        order=order,
        seed=seed,
        checks=checks,
        jobs=jobs,
        progress=progress,
        limit=limit,
        count_accesses=count_accesses,
    )
    return Emulation.of(report, _arrays(report, abi, own))


def _set_hidden(values: list[Any], abi: KernelAbi, grid: tuple[int, int, int]) -> None:
    """Set the hidden parameters: the tile blocks of a grid, and memory of the launch."""
    ctas = abi.ctas(grid)
    for axis, extent in enumerate(grid):
        if (name := f"{TILE_BLOCKS} {axis}") in abi.parameters:
            values[abi.parameters.index(name)] = extent
    if ARENA in abi.parameters:
        values[abi.parameters.index(ARENA)] = _arena(abi, ctas)
    if TRANSFER in abi.parameters:
        values[abi.parameters.index(TRANSFER)] = np.zeros(abi.transfer_size(ctas), np.uint8)


def _shared_names(abi: KernelAbi) -> Sequence[SharedName]:
    """What the compiler has put where in shared memory; mbarriers by the stage that they guard."""
    return [
        SharedName(
            part.offset, part.bytes, part.name, MBARRIER_BYTES if part.what == MBARRIERS else 0
        )
        for part in allocations_in(abi.shared_map)
    ]


def _argument_names(abi: KernelAbi, names: Sequence[str]) -> Sequence[str]:
    """What the parameters of the PTX are of the named arguments; empty where they are of none."""

    def title(name: str) -> str:
        match name.split():
            case ["ptr" | "scalar", position] if int(position) < len(names):
                return f"'{names[int(position)]}'"
            case ["tensor", "map", number] if int(number) < len(abi.tensor_maps):
                argument = abi.tensor_maps[int(number)].argument
                return f"the tensor map of '{names[argument]}'" if argument < len(names) else ""
            case _:
                return ""

    return [title(name) for name in abi.parameters]


def _loaded(host_code: bytes | None, name: str) -> HostCode | None:
    """Load the host code of a kernel, and what runs it, where there is some."""
    if host_code is None:
        return None
    from tileas_xdsl.runtime.host_code import HostCode

    return HostCode(host_code, name)


@dataclass(frozen=True)
class _Arguments:
    """The arguments as given to the tile kernel, and as they are in memory."""

    tiles: Sequence[Any]
    memory: Sequence[Any]

    @staticmethod
    def of(args: Sequence[Any]) -> _Arguments:
        """Return the arguments with contiguous arrays."""
        own = [_contiguous(value) for value in args]
        known: dict[int, Any] = {}
        for index, value in enumerate(own):
            known.setdefault(id(value), _in_memory(value, f"argument {index}"))
        return _Arguments(own, [known[id(value)] for value in own])

    def in_memory(self, value: Any) -> Any:
        """Return the memory form of an array; a value that is no argument is returned unchanged."""
        pairs = zip(self.tiles, self.memory, strict=True)
        return next((memory for tile, memory in pairs if tile is value), value)


def _contiguous(value: Any) -> Any:
    is_array = isinstance(value, np.ndarray)
    return np.ascontiguousarray(cast("Array", value)) if is_array else value


def _in_memory(value: Any, what: str) -> Any:
    """Return an argument as memory has it: 4-bit elements packed, addresses in a table."""
    if isinstance(value, AddressTable):
        arrays = [packed(array, what) for array in value.arrays]
        return AddressTableArg(arrays, value.words)
    return packed(value, what)


def _arena(abi: KernelAbi, ctas: Grid) -> Array:
    """Return the memory that the CTAs of a launch have of their own."""
    return np.zeros(prod(ctas) * abi.arena_slots * SIZE, np.uint8)


def _values(abi: KernelAbi, args: _Arguments, host: HostCode | None) -> list[Any]:
    """Return what a launch passes for each parameter."""
    if host is None:
        try:
            values = [_argument(value, args) for value in abi.bind(args.tiles)]
        except TargetError as error:
            raise LaunchError(str(error)) from error
        return [
            _with_maps(abi, name, value) for name, value in zip(abi.parameters, values, strict=True)
        ]
    maps = _MapsOfHost(abi, args, host)
    return [
        maps.argument(int(name.split()[-1])) if name.startswith(TENSOR_MAP) else maps.plain[name]
        for name in abi.parameters
    ]


def _with_maps(abi: KernelAbi, name: str, value: Any) -> Any:
    """Return what is passed for a list of arrays with the tensor maps that the kernel reads."""
    if not isinstance(value, AddressTableArg):
        return value
    return replace(value, recipes=abi.maps_of_list(int(name.split()[-1])))


def _argument(value: Any, args: _Arguments) -> Any:
    if isinstance(value, BoundTensorMap):
        unused = np.zeros(UNUSED_BYTES, np.uint8)
        memory = unused if value.is_of_nothing else args.memory[value.argument]
        return TensorMapArg(value.tensor_map, memory)
    return args.in_memory(value)


class _MapsOfHost:
    """Tensor maps encoded by host code, once the arrays have addresses."""

    def __init__(self, abi: KernelAbi, args: _Arguments, host: HostCode) -> None:
        names = [name for name in abi.parameters if not name.startswith(TENSOR_MAP)]
        self.plain = {name: args.in_memory(abi.value(name, args.tiles)) for name in names}
        self._words = {name: value for name, value in self.plain.items() if name != ARENA}
        self._host = host
        self._arrays = [value for name, value in self.plain.items() if name.startswith("ptr")]
        self._encoded: Sequence[bytes] | None = None

    def argument(self, number: int) -> LateArg:
        """Return the tensor map of this index as an argument."""
        return LateArg(self._arrays, lambda bases: self._encode(bases)[number])

    def _encode(self, bases: Sequence[int]) -> Sequence[bytes]:
        if self._encoded is None:
            from tileas_xdsl.backend.host import HostCodeError
            from tileas_xdsl.runtime.host_code import scalar_word

            addresses = iter(bases)
            words = [
                next(addresses) if name.startswith("ptr") else scalar_word(value)
                for name, value in self._words.items()
            ]
            try:
                self._encoded = self._host.encode(words)
            except HostCodeError as error:
                raise LaunchError(str(error)) from error
        return self._encoded


def _arrays(report: Report, abi: KernelAbi, args: _Arguments) -> Sequence[Any]:
    """Return the arrays after a run, by the arguments they came from."""
    found = list(args.tiles)
    for name, array in zip(abi.parameters, report.arrays, strict=True):
        kind, position, *_ = [*name.split(), ""]
        if kind == "ptr" and isinstance(array, list):
            found[int(position)] = array
        elif kind == "ptr" and array is not None:
            is_packed = args.memory[int(position)] is not args.tiles[int(position)]
            found[int(position)] = unpacked(array) if is_packed else array
    return found
