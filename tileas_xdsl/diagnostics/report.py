"""A diagnostic: what is wrong and where, and how it reads on a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.colours import Paint, plain
from tileas_xdsl.diagnostics.parsing.sources import source_line

_UNPRINTABLE = "\N{REPLACEMENT CHARACTER}"
_WINDOW = 120
"""How many characters of a source line are shown at most."""

_ELLIPSIS = "..."


class Severity(StrEnum):
    """How bad it is.  Only an error makes a tool fail; a note belongs to another diagnostic."""

    ERROR = "error"
    WARNING = "warning"
    REMARK = "remark"
    NOTE = "note"


class Location(NamedTuple):
    """A place in a file; line and column count from 1, the column in characters."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Diagnostic:
    """One message to the user.  The message is kept byte for byte, outer blanks and newlines too.

    `source_line` is the text of the line at `location`, taken when the diagnostic is made, so that
    rendering it later needs nothing else.
    """

    severity: Severity
    message: str
    location: Location | None = None
    op_name: str | None = None
    notes: tuple[Diagnostic, ...] = ()
    source_line: str | None = None

    @property
    def text(self) -> str:
        """The message as MLIR words it: `'op.name' op MESSAGE` if it speaks of an operation."""
        return self.message if self.op_name is None else f"'{self.op_name}' op {self.message}"

    @property
    def headline(self) -> str:
        """`FILE:LINE:COL: error: 'op.name' op MESSAGE`, without the source line and the notes."""
        return self.painted_headline(plain)

    def painted_headline(self, paint: Paint) -> str:
        """The headline in colours."""
        where = "<unknown>:0" if self.location is None else str(self.location)
        severity = paint(f"{self.severity}:", self.severity)
        return f"{paint(f'{where}:', 'location')} {severity} {self.text}"

    def __str__(self) -> str:
        return self.headline


def diagnostic(
    severity: Severity,
    message: str,
    location: Location | None = None,
    *,
    op_name: str | None = None,
    notes: Iterable[Diagnostic] = (),
) -> Diagnostic:
    """Make a diagnostic and remember the source line at `location`, if that file is known."""
    line = None if location is None else source_line(location.file, location.line)
    return Diagnostic(severity, message, location, op_name, tuple(notes), line)


def render(report: Diagnostic, paint: Paint = plain) -> str:
    """The whole diagnostic with source line, caret and notes; every line ends with a newline."""
    parts = [report.painted_headline(paint), "\n"]
    if report.location is not None and report.source_line is not None:
        parts += [_caret_under(report.source_line, report.location.column, paint)]
    parts += [render(note, paint) for note in report.notes]
    return "".join(parts)


def _caret_under(line: str, column: int, paint: Paint) -> str:
    """The line and, below it, a caret; tabs are repeated so that any tab width lines up."""
    text, position = _window(line, min(max(column - 1, 0), len(line)))
    shown = "".join(c if c == "\t" or c.isprintable() else _UNPRINTABLE for c in text)
    padding = "".join("\t" if c == "\t" else " " for c in shown[:position])
    return f"{shown}\n{padding}{paint('^', 'caret')}\n"


def _window(line: str, position: int) -> tuple[str, int]:
    """What is shown of a line, with the position in it: a generated line may be a whole module."""
    if len(line) <= _WINDOW:
        return line, position
    start = min(max(position - _WINDOW // 2, 0), len(line) - _WINDOW)
    end = start + _WINDOW
    before = _ELLIPSIS if start else ""
    after = _ELLIPSIS if end < len(line) else ""
    return f"{before}{line[start:end]}{after}", position - start + len(before)
