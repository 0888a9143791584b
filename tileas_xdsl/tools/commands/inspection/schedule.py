"""`tileas schedule`: the modulo schedules of a kernel's loops, as a table and as pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tileas_xdsl.tools.console import fail
from tileas_xdsl.tools.inputs.kernel_options import (
    CompilableInput,
    CompileTargetOption,
    KernelOption,
    SignatureOption,
)

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.utils.arg_spec import ArgSpec

    from tileas_xdsl.scheduling.loops.loop_scheduler import Scheduled


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
    from tileas_xdsl.report.loops import loop_table
    from tileas_xdsl.tools.inputs.programs import reported_errors

    with reported_errors():
        loops = list(_schedules(input_file, kernel, target, sig, solver))
        if not loops:
            typer.echo("there is no loop")
        for index, found in enumerate(loops):
            text = found if isinstance(found, str) else loop_table(found)
            typer.echo(f"loop {index}: {text}")
        if svg is not None:
            _draw(loops, svg)


def _schedules(
    input_file: str, kernel: str | None, target: str | None, sig: str | None, solver: str
) -> Iterator[Scheduled | str]:
    from tileas_xdsl.compiler import compile_module
    from tileas_xdsl.deep_stack import with_deep_stack
    from tileas_xdsl.scheduling.loops.loop_scheduler import SchedulerOptions
    from tileas_xdsl.scheduling.loops.module_loops import schedules
    from tileas_xdsl.scheduling.solvers.search import SolverName
    from tileas_xdsl.target.arch import get_target
    from tileas_xdsl.tools.inputs.programs import load_input

    if solver not in (known := [name.value for name in SolverName]):
        raise typer.BadParameter(f"solver '{solver}' is none of {', '.join(known)}")
    program = with_deep_stack(lambda: load_input(input_file, sig, target, None))
    passes = _passes(program.module)
    compiled = compile_module(program.module, program.ctx, target, kernel=kernel, passes=passes)
    options = SchedulerOptions(solver=SolverName(solver))
    for _, found in schedules(compiled.module, get_target(compiled.target), options):
        yield found


def _passes(module: ModuleOp) -> Sequence[ArgSpec]:
    """Return the passes to the tiles that are scheduled; Tile IR becomes tiles before."""
    from xdsl.dialects import func
    from xdsl.utils.arg_spec import ArgSpec

    from tileas_xdsl.compilation.levels import Level, level_of, remaining
    from tileas_xdsl.diagnostics.emission import op_error
    from tileas_xdsl.dialects.kinds import instances_in
    from tileas_xdsl.scheduling.loops.module_loops import SCHEDULED_AFTER
    from tileas_xdsl.transforms.tl_to_tiles.choice import why_not_by_tiles

    last = ArgSpec(SCHEDULED_AFTER, {})
    if level_of(module.ops) is not Level.BUFFERS:
        return [last]
    passes = remaining(module, module.ops).passes
    if last in passes:
        return passes[: passes.index(last) + 1]
    reasons = [(op, why_not_by_tiles(op)) for op in instances_in(module, func.FuncOp)]
    kernel, why = next((op, why) for op, why in reasons if why is not None)
    raise op_error(kernel, f"has no loops over tiles, which are scheduled: {why}")


def _draw(loops: Sequence[Scheduled | str], folder: Path) -> None:
    """Draw all loops that have a schedule, or none; ends the program where it cannot."""
    from tileas_xdsl.report.loops import loop_pictures
    from tileas_xdsl.tools.inputs.array_files import Drafts

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with Drafts() as drafts:
            for number, one in enumerate(loops):
                if isinstance(one, str):
                    continue
                for name, text in loop_pictures(one).items():
                    drafts.text(folder / f"loop{number}_{name}.svg", text)
    except OSError as error:
        fail(f"cannot draw into '{folder}': {error.strerror or error}")
