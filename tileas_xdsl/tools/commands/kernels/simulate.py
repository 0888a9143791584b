"""`tileas simulate`: run a kernel on the CPU, with every rule of the machine checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tileas_xdsl.tools.inputs.kernel_options import (
    BlockOption,
    ClusterOption,
    DynamicSharedOption,
    ExecutorOption,
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
)

if TYPE_CHECKING:
    from tileas_xdsl.interpreters.tile.launch import Schedule
    from tileas_xdsl.tools.running.ptx_runs import OrderOfEvents


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
    from tileas_xdsl.tools.running.tile_simulation import (
        Outputs,
        TileRequest,
        check_outputs,
        run_tiles,
    )

    is_text, outputs = input_file.endswith(".ptx"), Outputs(out, trace, timeline)
    with reported_errors():
        check_outputs(outputs)
        if level is Level.TILE_IR:
            from tileas_xdsl.tools.running.tile_ir_simulation import run_tile_ir

            _refuse(Level.TILE_IR, given_options(ctx, _NOT_OF_TILE_IR))
            run_tile_ir(input_file, arg, kernel, sig, grid, out)
        elif is_text or level is Level.PTX:
            others = _ONLY_OF_COMPILED_PTX if is_text else _ONLY_OF_PTX_FILES
            _refuse(Level.PTX, ["--level tile"] if level is Level.TILE else [])
            _refuse(Level.PTX, given_options(ctx, (*_ONLY_OF_TILES, *others)))
            orders = _orders(schedules, order, seed)
            launch = PtxLaunch(kernel, grid, block, cluster, target, shared, host_code, sig)
            run_ptx(input_file, arg, launch, orders, tolerance, executor or jobs, out)
        else:
            _refuse(Level.TILE, given_options(ctx, _NOT_OF_TILES))
            _refuse(Level.TILE, ["--arg map:"] if any(s.startswith("map:") for s in arg) else [])
            chosen = _schedules(schedules, policy, seed)
            run_tiles(
                TileRequest(
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
