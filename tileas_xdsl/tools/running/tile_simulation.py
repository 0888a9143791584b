"""`tileas simulate` at the level of tiles: run a kernel, print what it did, write its files."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np
import typer

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.deep_stack import with_deep_stack
from tileas_xdsl.executors import Workers
from tileas_xdsl.interpreters.tile.faults import SimulationError
from tileas_xdsl.interpreters.tile.launch import Schedule, Simulation
from tileas_xdsl.interpreters.tile.numerics.element_types import Array
from tileas_xdsl.interpreters.tile.tracing.perfetto import perfetto_json
from tileas_xdsl.interpreters.tile.tracing.timeline import draw_timeline
from tileas_xdsl.interpreters.tile.tracing.trace import Trace
from tileas_xdsl.tools.console import fail, print_facts, print_text
from tileas_xdsl.tools.inputs.array_files import Drafts
from tileas_xdsl.tools.inputs.array_table import Shown, print_arrays
from tileas_xdsl.tools.inputs.kernel_options import Grid, parse_specs
from tileas_xdsl.tools.inputs.programs import load_tiles, print_diagnostics
from tileas_xdsl.tools.running.predictions import prediction_facts
from tileas_xdsl.tools.running.scheduled_runs import (
    Bar,
    FailedRunError,
    Launch,
    Trial,
    UnequalRunError,
    options_of,
    prepare,
    progress_bar,
)


@dataclass(frozen=True)
class Outputs:
    """The files a run is to write."""

    folder: Path | None
    trace: Path | None
    timeline: Path | None

    @property
    def wants_trace(self) -> bool:
        return self.trace is not None or self.timeline is not None


@dataclass(frozen=True)
class TileRequest:
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
    outputs: Outputs
    signature: str | None = None
    predict: bool = False

    def command(self, schedule: Schedule) -> str:
        """The command that runs one schedule again."""
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


def check_outputs(outputs: Outputs) -> None:
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


def run_tiles(request: TileRequest) -> None:
    """Run all schedules; end with an error that repeats the one that fails or differs."""
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


def _run(request: TileRequest, bar: Bar) -> _Done:
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


def _end_failed(request: TileRequest, run: FailedRunError) -> NoReturn:
    if isinstance(run.error, SimulationError):
        print_text(run.error.printed)
    print_diagnostics(run.error.diagnostics)
    if isinstance(run.error, SimulationError) and run.error.trace is not None:
        _write(request.outputs, run.error.trace)
    if len(request.schedules) == 1:
        raise typer.Exit(1)
    fail(f"a schedule fails; to see it again: {request.command(run.schedule)}")


def _end_unequal(request: TileRequest, run: UnequalRunError) -> NoReturn:
    _write(request.outputs, run.simulation.trace)
    first = request.command(request.schedules[0])
    fail(
        f"{run.argument} depends on the schedule: {run.difference}; "
        f"to see both: {first}; {request.command(run.schedule)}"
    )


def _write(outputs: Outputs, trace: Trace, done: _Done | None = None) -> None:
    """Write all files of a run; of one that went wrong the trace only."""

    try:
        with Drafts() as drafts:
            if outputs.folder is not None and done is not None:
                for number, array in _arrays(done):
                    drafts.array(outputs.folder / f"arg{number}.npy", array)
            _draft_pictures(drafts, outputs, trace)
    except OSError as error:
        fail(f"cannot write '{error.filename}': {error.strerror}")


def _draft_pictures(drafts: Drafts, outputs: Outputs, trace: Trace) -> None:
    if outputs.trace is not None:
        drafts.text(outputs.trace, perfetto_json(trace))
    if outputs.timeline is not None:
        drafts.text(outputs.timeline, draw_timeline(trace))


def _arrays(done: _Done) -> Sequence[tuple[int, Array]]:
    """The array arguments after the run, by their positions."""

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
    given, parameters = done.launch.args, done.launch.parameters
    print_arrays(
        [
            Shown(n, parameters[n].name, str(parameters[n].type), np.asarray(given[n]), after)
            for n, after in _arrays(done)
        ]
    )
