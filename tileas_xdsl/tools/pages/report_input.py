"""The report of a kernel in a file, and of its run with the arguments of a command line."""

from __future__ import annotations

from collections.abc import Sequence

from tileas_xdsl.diagnostics.parsing.sources import source_text
from tileas_xdsl.frontend.kernel_files import split_reference
from tileas_xdsl.report.building import Report, Subject, build_report
from tileas_xdsl.report.kernel_page import python_source
from tileas_xdsl.report.runs import Arguments
from tileas_xdsl.tools.inputs.kernel_options import parse_specs
from tileas_xdsl.tools.inputs.programs import load_input, load_tiles
from tileas_xdsl.tools.running.scheduled_runs import Extents, prepare


def read_report(
    path: str,
    kernel: str | None,
    target: str | None,
    signature: str | None,
    grid: Extents | None,
    specs: Sequence[str],
) -> Report:
    """Return the report of a kernel; with a grid, of its run too.

    Raises `DiagnosticError` for a file that is no module, `UsageError`, `BindingError` and
    `ArgumentError` for a command line that does not fit it.
    """
    program = load_input(path, signature, target, None)
    arguments = None
    if grid is not None:
        tiles = load_tiles(path, target, signature)
        launch = prepare(tiles, kernel, parse_specs(list(specs)), grid, target, None, 1)
        arguments = Arguments(launch.args, grid)
    subject = Subject(program.module, program.ctx, path, target, kernel, program.parameters)
    is_python = split_reference(path) is not None
    return build_report(subject, python_source if is_python else source_text, arguments)
