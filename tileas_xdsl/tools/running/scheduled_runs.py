"""Runs of one kernel under several schedules, which must all succeed and agree."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.executors import Workers
from tileas_xdsl.frontend import signature as cutile
from tileas_xdsl.interpreters.tile.arguments import Parameter, parameters_of
from tileas_xdsl.interpreters.tile.launch import Schedule, Simulation, find_kernel, simulate
from tileas_xdsl.interpreters.tile.launch_descriptors import HostMaps
from tileas_xdsl.runtime.array_comparison import Difference, first_difference
from tileas_xdsl.tools.inputs.arguments import Spec, Value, bind_arguments
from tileas_xdsl.tools.inputs.cutile_parameters import bound, shown

if TYPE_CHECKING:
    from tileas_xdsl.interpreters.cuda_tile.launch import Evaluation
    from tileas_xdsl.tools.inputs.programs import Program
    from tileas_xdsl.tuning.prediction.launch_time import Predicted

Extents: TypeAlias = tuple[int, int, int]
Progress: TypeAlias = Callable[[int, int], None]
"""Called with the blocks done and all blocks."""

Bar: TypeAlias = Callable[[str], Progress | None]
"""The progress of a run with this description."""


@dataclass(frozen=True)
class Launch:
    """A kernel of a module with its arguments, and how it is launched."""

    kernel: str
    parameters: Sequence[Parameter]
    args: Sequence[Value]
    grid: Extents
    target: str | None
    cluster: Extents | None = None
    jobs: Workers = 1
    signature: Sequence[cutile.Parameter] | None = None
    """The parameters of a kernel of cuTile, whose arguments are whole arrays."""

    def run(
        self,
        module: ModuleOp,
        schedule: Schedule,
        *,
        trace: bool = False,
        progress: Progress | None = None,
    ) -> Simulation:
        """One run; raises `SimulationError` or `ArgumentError`."""
        args = self._held()
        found = simulate(
            module,
            args,
            kernel=self.kernel,
            grid=self.grid,
            schedule=schedule,
            target=self.target,
            cluster=self.cluster,
            trace=trace,
            jobs=self.jobs,
            progress=progress,
            host_maps=self._host_maps(module, args),
        )
        if self.signature is None:
            return found
        from tileas_xdsl.runtime.arguments.cutile_arguments import restored

        return replace(found, arrays=restored(self.signature, self.args, found.arrays))

    def predict(self, module: ModuleOp) -> Predicted | None:
        """The time that the model predicts on a GPU; None for tiles that are laid out already."""
        from tileas_xdsl.tuning.prediction.module_prediction import predict_module

        numbers = [value if isinstance(value, int) else None for value in self._held()]
        target = module_target(module, self.target).name
        return predict_module(module, target, numbers, self.grid, self.kernel)

    def evaluate(self, tile_ir: ModuleOp) -> Evaluation:
        """What the Tile IR of the kernel means; raises `UndefinedError`."""
        from tileas_xdsl.interpreters.cuda_tile.launch import evaluate
        from tileas_xdsl.runtime.arguments.cutile_arguments import with_tables

        found = evaluate(tile_ir, with_tables(self._held()), kernel=self.kernel, grid=self.grid)
        if self.signature is None:
            return found
        from tileas_xdsl.runtime.arguments.cutile_arguments import restored

        return replace(found, arrays=restored(self.signature, self.args, found.arrays))

    def _held(self) -> Sequence[Value]:
        """The arguments as the function takes them."""
        from tileas_xdsl.runtime.arguments.cutile_arguments import held

        return self.args if self.signature is None else held(self.signature, self.args)

    def _host_maps(self, module: ModuleOp, args: Sequence[Value]) -> HostMaps | None:
        """What the host code of the module encodes, where a pass has attached some."""
        from tileas_xdsl.runtime.host_tensor_maps import has_host_code, maps_of_launch

        if not has_host_code(module):
            return None
        return lambda: maps_of_launch(module, find_kernel(module, self.kernel), args)

    def parameter(self, position: int) -> str:
        """`argument 2 (%c: memref<?xf32>)`."""
        return f"argument {position} ({self.parameters[position].title})"


def prepare(
    program: Program,
    kernel: str | None,
    specs: Sequence[Spec],
    grid: Extents,
    target: str | None,
    cluster: Extents | None,
    jobs: Workers,
) -> Launch:
    """The launch of a kernel; raises `DiagnosticError` without one, `BindingError` if `specs` do
    not fit it."""
    found, signature = find_kernel(program.module, kernel), program.parameters
    if signature is None:
        parameters = parameters_of(found)
        args = bind_arguments(specs, parameters)
    else:
        parameters = [shown(parameter) for parameter in cutile.leaves(signature)]
        args = bound(signature, specs)
    name = found.sym_name.data
    return Launch(name, parameters, args, grid, target, cluster, jobs, signature)


def schedules_of(count: int, seed: int = 0) -> Sequence[Schedule]:
    """`count` schedules: round robin, the adversarial one, then random ones from `seed` on."""
    fixed = (Schedule("round-robin"), Schedule("adversarial"))
    return (*fixed, *(Schedule("random", seed + n) for n in range(count - len(fixed))))[:count]


def options_of(schedule: Schedule) -> Sequence[str]:
    """The command-line options that select a schedule."""
    if schedule.policy == "random":
        return ("--policy", "random", "--seed", str(schedule.seed))
    return ("--policy", schedule.policy)


class RunError(Exception):
    """A run under one of several schedules is wrong."""

    def __init__(self, schedule: Schedule) -> None:
        super().__init__()
        self.schedule = schedule


class FailedRunError(RunError):
    """A run that broke a rule of the machine; `error` has the diagnosis and event trace."""

    def __init__(self, schedule: Schedule, error: DiagnosticError) -> None:
        super().__init__(schedule)
        self.error = error


class UnequalRunError(RunError):
    """A run that ended with different results; `argument` gives the index and type."""

    def __init__(
        self, schedule: Schedule, simulation: Simulation, difference: Difference, argument: str
    ) -> None:
        super().__init__(schedule)
        self.simulation = simulation
        self.difference = difference
        self.argument = argument


@dataclass(frozen=True)
class Trial:
    """A launch under several schedules, and how much their results may differ."""

    launch: Launch
    schedules: Sequence[Schedule]
    tolerance: float = 0.0
    trace: bool = False

    def run(self, module: ModuleOp, bar: Bar, reference: Simulation | None = None) -> Simulation:
        """The first run; all agree with `reference`, else with the first.

        Raises `FailedRunError` or `UnequalRunError` for the first run that does not.
        """
        first: Simulation | None = None
        for schedule in self.schedules:
            found = self._run_once(module, schedule, bar)
            first = first or found
            reference = reference or found
            wrong = first_difference(reference.arrays, found.arrays, self.tolerance)
            if wrong is not None:
                argument = self.launch.parameter(wrong.argument)
                raise UnequalRunError(schedule, found, wrong, argument)
        assert first is not None
        return first

    def _run_once(self, module: ModuleOp, schedule: Schedule, bar: Bar) -> Simulation:
        progress = bar(" ".join(options_of(schedule)))
        try:
            return self.launch.run(module, schedule, trace=self.trace, progress=progress)
        except DiagnosticError as error:
            raise FailedRunError(schedule, error) from error


@contextmanager
def progress_bar() -> Generator[Bar]:
    """A bar on stderr, from the first run on, if a person sees it."""
    if not sys.stderr.isatty():
        yield lambda description: None
        return
    from rich.console import Console
    from rich.progress import Progress as Shown

    # What else is printed stays on its own stream.
    shown = Shown(
        console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False
    )
    task = shown.add_task("")

    def begin(description: str) -> Progress:
        shown.reset(task, description=description)
        shown.start()
        return lambda done, total: shown.update(task, completed=done, total=total)

    try:
        yield begin
    finally:
        shown.stop()
