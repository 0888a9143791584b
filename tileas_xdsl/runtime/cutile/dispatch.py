"""`launch`: arguments find their plan; the first launch of a kind compiles and makes one.

Each kernel object has a table (`kernel_table`): by the types of the arguments a function that reads
a key off them (`argument_keys`) and finds the plan of that key, which runs the kernel on a GPU
(`gpu.launch_plan`) or on the emulator (`emulator.backend`).  All keys that cuTile compiles once for
share one compilation.
"""

from __future__ import annotations

import threading
import warnings
from contextlib import suppress
from typing import Any, cast

from tileas_xdsl.runtime.cutile import settings
from tileas_xdsl.runtime.cutile.captured_values import captured_values
from tileas_xdsl.runtime.cutile.compilation import is_extended
from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.runtime.cutile.grids import checked_grid
from tileas_xdsl.runtime.cutile.kernel_table import Backend, KernelTable, Plan
from tileas_xdsl.runtime.cutile.settings import HostArraysWarning, Settings
from tileas_xdsl.runtime.specializations import Specializations
from tileas_xdsl.target.arch import get_target

SIGNATURE = "launch(stream, grid, kernel, kernel_args, /, *, programmatic_dependent_launch=False)"

MAX_PLANS = 1024
"""Maximal number of plans of a kernel for arguments of the same types."""

MAX_TABLES = 256
"""Maximal number of tables that a function keeps for kernel objects of other hints or globals."""


def launch(
    stream: Any,
    grid: Any,
    kernel: Any,
    kernel_args: Any,
    /,
    *,
    programmatic_dependent_launch: bool = False,
) -> None:
    """Launch a cuTile kernel: `cuda.tile.launch` on this compiler.

    Without a GPU, for arrays in host memory, or where `install` says so, the emulator runs it, and
    the stream is ignored.
    Raises what cuTile raises for wrong arguments and programs, and `FindingsError` for what the
    checker of the emulator finds.
    """
    args: Any = kernel_args
    known: bool | None = False
    try:
        table: KernelTable = kernel._tileas_table
        if table.settings is not settings.current:
            raise KeyError
        known = table.relaunch(stream, grid, kernel_args, programmatic_dependent_launch)
        if known:
            return
        if programmatic_dependent_launch:
            plan, values = table.dependent[tuple(map(type, kernel_args))].find(kernel_args)
        else:
            plan, values = table.find(kernel_args)
        handle = table.streams[type(stream)](stream)
        if type(kernel_args) is not tuple:
            raise KeyError
    except (AttributeError, KeyError, TypeError, ValueError):
        dependent = programmatic_dependent_launch
        plan, handle, values = _prepared(stream, grid, kernel, kernel_args, dependent)
    plan.start(grid, handle, values, args)
    if known is None:
        table_of(kernel).remember(args, programmatic_dependent_launch, plan)


def measure(
    stream: Any, grid: Any, kernel: Any, kernel_args: Any, flush_l2: bool = True, /
) -> float:
    """Launch and return the microseconds, as `cuda.tile.tune` asks its own launcher to.

    On the emulator an instruction takes a nanosecond: configurations are ranked by their work.
    """
    plan, handle, values = _prepared(stream, grid, kernel, kernel_args, False)
    return plan.measure(grid, handle, values, kernel_args, flush=flush_l2)


def provide(kernel: Any, kernel_args: tuple[Any, ...], executable: Executable) -> None:
    """Give a kernel code that was compiled elsewhere, for launches with arguments like these.

    It is for the parameters that `parameters_of` dispatches these arguments by.
    """
    table = table_of(kernel, settings.current.for_arguments(kernel_args))
    parameters = table.backend.parameters(table, kernel_args)
    capability = divmod(get_target(executable.target).capability, 10)
    with table.lock:
        key = parameters, capability
        if key not in table.executables or table.executables[key].is_empty:
            table.executables[key] = Specializations([executable])


def _prepared(
    stream: Any, grid: Any, kernel: Any, args: Any, dependent: bool
) -> tuple[Plan, Any, tuple[Any, ...]]:
    """Return the plan for arguments of any kind, the stream's handle and the values that it takes.

    Wrong arguments are refused here.
    """
    if not isinstance(args, tuple):
        kind = type(args).__name__
        raise TypeError(f"{SIGNATURE} expects a tuple as the fourth argument, got {kind}")
    given = cast("tuple[Any, ...]", args)
    table = table_of(kernel, settings.current.for_arguments(given))
    if type(stream) not in table.streams:
        table.streams[type(stream)] = table.backend.stream_reader(stream)
    checked_grid(grid)
    _check_count(len(table.annotations), len(given))
    if not dependent and (known := table.profiles.get(tuple(map(type, given)))) is not None:
        with suppress(KeyError, TypeError, ValueError):
            plan, values = known.find(given)
            table.find = known.find
            return plan, table.streams[type(stream)](stream), values
    parameters = table.backend.parameters(table, given)
    profile = table.profile(given, dependent)
    key, values = profile.read(given)
    plans = profile.plans
    with table.lock:
        plan = plans.get(key)
        if plan is None:
            if len(plans) >= MAX_PLANS:
                plans.clear()
            plan = table.backend.plan(table, parameters, given, grid=grid, dependent=dependent)
            plans[key] = plan
    if not dependent:
        table.find = profile.find
    return plan, table.streams[type(stream)](stream), values


def _check_count(wanted: int, given: int) -> None:
    if wanted != given:
        expected = f"{wanted} argument{'s' * (wanted != 1)}"
        found = f"{given} {'was' if given == 1 else 'were'} given"
        raise TypeError(f"Kernel expects {expected} but {found}")


def table_of(kernel: Any, chosen: Settings | None = None) -> KernelTable:
    """Return the table of a kernel, for the settings of now; raises `TypeError` for no kernel."""
    chosen = chosen or settings.current
    if (found := _known_table(kernel, chosen)) is not None:
        return found
    if not hasattr(kernel, "_annotated_function"):
        kind = type(kernel).__name__
        text = f"{SIGNATURE} expects a tile kernel as the third argument, got {kind}"
        raise TypeError(text)
    with _creation:  # of several threads the first one makes it; the backend is imported then
        if (found := _known_table(kernel, chosen)) is None:
            found = _table_of_equal(kernel, chosen)
            setattr(kernel, _table_name(chosen), found)
            if chosen is not settings.current:
                name = kernel._annotated_function.pyfunc.__name__
                text = f"{name} runs on the emulator: its arrays are in host memory"
                hint = "move them to the GPU, or say install(on='emulator')"
                warnings.warn(f"{text}; {hint}", HostArraysWarning, stacklevel=4)
    return found


_creation = threading.Lock()


def _table_of_equal(kernel: Any, chosen: Settings) -> KernelTable:
    """Return the table of an equal kernel that hints were replaced of, if there is one; or make it.

    The function has the tables that were used last, so that they are there as long as it is.
    """
    function, options = kernel._annotated_function.pyfunc, kernel._compiler_options
    is_plain = "_compile" not in vars(kernel) and not is_extended()
    captured = captured_values(function) if is_plain else None
    made: list[tuple[Any, KernelTable]] = getattr(function, "_tileas_tables", [])
    made = [one for one in made if one[1].settings in (chosen, settings.current)]
    key: Any = (type(kernel), options, captured)
    equal = (one for one in made if one[0] == key and one[1].settings is chosen)
    found = None if captured is None else next(equal, None)
    if found is None:
        table = KernelTable(kernel, chosen, _backend(chosen))
        table.backend.attach(table)
        found = key, table
    if captured is not None:
        others = [one for one in made if one is not found]
        function._tileas_tables = [found, *others][:MAX_TABLES]
    return found[1]


def _table_name(chosen: Settings) -> str:
    """The attribute of a kernel that has its table: those of host arrays stand beside a GPU's."""
    return "_tileas_table" if chosen is settings.current else "_tileas_host_table"


def _known_table(kernel: Any, chosen: Settings) -> KernelTable | None:
    found: KernelTable | None = getattr(kernel, _table_name(chosen), None)
    return None if found is None or found.settings is not chosen else found


def _backend(chosen: Settings) -> Backend:
    if chosen.emulates:
        from tileas_xdsl.runtime.cutile.emulator.backend import EmulatorBackend

        return EmulatorBackend(chosen)
    from tileas_xdsl.runtime.cutile.gpu.backend import GpuBackend

    return GpuBackend()
