"""Exceptions with places in files, for code without IR; `emission` has those of operations."""

from __future__ import annotations

from xdsl.utils.exceptions import DiagnosticException

from tileas_xdsl.diagnostics.report import Diagnostic


class DiagnosticError(DiagnosticException):
    """An exception that carries located diagnostics; `str()` gives their headlines."""

    diagnostics: tuple[Diagnostic, ...]

    def __init__(self, *diagnostics: Diagnostic) -> None:
        Exception.__init__(self, *diagnostics)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return "\n".join(report.headline for report in self.diagnostics)


class ArgumentError(ValueError):
    """Arguments that do not match a kernel's parameters."""
