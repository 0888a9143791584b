"""`tileas simulate`: run a kernel on the CPU, with every rule of the machine checked."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.executors import Workers
from tileas_xdsl.tools.console import fail, print_facts, print_text
from tileas_xdsl.tools.inputs.kernel_options import (
    BlockOption,
    ClusterOption,
    DynamicSharedOption,
    ExecutorOption,
    Grid,
    GridOption,
    JobsOption,
    KernelOption,
    RunnableArgOption,
    RunnableInput,
    SchedulesOption,
    SignatureOption,
    TargetOption,
    ToleranceOption,
    given_options,
    parse_specs,
)

if TYPE_CHECKING:
    from tileas_xdsl.interpreters.tile.launch import Schedule, Simulation
    from tileas_xdsl.interpreters.tile.numerics.element_types import Array
    from tileas_xdsl.interpreters.tile.tracing.trace import Trace
    from tileas_xdsl.tools.inputs.array_files import Drafts
    from tileas_xdsl.tools.running.ptx_runs import OrderOfEvents
    from tileas_xdsl.tools.running.scheduled_runs import (
        Bar,
        FailedRunError,
        Launch,
        UnequalRunError,
    )


class Level(StrEnum):
    """Which IR is run."""

    TILE_IR = "tileir"
    TILE = "tile"
    PTX = "ptx"


class EventOrder(StrEnum):
    """When asynchronous operations of PTX complete; under `drift` warps fall behind besides."""

    EAGER = "eager"
    LAZY = "lazy"
    RANDOM = "random"
    DRIFT = "drift"


class PolicyName(StrEnum):
    """Scheduling policy: which agent runs next."""

    ROUND_ROBIN = "round-robin"
    RANDOM = "random"
    ADVERSARIAL = "adversarial"


@dataclass(frozen=True)
class _Outputs:
    """The files a run is to write."""

    folder: Path | None
    trace: Path | None
    timeline: Path | None

    @property
    def wants_trace(self) -> bool:
        return self.trace is not None or self.timeline is not None


@dataclass(frozen=True)
class _Request:
    """Options of the command line."""

    file: str
    args: list[str]
    grid: Grid
    cluster: Grid | None
    kernel: str | None
    target: str | None
    jobs: Workers
    tolerance: float
    schedules: Sequence[Schedule]
    outputs: _Outputs
    signature: str | None = None
    predict: bool = False

    def command(self, schedule: Schedule) -> str:
        """The command that runs one schedule again."""
        from tileas_xdsl.tools.running.scheduled_runs import options_of

        words = ["tileas", "simulate", self.file, "--grid", str(self.grid)]
        options = (
            ("--kernel", self.kernel),
            ("--sig", self.signature),
            ("--cluster", self.cluster),
            ("--target", self.target),
        )
        for name, value in options:
            words += [] if value is None else [name, str(value)]
        for spec in self.args:
            words += ["--arg", spec]
        return shlex.join([*words, *options_of(schedule)])


def _named_path(name: str) -> Path:
    if not name:
        raise typer.BadParameter("the name of the file is empty")
    return Path(name)


LevelOption = Annotated[
    Level | None,
    typer.Option(
        help="Run the tiles, or the PTX that they are compiled to; of Tile IR and cuTile also "
        "what they mean themselves, before any lowering. .ptx files: ptx."
    ),
]
PolicyOption = Annotated[
    PolicyName | None,
    typer.Option(
        help="Who runs next: the one that waited longest, anyone, or who has the least reason."
    ),
]
SeedOption = Annotated[
    int | None,
    typer.Option(min=0, help="Which random schedule; with --schedules, the first of them."),
]
OrderOption = Annotated[
    EventOrder | None,
    typer.Option(
        help="With PTX: asynchronous operations complete at once, late, or randomly; with drift "
        "warps fall behind, too."
    ),
]
HostCodeOption = Annotated[
    bool,
    typer.Option(
        "--host-code", help="With --level ptx: compiled host code encodes the tensor maps."
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(parser=_named_path, metavar="DIR", help="Write every array as DIR/arg<N>.npy."),
]
TraceOption = Annotated[
    Path | None,
    typer.Option(parser=_named_path, metavar="FILE", help="Write a trace for ui.perfetto.dev."),
]
TimelineOption = Annotated[
    Path | None,
    typer.Option(parser=_named_path, metavar="FILE", help="Draw the run as an SVG picture."),
]
PredictOption = Annotated[
    bool,
    typer.Option(
        "--predict",
        help="Predict the launch's time on a GPU by the scheduler's model of units.",
    ),
]

_ONLY_OF_TILES = ("policy", "trace", "timeline", "predict")
_ONLY_OF_PTX_FILES = ("block", "cluster", "shared")
_ONLY_OF_COMPILED_PTX = ("host_code", "sig")
_NOT_OF_TILES = ("order", "block", "shared", "host_code")
_NOT_OF_TILE_IR = (
    *("schedules", "seed", "order", "target", "tolerance", "jobs", "executor", "host_code"),
    *_ONLY_OF_TILES,
    *_ONLY_OF_PTX_FILES,
)
"""Parameters whose options have no meaning at other levels, or with other files."""


def simulate(
    ctx: typer.Context,
    input_file: RunnableInput,
    grid: GridOption,
    arg: RunnableArgOption = [],  # noqa: B006
    kernel: KernelOption = None,
    sig: SignatureOption = None,
    level: LevelOption = None,
    target: TargetOption = None,
    cluster: ClusterOption = None,
    policy: PolicyOption = None,
    seed: SeedOption = None,
    order: OrderOption = None,
    block: BlockOption = None,
    shared: DynamicSharedOption = 0,
    host_code: HostCodeOption = False,
    schedules: SchedulesOption = None,
    tolerance: ToleranceOption = 0.0,
    out: OutOption = None,
    trace: TraceOption = None,
    timeline: TimelineOption = None,
    predict: PredictOption = False,
    jobs: JobsOption = 1,
    executor: ExecutorOption = None,
) -> None:
    """Run a kernel on this CPU, and show how its arguments changed.

    Races, deadlocks, broken pipeline protocols and wrong byte counts are errors with an event
    trace. With --schedules K the kernel runs K times: round robin, with the adversarial policy, and
    under K - 2 random schedules; the first that fails, or whose results differ from the first
    run's, is reported with the command that repeats it.  Arrays of .npy files are copied: results
    go to --out.
    """
    from tileas_xdsl.tools.inputs.programs import reported_errors
    from tileas_xdsl.tools.running.ptx_runs import PtxLaunch
    from tileas_xdsl.tools.running.ptx_simulation import run_ptx

    is_text, outputs = input_file.endswith(".ptx"), _Outputs(out, trace, timeline)
    with reported_errors():
        _check_outputs(outputs)
        if level is Level.TILE_IR:
            from tileas_xdsl.tools.running.tile_ir_simulation import run_tile_ir

            _refuse(Level.TILE_IR, given_options(ctx, _NOT_OF_TILE_IR))
            run_tile_ir(input_file, arg, kernel, sig, grid, out)
        elif is_text or level is Level.PTX:
            kept = _ONLY_OF_COMPILED_PTX if is_text else _ONLY_OF_PTX_FILES
            _refuse(Level.PTX, ["--level tile"] if level is Level.TILE else [])
            _refuse(Level.PTX, given_options(ctx, (*_ONLY_OF_TILES, *kept)))
            orders = _orders(schedules, order, seed)
            launch = PtxLaunch(kernel, grid, block, cluster, target, shared, host_code, sig)
            run_ptx(input_file, arg, launch, orders, tolerance, executor or jobs, out)
        else:
            _refuse(Level.TILE, given_options(ctx, _NOT_OF_TILES))
            _refuse(Level.TILE, ["--arg map:"] if any(s.startswith("map:") for s in arg) else [])
            chosen = _schedules(schedules, policy, seed)
            _simulate(
                _Request(
                    input_file, arg, grid, cluster, kernel, target, executor or jobs, tolerance,
                    chosen, outputs, sig, predict,
                )
            )  # fmt: skip


def _refuse(level: Level, options: Iterable[str]) -> None:
    """Raise `UsageError` for the first of the options, which have no meaning at a level."""
    from tileas_xdsl.diagnostics.parsing.pass_specs import UsageError

    for option in options:
        raise UsageError(f"{option} has no meaning with --level {level}")


def _orders(
    count: int | None, order: EventOrder | None, seed: int | None
) -> Sequence[OrderOfEvents]:
    from tileas_xdsl.diagnostics.parsing.pass_specs import UsageError
    from tileas_xdsl.tools.running.ptx_runs import OrderOfEvents, orders_of

    if count is not None and order is not None:
        raise UsageError("--schedules runs every order, --order chooses one: give one of them")
    if count is not None:
        return orders_of(count, seed or 0)
    if seed is not None and order in (EventOrder.EAGER, EventOrder.LAZY):
        raise UsageError(f"--seed chooses a random order, {order} has none")
    if order is None and seed is None:
        return (OrderOfEvents("eager"),)
    return (OrderOfEvents((order or EventOrder.RANDOM).value, seed or 0),)


def _schedules(
    count: int | None, policy: PolicyName | None, seed: int | None
) -> Sequence[Schedule]:
    from tileas_xdsl.diagnostics.parsing.pass_specs import UsageError
    from tileas_xdsl.interpreters.tile.launch import Schedule
    from tileas_xdsl.tools.running.scheduled_runs import schedules_of

    if count is not None and policy is not None:
        raise UsageError("--schedules runs every policy, --policy chooses one: give one of them")
    if count is not None:
        return schedules_of(count, seed or 0)
    if seed is not None and policy not in (None, PolicyName.RANDOM):
        raise UsageError(f"--seed chooses a random schedule, the {policy} policy has none")
    if policy is None and seed is None:
        return (Schedule(),)
    return (Schedule(policy or PolicyName.RANDOM, seed or 0),)


def _check_outputs(outputs: _Outputs) -> None:
    """Check that outputs can be written before a long run, not after it."""
    for path in (outputs.trace, outputs.timeline):
        if path is None:
            continue
        if path.is_dir():
            fail(f"cannot write '{path}': Is a directory")
        if not path.parent.is_dir():
            fail(f"cannot write '{path}': there is no folder '{path.parent}'")
    if outputs.folder is not None and outputs.folder.exists() and not outputs.folder.is_dir():
        fail(f"cannot write to '{outputs.folder}': it is no folder")


@dataclass(frozen=True)
class _Done:
    """A launch, its first run, and the time of all its runs."""

    launch: Launch
    simulation: Simulation
    seconds: float
    predicted: Sequence[tuple[str, str]] = ()
    """What the model of units says of the launch, if that is asked for."""


def _simulate(request: _Request) -> None:
    from tileas_xdsl.tools.deep_stack import with_deep_stack
    from tileas_xdsl.tools.running.scheduled_runs import (
        FailedRunError,
        UnequalRunError,
        progress_bar,
    )

    try:
        with progress_bar() as bar:
            done = with_deep_stack(lambda: _run(request, bar))
    except FailedRunError as run:
        _end_failed(request, run)
    except UnequalRunError as run:
        _end_unequal(request, run)
    _write(request.outputs, done.simulation.trace, done)
    print_text(done.simulation.printed)
    _print_run(done, len(request.schedules))
    _print_arrays(done)


def _run(request: _Request, bar: Bar) -> _Done:
    from tileas_xdsl.tools.inputs.programs import load_tiles
    from tileas_xdsl.tools.running.predictions import prediction_facts
    from tileas_xdsl.tools.running.scheduled_runs import Trial, prepare

    program = load_tiles(request.file, request.target, request.signature)
    launch = prepare(
        program,
        request.kernel,
        parse_specs(request.args),
        request.grid,
        request.target,
        request.cluster,
        request.jobs,
    )
    trial = Trial(launch, request.schedules, request.tolerance, request.outputs.wants_trace)
    start = time.perf_counter()
    simulation = trial.run(program.module, bar)
    seconds = time.perf_counter() - start
    facts = prediction_facts(launch.predict(program.module)) if request.predict else ()
    return _Done(launch, simulation, seconds, facts)


def _end_failed(request: _Request, run: FailedRunError) -> NoReturn:
    from tileas_xdsl.interpreters.tile.faults import SimulationError
    from tileas_xdsl.tools.inputs.programs import print_diagnostics

    if isinstance(run.error, SimulationError):
        print_text(run.error.printed)
    print_diagnostics(run.error.diagnostics)
    if isinstance(run.error, SimulationError) and run.error.trace is not None:
        _write(request.outputs, run.error.trace)
    if len(request.schedules) == 1:
        raise typer.Exit(1)
    fail(f"a schedule fails; to see it again: {request.command(run.schedule)}")


def _end_unequal(request: _Request, run: UnequalRunError) -> NoReturn:
    _write(request.outputs, run.simulation.trace)
    first = request.command(request.schedules[0])
    fail(
        f"{run.argument} depends on the schedule: {run.difference}; "
        f"to see both: {first}; {request.command(run.schedule)}"
    )


def _write(outputs: _Outputs, trace: Trace, done: _Done | None = None) -> None:
    """Write all files of a run; of one that went wrong the trace only."""
    from tileas_xdsl.tools.inputs.array_files import Drafts

    try:
        with Drafts() as drafts:
            if outputs.folder is not None and done is not None:
                for number, array in _arrays(done):
                    drafts.array(outputs.folder / f"arg{number}.npy", array)
            _draft_pictures(drafts, outputs, trace)
    except OSError as error:
        fail(f"cannot write '{error.filename}': {error.strerror}")


def _draft_pictures(drafts: Drafts, outputs: _Outputs, trace: Trace) -> None:
    if outputs.trace is not None:
        from tileas_xdsl.interpreters.tile.tracing.perfetto import perfetto_json

        drafts.text(outputs.trace, perfetto_json(trace))
    if outputs.timeline is not None:
        from tileas_xdsl.interpreters.tile.tracing.timeline import draw_timeline

        drafts.text(outputs.timeline, draw_timeline(trace))


def _arrays(done: _Done) -> Sequence[tuple[int, Array]]:
    """The array arguments after the run, by their positions."""
    import numpy as np

    pairs = enumerate(zip(done.launch.parameters, done.simulation.arrays, strict=True))
    return [(n, np.asarray(value)) for n, (p, value) in pairs if p.shape is not None]


def _print_run(done: _Done, schedules: int) -> None:
    """The first run's numbers, and the time of all of them."""
    simulation = done.simulation
    speed = simulation.operations * schedules / max(done.seconds, 1e-9)
    facts = [
        ("blocks", str(simulation.blocks)),
        ("operations", str(simulation.operations)),
        ("cycles", str(simulation.cycles)),
        ("wall time", f"{done.seconds:.3f} s"),
        ("speed", f"{speed:.3g} operations/s"),
    ]
    if schedules > 1:
        facts.append(("schedules", f"{schedules}, all with the same results"))
    print_facts([*facts, *done.predicted])


def _print_arrays(done: _Done) -> None:
    import numpy as np

    from tileas_xdsl.tools.inputs.array_table import Shown, print_arrays

    given, parameters = done.launch.args, done.launch.parameters
    print_arrays(
        [
            Shown(n, parameters[n].name, str(parameters[n].type), np.asarray(given[n]), after)
            for n, after in _arrays(done)
        ]
    )
