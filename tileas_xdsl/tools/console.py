"""What the commands of `tileas` share: tables, and errors that end the program."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from textwrap import wrap
from typing import NoReturn

import typer

from tileas_xdsl.diagnostics.colours import painter
from tileas_xdsl.diagnostics.report import Diagnostic, Location, Severity, render
from tileas_xdsl.layout.errors import LayoutSyntaxError

Row = Sequence[str]


def on_terminal() -> bool:
    """Whether stdout is a terminal that a person reads."""
    return sys.stdout.isatty()


def print_table(header: Row, rows: Sequence[Row]) -> None:
    """Rows in aligned columns: with rules and colours on a terminal, plain text elsewhere."""
    if on_terminal():
        _print_rich(header, rows)
        return
    typer.echo(table_text(header, rows))


def table_text(header: Row, rows: Sequence[Row]) -> str:
    """Rows in aligned columns, as plain text."""
    columns = [list(column) for column in zip(header, *rows, strict=True)]
    widths = [max(len(cell) for cell in column) for column in columns]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (header, *rows)
    )
    return "\n".join(lines)


def _print_rich(header: Row, rows: Sequence[Row]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in header:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


def print_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Names and values in two columns; long values wrap on a terminal only."""
    width = max(len(name) for name, _ in facts)
    room = shutil.get_terminal_size().columns - width - 2 if on_terminal() else 0
    for name, value in facts:
        lines = wrap(value, room) or [""] if room > 20 else [value]
        typer.echo(f"{name.ljust(width)}  {lines[0]}")
        for line in lines[1:]:
            typer.echo(f"{' ' * width}  {line}")


def print_text(text: str) -> None:
    """What a kernel has printed, on lines of its own."""
    if text:
        typer.echo(text, nl=not text.endswith("\n"))


def print_grid(cells: Sequence[Sequence[object]]) -> None:
    """A matrix, right-aligned, with row and column numbers."""
    texts = [[str(cell) for cell in row] for row in cells]
    width = max(len(text) for row in texts for text in row)
    width = max(width, len(str(len(cells[0]) - 1)))
    margin = len(str(len(cells) - 1))
    numbers = " ".join(str(i).rjust(width) for i in range(len(cells[0])))
    typer.echo(f"{' ' * margin} | {numbers}")
    typer.echo(f"{'-' * margin}-+-{'-' * len(numbers)}")
    for i, row in enumerate(texts):
        typer.echo(f"{str(i).rjust(margin)} | {' '.join(text.rjust(width) for text in row)}")


def fail(message: str, code: int = 1) -> NoReturn:
    """Print `tileas: error: MESSAGE` and leave."""
    typer.echo(f"tileas: {painter(sys.stderr)('error:', 'error')} {message}", err=True)
    raise typer.Exit(code)


def fail_at(error: LayoutSyntaxError, name: str) -> NoReturn:
    """Print a located error about text that the command line gave, and leave."""
    before = error.text[: error.position]
    line = before.count("\n") + 1
    column = error.position - (before.rfind("\n") + 1) + 1
    source = error.text.split("\n")[line - 1]
    report = Diagnostic(
        Severity.ERROR, error.reason, Location(name, line, column), source_line=source
    )
    typer.echo(render(report, painter(sys.stderr)), err=True, nl=False)
    raise typer.Exit(1)
