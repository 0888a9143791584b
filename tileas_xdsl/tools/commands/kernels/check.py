"""`tileas check`: what is wrong with a kernel, in PTX of any compiler or compiled from tiles."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tileas_xdsl.executors import Workers
from tileas_xdsl.tools.inputs.kernel_options import (
    BlockOption,
    ClusterOption,
    ExecutorOption,
    Grid,
    JobsOption,
    KernelOption,
    RunnableArgOption,
    RunnableInput,
    SignatureOption,
    TargetOption,
    extents,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileas_xdsl.check.suppressions import Suppression
    from tileas_xdsl.tools.inputs.launch_files import LaunchFile
    from tileas_xdsl.tools.running.ptx_runs import PtxLaunch


class ReportFormat(StrEnum):
    """How findings are printed."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


def _suppressions(texts: list[str]) -> list[str]:
    from tileas_xdsl.check.suppressions import parse_suppression

    for text in texts:
        try:
            parse_suppression(text)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    return texts


OptionalGrid = Annotated[
    Grid | None,
    typer.Option(parser=extents, metavar="X[,Y[,Z]]", help="Blocks of the grid, by default 1."),
]
LaunchOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.json",
        help="The launch as a JSON object with kernel, grid, block, cluster, shared and args; "
        "options of the command line win.",
    ),
]
OptionalSharedOption = Annotated[
    int | None, typer.Option(min=0, help="With .ptx files: bytes of dynamic shared memory.")
]
AllowOption = Annotated[
    list[str],
    typer.Option(
        metavar="KIND[:LINE]",
        callback=_suppressions,
        help="Accept findings of a kind, everywhere or at a line of the PTX or of the source.",
    ),
]
OrdersOption = Annotated[
    int,
    typer.Option(
        min=1,
        help="Orders in which asynchronous operations complete: at once, late, random; random "
        "ones also run several blocks at a time.",
    ),
]
SeedOption = Annotated[int, typer.Option(min=0, help="The first random order.")]
LimitOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        show_default="20 million",
        help="Instructions of a cluster after which it is said not to end.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
SarifOption = Annotated[
    bool, typer.Option("--sarif", help="Print a SARIF 2.1.0 log, for code scanning.")
]
GithubOption = Annotated[
    bool, typer.Option("--github", help="Print annotations of GitHub Actions.")
]


def check(
    input_file: RunnableInput,
    grid: OptionalGrid = None,
    arg: RunnableArgOption = [],  # noqa: B006
    launch: LaunchOption = None,
    kernel: KernelOption = None,
    sig: SignatureOption = None,
    target: TargetOption = None,
    block: BlockOption = None,
    cluster: ClusterOption = None,
    shared: OptionalSharedOption = None,
    allow: AllowOption = [],  # noqa: B006
    schedules: OrdersOption = 3,
    seed: SeedOption = 0,
    limit: LimitOption = None,
    as_json: JsonOption = False,
    as_sarif: SarifOption = False,
    as_github: GithubOption = False,
    jobs: JobsOption = 1,
    executor: ExecutorOption = None,
) -> None:
    """Run a kernel on this CPU and report what is wrong with it.

    Races, deadlocks, missing fences, wrong phases and byte counts, accesses out of bounds: each
    kind and instruction is reported once, over all blocks and orders.  Notes are worth a look and
    do not fail.  Exit code 0: nothing but notes; 1: findings, or an input that cannot be checked;
    2: a wrong command line.
    """
    from tileas_xdsl.check.reports import INSTRUCTION_BUDGET
    from tileas_xdsl.check.suppressions import parse_suppression
    from tileas_xdsl.tools.inputs.programs import reported_errors

    with reported_errors():
        described = _described(launch)
        how = _launch(described, kernel, grid, block, cluster, target, shared, sig)
        _refuse_for_tiles(input_file, how)
        specs = arg or (described.args if described and described.args else [])
        _run(
            input_file, specs, how,
            [parse_suppression(text) for text in allow],
            (schedules, seed, limit or INSTRUCTION_BUDGET, executor or jobs),
            _format(as_json, as_sarif, as_github),
        )  # fmt: skip


def _format(as_json: bool, as_sarif: bool, as_github: bool) -> ReportFormat:
    from tileas_xdsl.diagnostics.parsing.pass_specs import UsageError

    given = {"json": as_json, "sarif": as_sarif, "github": as_github}
    wanted = [name for name, is_given in given.items() if is_given]
    if len(wanted) > 1:
        raise UsageError(f"--{wanted[0]} and --{wanted[1]} exclude each other")
    return ReportFormat(wanted[0]) if wanted else ReportFormat.TEXT


def _described(path: Path | None) -> LaunchFile | None:
    from tileas_xdsl.tools.inputs.arguments import BindingError
    from tileas_xdsl.tools.inputs.kernel_options import check_specs
    from tileas_xdsl.tools.inputs.launch_files import LaunchFileError, read_launch

    if path is None:
        return None
    try:
        found = read_launch(path)
    except LaunchFileError as error:
        raise BindingError(str(error)) from error
    check_specs(list(found.args or ()))
    return found


def _launch(
    described: LaunchFile | None,
    kernel: str | None,
    grid: Grid | None,
    block: Grid | None,
    cluster: Grid | None,
    target: str | None,
    shared: int | None,
    signature: str | None,
) -> PtxLaunch:
    """Return the launch: options of the command line, then the file's, then defaults."""
    from tileas_xdsl.tools.inputs.launch_files import LaunchFile
    from tileas_xdsl.tools.running.ptx_runs import PtxLaunch

    file = described or LaunchFile(None, None, None, None, None, None)
    return PtxLaunch(
        kernel or file.kernel,
        grid or extents(file.grid or "1"),
        block or (extents(file.block) if file.block else None),
        cluster or (extents(file.cluster) if file.cluster else None),
        target,
        (file.shared or 0) if shared is None else shared,
        signature=signature,
    )


def _refuse_for_tiles(path: str, launch: PtxLaunch) -> None:
    """Options that the kernel itself decides are wrong for tiles; a signature is for cuTile."""
    from tileas_xdsl.diagnostics.parsing.pass_specs import UsageError

    of_text = {
        "block": launch.block is not None,
        "cluster": launch.cluster is not None,
        "shared": launch.shared > 0,
    }
    is_text = path.endswith(".ptx")
    for name, given in of_text.items():
        if given and not is_text:
            raise UsageError(f"--{name} is for .ptx files; kernels of tiles decide it themselves")
    if launch.signature is not None and is_text:
        raise UsageError("--sig is for kernels of cuTile")


def _run(
    path: str,
    specs: Sequence[str],
    launch: PtxLaunch,
    allow: Sequence[Suppression],
    effort: tuple[int, int, int, Workers],
    format_: ReportFormat,
) -> None:
    from tileas_xdsl.tools.running.ptx_checking import check_program, print_report, read_program
    from tileas_xdsl.tools.running.scheduled_runs import progress_bar

    program = read_program(path, specs, launch)
    with progress_bar() as bar:
        found = check_program(program, allow, *effort, bar)
    print_report(found, str(format_))
    if found.failures:
        raise typer.Exit(1)
