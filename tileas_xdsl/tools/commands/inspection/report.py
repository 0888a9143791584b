"""`tileas report`: a kernel as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tileas_xdsl.tools.console import fail
from tileas_xdsl.tools.inputs.kernel_options import (
    ArgOption,
    CompilableInput,
    CompileTargetOption,
    Grid,
    KernelOption,
    OptionalGridOption,
    SignatureOption,
)

if TYPE_CHECKING:
    from tileas_xdsl.report.building import Report


def report(
    input_file: CompilableInput,
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="FILE", help="The page to write.")
    ] = Path("report.html"),
    kernel: KernelOption = None,
    target: CompileTargetOption = None,
    sig: SignatureOption = None,
    grid: OptionalGridOption = None,
    arg: ArgOption = [],  # noqa: B006
) -> None:
    """Write a page that shows a kernel whole, on every level.

    Its source and every level of IR side by side, with the lines that belong together; what each
    pass changed; layouts as pictures; the schedules of loops; shared memory.  With --grid and --arg
    the kernel runs on the interpreters: a timeline of its agents, and what the checkers find.  The
    page needs no network.  A kernel that is refused has a page as well, and exit code 1.
    """
    from tileas_xdsl.deep_stack import with_deep_stack
    from tileas_xdsl.report.page import page
    from tileas_xdsl.tools.inputs.array_files import Drafts
    from tileas_xdsl.tools.inputs.programs import print_diagnostics, reported_errors

    with reported_errors():
        made = with_deep_stack(lambda: _report(input_file, kernel, target, sig, grid, arg))
    try:
        with Drafts() as drafts:
            drafts.text(out, page(made))
    except OSError as error:
        fail(f"cannot write '{error.filename}': {error.strerror}")
    typer.echo(f"{out}: @{made.kernel} for {made.target}, {len(made.runs.findings)} findings")
    errors = [found.diagnostic for found in made.runs.findings if found.severity == "error"]
    print_diagnostics(errors)
    if errors:
        raise typer.Exit(1)


def _report(
    path: str,
    kernel: str | None,
    target: str | None,
    sig: str | None,
    grid: Grid | None,
    specs: list[str],
) -> Report:
    from tileas_xdsl.diagnostics.parsing.pass_specs import UsageError
    from tileas_xdsl.tools.pages.report_input import read_report

    if specs and grid is None:
        raise UsageError("--arg is for a run, which needs --grid")
    return read_report(path, kernel, target, sig, grid, specs)
