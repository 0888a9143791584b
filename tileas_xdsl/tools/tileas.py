"""`tileas`: the command for people.  Each command is a file of `tools/commands`.

Exit code 0 is success, 1 means that the input is wrong or something failed, also the writing of an
output, 2 that the command line is wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from tileas_xdsl.collection import collected_rarely_to_the_end
from tileas_xdsl.tools.commands.inspection.explain import explain
from tileas_xdsl.tools.commands.inspection.layout import layout
from tileas_xdsl.tools.commands.inspection.report import report
from tileas_xdsl.tools.commands.inspection.schedule import schedule
from tileas_xdsl.tools.commands.inspection.serve import serve
from tileas_xdsl.tools.commands.installation.cache import cache
from tileas_xdsl.tools.commands.installation.doctor import doctor
from tileas_xdsl.tools.commands.installation.example import example
from tileas_xdsl.tools.commands.installation.listings import (
    diagnostics,
    dialects,
    passes,
    pipelines,
)
from tileas_xdsl.tools.commands.kernels.check import check
from tileas_xdsl.tools.commands.kernels.compile import compile
from tileas_xdsl.tools.commands.kernels.run import run
from tileas_xdsl.tools.commands.kernels.simulate import simulate
from tileas_xdsl.tools.commands.kernels.tune import tune
from tileas_xdsl.tools.commands.kernels.validate import validate
from tileas_xdsl.tools.failures import end_of_failure

app = typer.Typer(
    help="An open compiler for GPU tile kernels.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich" if sys.stdout.isatty() else None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if not wanted:
        return
    from importlib.metadata import version

    typer.echo(f"tileas {version('tileas-xdsl')} (xDSL {version('xdsl')})")
    raise typer.Exit


@app.callback()
def root(
    show_version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and leave."
    ),
) -> None:
    """Options that every command shares."""
    del show_version


COMMANDS = (
    compile,
    simulate,
    check,
    run,
    validate,
    explain,
    tune,
    report,
    serve,
    schedule,
    layout,
    dialects,
    passes,
    pipelines,
    diagnostics,
    cache,
    doctor,
)
for command in COMMANDS:
    app.command()(command)
app.add_typer(example, name="example")


@collected_rarely_to_the_end()
def main(argv: Sequence[str] | None = None) -> None:
    """Run `argv` (default: the command line) and leave with its exit code."""
    try:
        app(argv)
    except Exception as error:
        raise SystemExit(end_of_failure("tileas", error)) from None


if __name__ == "__main__":
    main()
