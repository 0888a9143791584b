"""cuTile kernels on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tileas_xdsl.frontend.array_arguments import ArrayFacts, array_facts
from tileas_xdsl.frontend.cutile.kernels import parameters_of
from tileas_xdsl.frontend.leaf_values import leaf_values
from tileas_xdsl.frontend.signature import ArrayParameter, ListParameter, Parameter
from tileas_xdsl.runtime.arguments.host_arrays import HOST_DEVICES
from tileas_xdsl.runtime.cutile.gpu.chosen_plan import ChosenPlan
from tileas_xdsl.runtime.cutile.gpu.flat_arguments import flat_values
from tileas_xdsl.runtime.cutile.gpu.launch_plan import LaunchPlan
from tileas_xdsl.runtime.cutile.grids import checked_grid
from tileas_xdsl.runtime.cutile.kernel_table import KernelTable, Plan
from tileas_xdsl.runtime.cutile.native.relaunch import Relauncher
from tileas_xdsl.runtime.gpu.launch_device import capability_of, gpu_device
from tileas_xdsl.runtime.gpu.streams import stream_reader
from tileas_xdsl.target.launches.bounded_rows import BoundedRows
from tileas_xdsl.target.launches.few_tile_blocks import ANY_NUMBER, NO_NUMBER
from tileas_xdsl.target.launches.specializations import (
    ChooseSpecialization,
    Grid,
    LaunchPredicate,
    suits,
)
from tileas_xdsl.target.launches.whole_tiles import WholeTiles


class GpuBackend:
    """Launches on the GPU that the arrays are on."""

    def attach(self, table: KernelTable) -> None:
        """Let the C launcher make launches again, if there is one."""
        found = Relauncher(table)
        table.relaunch, table.remember = found.count, found.remember

    def read_array(self, value: Any) -> tuple[ArrayFacts, int | None]:
        """Describe an array; raises as cuTile for one that is not in the memory of a GPU."""
        facts = array_facts(value)
        if facts is None:
            raise TypeError(f"Objects of type '{type(value).__name__}' are not supported.")
        return facts, device_of(value)

    def stream_reader(self, stream: Any) -> Callable[[Any], int]:
        """Return how the handle of a stream is read."""
        if (found := stream_reader(stream)) is not None:
            return found
        if stream is None:
            raise TypeError("Stream is required, got None")
        raise TypeError(f"Unsupported stream type '{type(stream).__name__}'.")

    def parameters(self, table: KernelTable, args: tuple[Any, ...]) -> tuple[Parameter, ...]:
        """Return what a kernel is compiled for."""
        found = parameters_of(table.kernel, args, is_dispatched=True)
        for value in _arrays(found, args):
            device_of(value)
        return found

    def plan(
        self,
        table: KernelTable,
        parameters: tuple[Parameter, ...],
        args: tuple[Any, ...],
        *,
        grid: Any,
        dependent: bool,
    ) -> Plan:
        """Compile for these arguments, if that has not been done, and prepare launches."""
        devices = [device_of(value) for value in _arrays(parameters, args)]
        number = next((device for device in devices if device is not None), 0)
        flat = flat_values(parameters, args)
        capability, device = capability_of(number), gpu_device(number)

        def choose(grid: Grid) -> ChooseSpecialization:
            return lambda one: suits(one, flat, grid, device.multiprocessors_of_clusters)

        executable = table.executable(parameters, capability, choose(checked_grid(grid)))
        predicates = [one for one in executable.abi.predicates if one.may_suit(flat)]
        if not predicates:
            return LaunchPlan(executable, device, flat, programmatic=dependent)
        plans: dict[int, LaunchPlan] = {}

        def specialized(grid: Grid) -> LaunchPlan:
            found = table.executable(parameters, capability, choose(grid))
            if id(found) not in plans:
                holds = choose(grid)
                blocks = common(
                    _with_value(one, holds(one), device.multiprocessors) for one in predicates
                )
                plans[id(found)] = LaunchPlan(
                    found, device, flat, programmatic=dependent, tile_blocks=blocks
                )
            return plans[id(found)]

        return ChosenPlan(specialized)


def _with_value(predicate: LaunchPredicate, value: bool, multiprocessors: int) -> range:
    """The numbers of tile blocks for which a predicate keeps its value, as far as is known."""
    if not value:
        return predicate.unsuited(multiprocessors)
    return ANY_NUMBER if isinstance(predicate, BoundedRows | WholeTiles) else NO_NUMBER


def common(numbers: Iterable[range]) -> range:
    """Return the numbers that are in all of some ranges."""
    starts, stops = zip(*((one.start, one.stop) for one in numbers), strict=True)
    return range(max(starts), max(min(stops), max(starts)))


def _arrays(parameters: Sequence[Parameter], args: Sequence[Any]) -> Iterator[Any]:
    """Yield the arrays among the arguments, and those in lists."""
    for parameter, value in leaf_values(parameters, args):
        if isinstance(parameter, ArrayParameter):
            yield value
        elif isinstance(parameter, ListParameter):
            yield from value


def device_of(array: Any) -> int | None:
    """Return the number of the GPU whose memory an array is in, None if it does not say.

    Raises `ValueError` for an array in the memory of the host.
    """
    if hasattr(array, "__dlpack_device__"):
        kind, number = array.__dlpack_device__()
        if kind not in HOST_DEVICES:
            return int(number)
    elif hasattr(array, "__cuda_array_interface__"):
        return getattr(getattr(array, "device", None), "id", None)
    raise ValueError("Input array is not on a CUDA device")
