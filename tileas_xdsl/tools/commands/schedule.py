"""`tileas schedule`: the modulo schedules of a kernel's loops, as a table and as pictures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tileas_xdsl.tools.kernel_options import (
    CompilableInput,
    CompileTargetOption,
    KernelOption,
    SignatureOption,
)

if TYPE_CHECKING:
    from tileas_xdsl.interpreters.tile.tracing.trace import Trace
    from tileas_xdsl.scheduling.loop_scheduler import Scheduled
    from tileas_xdsl.scheduling.timing import LoopTiming

DRAWN_ITERATIONS = 8
"""Those of the timeline."""


def schedule(
    input_file: CompilableInput,
    kernel: KernelOption = None,
    target: CompileTargetOption = None,
    sig: SignatureOption = None,
    solver: Annotated[str, typer.Option(help="own, list, or cp-sat (OR-Tools).")] = "own",
    svg: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Draw the dependence graph, a round of the units and a timeline of each loop "
            "into this folder.",
        ),
    ] = None,
) -> None:
    """Schedule the loops of a kernel, and say what bounds them.

    For each innermost loop: when each operation starts, in which stage, in which role and on which
    unit; how busy units are, and the predicted cycles of an iteration.
    """
    from tileas_xdsl.tools.programs import reported_errors

    with reported_errors():
        for number, found in enumerate(_schedules(input_file, kernel, target, sig, solver)):
            typer.echo(
                f"loop {number}: {found}" if isinstance(found, str) else _table(number, found)
            )
            if svg is not None and not isinstance(found, str):
                _draw(found, svg, number)


def _schedules(
    input_file: str, kernel: str | None, target: str | None, sig: str | None, solver: str
) -> Iterator[Scheduled | str]:
    from xdsl.dialects import func, scf
    from xdsl.utils.arg_spec import ArgSpec

    from tileas_xdsl.compiler import compile_module
    from tileas_xdsl.scheduling.loop_scheduler import SchedulerOptions, schedule_loop
    from tileas_xdsl.scheduling.room import room_of
    from tileas_xdsl.scheduling.solvers.search import SolverName
    from tileas_xdsl.target.arch import get_target
    from tileas_xdsl.tools.deep_stack import with_deep_stack
    from tileas_xdsl.tools.programs import load_input

    if solver not in (known := [name.value for name in SolverName]):
        raise typer.BadParameter(f"solver '{solver}' is none of {', '.join(known)}")
    program = with_deep_stack(lambda: load_input(input_file, sig, target, None))
    passes = [ArgSpec("tileas-choose-tma", {})]
    compiled = compile_module(program.module, program.ctx, target, kernel=kernel, passes=passes)
    options = SchedulerOptions(solver=SolverName(solver))
    for function in [op for op in compiled.module.ops if isinstance(op, func.FuncOp)]:
        for loop in [op for op in function.walk() if isinstance(op, scf.ForOp)]:
            room = room_of(function, loop, get_target(compiled.target))
            yield schedule_loop(loop, room, options)


def _table(number: int, one: Scheduled) -> str:
    from tileas_xdsl.scheduling.loop_plan import schedule_of
    from tileas_xdsl.scheduling.problem import recurrence_bound, resource_bound
    from tileas_xdsl.scheduling.timing import loop_timing

    plan, timing, problem = schedule_of(one), loop_timing(one), one.found.problem
    bounds = f"units {resource_bound(problem)}, recurrences {recurrence_bound(problem)}"
    roles = ", ".join(
        f"{role.replicas} x {role.name} of {role.warps} warps, {role.registers} registers"
        for role in one.roles
    )
    lines = [
        f"loop {number}: an iteration every {one.solution.ii} cycles (bounds: {bounds})",
        f"  roles: {roles}; {one.demand} registers of tiles",
        *(f"  buffer of load {b.value}: {b.stages} stages" for b in plan.plan.buffers),
        f"  predicted: {timing.per_iteration:.0f} cycles, bound by {timing.bound}; "
        + ", ".join(f"{unit} {100 * load:.0f} %" for unit, load in timing.load.items()),
        "  stage order  start  cycles result role      unit",
    ]
    for node in one.found.graph.nodes:
        place, cost = plan.placements[node.operations[0]], one.found.costs[node.index]
        lines.append(
            f"  {place.stage:5} {place.order:5} {place.start:6} {cost.length:7} {cost.latency:6} "
            f"{place.role:9} {place.unit:14} {node.name}"
        )
    return "\n".join(lines)


def _draw(one: Scheduled, folder: Path, number: int) -> None:
    from tileas_xdsl.interpreters.tile.tracing.timeline import draw_timeline
    from tileas_xdsl.scheduling.pictures import draw_graph, draw_reservations
    from tileas_xdsl.scheduling.timing import loop_timing

    folder.mkdir(parents=True, exist_ok=True)
    trace = _trace(loop_timing(one, DRAWN_ITERATIONS))
    pictures = {
        "graph": draw_graph(one),
        "reservations": draw_reservations(one),
        "timeline": draw_timeline(trace),
    }
    for name, text in pictures.items():
        folder.joinpath(f"loop{number}_{name}.svg").write_text(text, encoding="utf-8")


def _trace(timing: LoopTiming) -> Trace:
    """The events of a run as a trace: the warps of each replica, and what units do for them."""
    from tileas_xdsl.interpreters.tile.tracing.trace import Lane, Span, Trace
    from tileas_xdsl.scheduling.timing import unit_spans

    trace = Trace()
    for event in timing.events:
        warps = Lane("block", f"{event.role} {event.replica}")
        trace.add(Span(warps, event.name, event.start, event.end, "work", event.iteration))
    for event, start, end in unit_spans(timing):
        trace.add(Span(Lane("block", event.unit), event.name, start, end, "work", event.iteration))
    return trace
