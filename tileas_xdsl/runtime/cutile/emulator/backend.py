"""cuTile kernels on the emulator: arrays of numpy and tensors of torch, written in place."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.frontend.array_arguments import ArrayFacts, array_facts
from tileas_xdsl.frontend.cutile.kernels import parameters_of
from tileas_xdsl.frontend.signature import ConstantParameter, Parameter, ScalarParameter
from tileas_xdsl.runtime.arguments.cutile_arguments import flat_names, held, restored
from tileas_xdsl.runtime.cutile.emulator.host_copies import on_host, write_back
from tileas_xdsl.runtime.cutile.emulator.same_memory import same_memory, with_hint
from tileas_xdsl.runtime.cutile.emulator.source_lines import SourceLines
from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.runtime.cutile.grids import checked_grid
from tileas_xdsl.runtime.cutile.kernel_table import KernelTable
from tileas_xdsl.runtime.cutile.settings import Settings
from tileas_xdsl.runtime.emulation import emulate
from tileas_xdsl.target.arch import get_target


class EmulatorBackend:
    """Launches on the emulator, which checks them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def attach(self, table: KernelTable) -> None:
        """Launches are emulated each time."""
        del table

    def read_array(self, value: Any) -> tuple[ArrayFacts, int | None]:
        """Describe an array; raises `TypeError` for anything else."""
        facts = array_facts(value)
        if facts is None:
            raise TypeError(f"Objects of type '{type(value).__name__}' are not supported.")
        return facts, None

    def stream_reader(self, stream: Any) -> Callable[[Any], Any]:
        """Return a function that ignores streams, which run in order."""
        del stream
        return lambda stream: None

    def parameters(self, table: KernelTable, args: tuple[Any, ...]) -> tuple[Parameter, ...]:
        """Return what a kernel is compiled for."""
        return parameters_of(table.kernel, args, is_dispatched=True)

    def plan(
        self,
        table: KernelTable,
        parameters: tuple[Parameter, ...],
        args: tuple[Any, ...],
        *,
        grid: Any,
        dependent: bool,
    ) -> EmulatedPlan:
        """Compile for these arguments, if that has not been done."""
        del args, grid, dependent
        capability = divmod(get_target(self._settings.target).capability, 10)
        executable = table.executable(parameters, capability)
        return EmulatedPlan(executable, parameters, self._settings)


@dataclass
class EmulatedPlan:
    """A kernel on the emulator."""

    executable: Executable
    parameters: Sequence[Parameter]
    settings: Settings

    def start(
        self, grid: tuple[int, ...], stream: Any, values: tuple[Any, ...], args: tuple[Any, ...]
    ) -> None:
        """Run the kernel, write what it changed, and report what the checker found."""
        del stream, values
        self._run(grid, args)

    def measure(
        self,
        grid: tuple[int, ...],
        stream: Any,
        values: tuple[Any, ...],
        args: tuple[Any, ...],
        *,
        flush: bool,
    ) -> float:
        """Run the kernel; return the microseconds if each instruction takes a nanosecond."""
        del stream, values, flush
        return self._run(grid, args) / 1000

    def _run(self, grid: tuple[int, ...], args: tuple[Any, ...]) -> int:
        """Run the kernel as `start`; return the number of instructions."""
        blocks = checked_grid(grid)
        if not prod(blocks):
            text = f"a grid of {grid} has no tile blocks, at least one along each axis is needed"
            raise RuntimeError(f"Failed to launch cuTile kernel: invalid argument: {text}")
        own = tuple(on_host(value) for value in args)
        ptx, abi = self.executable.ptx, self.executable.abi
        names = flat_names(self.parameters, own)
        memory = held(self.parameters, own)
        found = emulate(ptx, abi, memory, blocks, names=names)
        after = restored(self.parameters, own, found.arrays)
        for parameter, value, read, left in zip(self.parameters, args, own, after, strict=True):
            if not isinstance(parameter, ScalarParameter | ConstantParameter):
                write_back(value, read, left, parameter.name)
        if found.printed:
            sys.stdout.write(found.printed)
        if found.findings:
            source, same = SourceLines.of(ptx), same_memory(names, memory)
            self.settings.report([with_hint(source.moved(one), same) for one in found.findings])
        return found.instructions
