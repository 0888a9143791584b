"""`tileas validate`: which pass of a pipeline changes what a kernel computes?"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.tools.console import fail, print_table
from tileas_xdsl.tools.inputs.kernel_options import (
    ArgOption,
    ClusterOption,
    CompilableInput,
    ExecutorOption,
    GridOption,
    JobsOption,
    KernelOption,
    SchedulesOption,
    SignatureOption,
    TargetOption,
    ToleranceOption,
    parse_specs,
)

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

    from tileas_xdsl.tools.inputs.programs import Program
    from tileas_xdsl.tools.running.scheduled_runs import Bar, Launch, Trial
    from tileas_xdsl.tools.running.validation import Step


def validate(
    input_file: CompilableInput,
    grid: GridOption,
    passes: Annotated[
        str | None,
        typer.Option(
            "-p",
            "--passes",
            metavar="PASSES",
            help="The name of a pipeline, or passes separated by commas; 'tileas pipelines' and "
            "'tileas passes --all' list both. Without: on every level, for both targets.",
        ),
    ] = None,
    arg: ArgOption = [],  # noqa: B006
    kernel: KernelOption = None,
    sig: SignatureOption = None,
    target: TargetOption = None,
    cluster: ClusterOption = None,
    schedules: SchedulesOption = 1,
    tolerance: ToleranceOption = 0.0,
    print_ir: Annotated[
        bool, typer.Option("--print-ir", help="Print the IR before and after the guilty pass.")
    ] = False,
    jobs: JobsOption = 1,
    executor: ExecutorOption = None,
) -> None:
    """Name the first pass that changes what a kernel computes.

    The kernel runs on this CPU before and after each pass, and its results are compared.

    Without passes it runs on every level, and must compute the same on each: Tile IR by its own
    meaning, tiles on the interpreter, PTX on the emulator. With them, tiles that were made of Tile
    IR are compared with its meaning first, within the errors of rounding.

    The kernel is not run any more once it is thread-level IR.  A pass that fails, leaves a module
    that does not verify, or after which the simulation finds a race, a deadlock or a broken
    protocol is named too.
    """
    if passes is None:
        _validate_levels(input_file, arg, kernel, sig, grid, target, tolerance)
        return
    from tileas_xdsl.deep_stack import with_deep_stack
    from tileas_xdsl.tools.inputs.programs import load_tiles, reported_errors
    from tileas_xdsl.tools.running.scheduled_runs import Trial, prepare, progress_bar, schedules_of

    def work(bar: Bar) -> list[_Stage]:
        chosen = parse_pipeline(passes)
        program = load_tiles(input_file, target, sig)
        specs = parse_specs(arg)
        launch = prepare(program, kernel, specs, grid, target, cluster, executor or jobs)
        trial = Trial(launch, schedules_of(schedules or 1), tolerance)
        _attach_target(program, launch)
        return list(_stages(program, chosen, trial, bar, print_ir))

    with reported_errors():
        with progress_bar() as bar:
            stages = with_deep_stack(lambda: work(bar))
        _tell(stages, print_ir)


def _validate_levels(
    path: str,
    specs: Sequence[str],
    kernel: str | None,
    signature: str | None,
    grid: tuple[int, int, int],
    target: str | None,
    tolerance: float,
) -> None:
    from tileas_xdsl.tools.inputs.programs import reported_errors
    from tileas_xdsl.tools.running.level_validation import validate_levels

    with reported_errors():
        validate_levels(path, specs, kernel, signature, grid, target, tolerance)


@dataclass(frozen=True)
class _Stage:
    """A step, and the program after it as text if that is wanted."""

    step: Step
    text: str


def _stages(
    program: Program, passes: Sequence[ModulePass], trial: Trial, bar: Bar, print_ir: bool
) -> Generator[_Stage]:
    from tileas_xdsl.tools.running import validation

    for step in validation.validate(program, passes, trial, bar):
        yield _Stage(step, program.text() if print_ir else "")


def parse_pipeline(text: str) -> Sequence[ModulePass]:
    """The passes that `-p` lists; raises `UsageError`."""
    from tileas_xdsl.diagnostics.parsing.pass_specs import parse_passes
    from tileas_xdsl.installed import installed_universe
    from tileas_xdsl.pipelines import PIPELINES

    return parse_passes(text, installed_universe().all_passes, PIPELINES)


def _attach_target(program: Program, launch: Launch) -> None:
    """Write the target that the kernel is simulated on on its module, for all passes."""
    from tileas_xdsl.dialects.target_attribute import set_target
    from tileas_xdsl.interpreters.tile.launch import find_kernel, target_for

    kernel = find_kernel(program.module, launch.kernel)
    set_target(program.module, target_for(kernel, launch.target))


def _tell(stages: Sequence[_Stage], print_ir: bool) -> None:
    from tileas_xdsl.tools.inputs.programs import print_diagnostics

    steps = [stage.step for stage in stages]
    for step in steps:
        print_diagnostics(step.reports)
    rows = [(step.name, _verdict(step), _cycles(step)) for step in steps]
    print_table(("pass", "ok", "cycles"), rows)
    _tell_where_tiles_end(steps)
    last = steps[-1]
    if last.complaint is None:
        return
    print_diagnostics(last.complaint.diagnostics)
    if print_ir and len(stages) > 1:
        for when, stage in zip(("before", "after"), stages[-2:], strict=True):
            typer.echo(f"IR {when} {last.name}:\n{stage.text}", err=True)
    fail(last.complaint.message)


def _verdict(step: Step) -> str:
    if step.complaint is not None:
        return "no"
    return "not run" if step.is_of_threads else "yes"


def _tell_where_tiles_end(steps: Sequence[Step]) -> None:
    first = next((step.name for step in steps if step.is_of_threads), None)
    if first is not None:
        typer.echo(
            f"tileas: note: pass '{first}' leaves a kernel of threads: from there on the IR was "
            "verified, not run; 'tileas simulate --level ptx' runs what it becomes",
            err=True,
        )


def _cycles(step: Step) -> str:
    return "" if step.cycles is None else str(step.cycles)
