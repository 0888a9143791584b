"""Reading an input file; a file that cannot be read is a located error like any other."""

from __future__ import annotations

import sys
from pathlib import Path

from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.report import Location, Severity, diagnostic

STDIN_NAME = "<stdin>"


def input_name(path: str | None) -> str:
    """The name that diagnostics show: the path as the user gave it, or `<stdin>`."""
    return STDIN_NAME if path in (None, "-") else path


def read_input(path: str | None) -> bytes:
    """The bytes of a file, or of standard input if `path` is None or `-`.

    Raises `DiagnosticError` at line 1 of the file if it is missing, a directory or unreadable.
    """
    try:
        return sys.stdin.buffer.read() if path in (None, "-") else Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        location = Location(input_name(path), 1, 1)
        message = f"cannot read the file: {reason}"
        raise DiagnosticError(diagnostic(Severity.ERROR, message, location)) from error
