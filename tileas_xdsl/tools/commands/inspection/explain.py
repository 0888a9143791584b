"""`tileas explain`: what bounds a kernel, what it uses, and why it is as it is."""

from __future__ import annotations

import json as json_text
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tileas_xdsl.tools.console import fail
from tileas_xdsl.tools.inputs.kernel_options import (
    ArgOption,
    CompileTargetOption,
    KernelOption,
    OptionalGridOption,
    RunnableInput,
    SignatureOption,
)

if TYPE_CHECKING:
    from tileas_xdsl.dialects.tl.kernel import KernelOp
    from tileas_xdsl.inference.decisions import Decisions
    from tileas_xdsl.inference.program import Program as BufferProgram
    from tileas_xdsl.tools.inputs.programs import Program
    from tileas_xdsl.tools.pages.explaining import Request

_MODES = ("improved", "parity")
ALL = "all"


def _known_mode(name: str | None) -> str | None:
    if name not in (None, *_MODES):
        raise typer.BadParameter(f"'{name}' is no mode: {' or '.join(_MODES)}")
    return name


def _known_sections(names: list[str]) -> list[str]:
    from tileas_xdsl.diagnostics.suggest import did_you_mean
    from tileas_xdsl.explanation.text import SECTIONS

    for name in names:
        if name not in (ALL, *SECTIONS):
            hint = did_you_mean(name, [*SECTIONS, ALL])
            known = f"there are {', '.join([*SECTIONS, ALL])}"
            raise typer.BadParameter(f"there is no section '{name}'; {hint or known}")
    return names


ShowOption = Annotated[
    list[str],
    typer.Option(
        metavar="SECTION",
        callback=_known_sections,
        help="Print this section whole instead of the summary: loops, reasons, occupancy, "
        "waves, registers, shared, accesses, layouts, conversions, or all.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print all that is known as JSON.")]
LineOption = Annotated[
    int | None,
    typer.Option(
        min=1, help="Say which passes changed what this line of the source became, and to what."
    ),
]
ModeOption = Annotated[
    str | None,
    typer.Option(callback=_known_mode, help="Of tl kernels: improved, or parity with TileLang."),
]
SvgOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Of tl kernels: draw who owns what into this folder, a picture a buffer and loop.",
    ),
]


def explain(
    input_file: RunnableInput,
    kernel: KernelOption = None,
    target: CompileTargetOption = None,
    sig: SignatureOption = None,
    show: ShowOption = [],  # noqa: B006
    json: JsonOption = False,
    line: LineOption = None,
    grid: OptionalGridOption = None,
    arg: ArgOption = [],  # noqa: B006
    mode: ModeOption = None,
    svg: SvgOption = None,
) -> None:
    """Explain what bounds a kernel, what it uses, and why.

    For each loop the unit that bounds it and the slack of the others, its roofline, and why loads
    are not done by TMA or not pipelined; what limits the blocks on a multiprocessor; bank conflicts
    and sectors by source line, counted on one block that runs on the emulator, with the arguments
    of --grid and --arg or with some that fit the kernel; on that run too what bounds loops of code
    that has no tiles.  Of a tl kernel that is not compiled by way of tiles, and with --mode of
    any, it tells, without --show, for each buffer and loop what fixed its layout, and the
    alternatives.

    Of a .ptx file: instructions by unit, loops, shared memory, what ptxas makes of it, with --grid
    and --arg accesses and what bounds loops; of a refused one directives with which it assembles.

    A kernel that is refused is explained too: what holds registers and shared memory, and the
    smallest change of constants, or of numbers in its text, that compiles.
    """
    from tileas_xdsl.deep_stack import with_deep_stack
    from tileas_xdsl.tools.inputs.programs import load_input, reported_errors
    from tileas_xdsl.tools.pages.explaining import Request

    layouts = "--mode" if mode is not None else "--svg" if svg is not None else ""
    if arg and grid is None:
        fail("--arg needs --grid, of a launch that takes these arguments", 2)
    if input_file.endswith(".ptx"):
        if sig is not None or show or layouts or line is not None:
            fail("of a .ptx file there is one explanation: --sig, --show, --mode, --svg, --line", 2)
        with reported_errors():
            _explain_ptx(Request(input_file, kernel, target, grid, arg), json=json)
        return
    with reported_errors():
        program = with_deep_stack(lambda: load_input(input_file, sig, target, None))
        block_programs = list(_kernels(program))
        if layouts and not block_programs:
            fail(f"{layouts} is for tl kernels, and {input_file} has none", 2)
        if layouts and (show or json):
            fail(f"{layouts} is of no use with --show and --json", 2)
        if line is not None and (show or json or layouts):
            fail("--line is of no use with --show, --json, --mode and --svg", 2)
        has_facts = bool(show) or json or line is not None
        if block_programs and not has_facts and (layouts or _by_buffers(program)):
            _explain_buffers(block_programs, target, mode or _MODES[0], svg)
            return
        request = Request(input_file, kernel, target, grid, arg)
        if line is not None:
            with_deep_stack(lambda: _tell_line(program, request, line))
            return
        with_deep_stack(lambda: _explain(program, request, show, json=json))


def _explain_ptx(request: Request, *, json: bool) -> None:
    """Print what a PTX text says of its kernels."""
    from tileas_xdsl.explanation.ptx.kernels import ptx_explanation
    from tileas_xdsl.tools.pages.explaining import explained_ptx

    found = explained_ptx(request)
    if json:
        typer.echo(json_text.dumps([one.to_json() for one in found], indent=2))
    else:
        typer.echo("\n\n".join(map(ptx_explanation, found)))
    if any(one.assembly is not None and one.assembly.is_refused for one in found):
        raise typer.Exit(1)


def _explain(program: Program, request: Request, show: Sequence[str], *, json: bool) -> None:
    """Print the facts of all kernels; those of a refused one on stderr, and exit."""
    from tileas_xdsl.explanation.refused.refusal_text import refusal_text
    from tileas_xdsl.explanation.text import SECTIONS, explanation
    from tileas_xdsl.tools.inputs.programs import print_diagnostics
    from tileas_xdsl.tools.pages.explaining import RefusedError, explained

    try:
        found = explained(program, request)
    except RefusedError as refused:
        print_diagnostics(refused.error.diagnostics)
        if json:
            typer.echo(json_text.dumps(refused.explained.to_json(), indent=2))
        else:
            typer.echo(refusal_text(refused.explained))
        raise typer.Exit(1) from refused
    if json:
        typer.echo(json_text.dumps([one.to_json() for one in found], indent=2))
        return
    sections = list(SECTIONS) if ALL in show else show
    typer.echo("\n\n".join(explanation(one, sections) for one in found))


def _tell_line(program: Program, request: Request, line: int) -> None:
    """Print what each pass made of a line of the source."""
    from tileas_xdsl.explanation.compilation.line_history import history_text
    from tileas_xdsl.explanation.text import place_text
    from tileas_xdsl.tools.pages.explaining import changes_of_line

    place, changes = changes_of_line(program, request, line)
    typer.echo(place_text(place, source=True))
    for text in history_text(changes):
        typer.echo(text)


def _by_buffers(program: Program) -> bool:
    """Whether layouts of the buffers of tl kernels are inferred, as none are by way of tiles."""
    from tileas_xdsl.compilation.levels import BUFFERS
    from tileas_xdsl.compiler import default_passes
    from tileas_xdsl.pipelines import PIPELINES

    return tuple(default_passes(program.module)) == PIPELINES[BUFFERS].passes


def _kernels(program: Program) -> Iterator[KernelOp]:
    from tileas_xdsl.dialects.tl.kernel import KernelOp

    for op in program.module.walk():
        if isinstance(op, KernelOp):
            yield op


def _explain_buffers(
    kernels: Sequence[KernelOp], target: str | None, mode: str, svg: Path | None
) -> None:
    """Print why each buffer and loop of tl kernels has its layout, and draw them."""
    from xdsl.dialects.builtin import ModuleOp

    from tileas_xdsl.dialects.target_attribute import located_target
    from tileas_xdsl.inference.explanation import explanation

    module = kernels[0].get_toplevel_object()
    assert isinstance(module, ModuleOp)
    name = located_target(module, target).name
    found = [_laid_out(kernel, name, mode) for kernel in kernels]
    for index, (kernel, (program, decisions)) in enumerate(zip(kernels, found, strict=True)):
        gap = "\n" if index else ""
        typer.echo(f"{gap}@{_name(kernel)}: mode {mode}, {explanation(program, decisions)}")
    if svg is not None:
        _draw(svg, [(_name(k), *each) for k, each in zip(kernels, found, strict=True)])


def _laid_out(kernel: KernelOp, target: str, mode: str) -> tuple[BufferProgram, Decisions]:
    from tileas_xdsl.transforms.layouts.tl_layout_inference import lay_out

    return lay_out(kernel, target, mode)


def _name(kernel: KernelOp) -> str:
    from xdsl.dialects import func

    parent = kernel.parent_op()
    return parent.sym_name.data if isinstance(parent, func.FuncOp) else "kernel"


def _draw(folder: Path, found: Sequence[tuple[str, BufferProgram, Decisions]]) -> None:
    from tileas_xdsl.diagnostics.outputs import write_output
    from tileas_xdsl.inference.explanation import pictures

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for kernel, program, decisions in found:
            for name, picture in pictures(program, decisions):
                path = folder / f"{kernel}-{name}.svg"
                write_output(str(path), picture)
                typer.echo(path)
    except OSError as error:
        fail(f"cannot draw into '{folder}': {error.strerror or error}")
