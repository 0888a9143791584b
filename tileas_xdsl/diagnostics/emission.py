"""How verifiers and passes speak to the user: raise an error, or emit something and go on.

`where` is an operation or a `Location`.  A message about an operation is prefixed with
`'op.name' op `, as MLIR does; `prefix=False` leaves it bare.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field

from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException, VerifyException

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.locations import location_of, name_of
from tileas_xdsl.diagnostics.report import Diagnostic, Location, Severity, diagnostic, render


class OpError(DiagnosticError, VerifyException, PassFailedException):
    """A located error of an operation.  Plain xDSL tools treat it as their own exceptions."""


class BrokenPassError(OpError):
    """A bug in a pass: it crashed, or left IR that does not verify."""


def _report(
    severity: Severity,
    where: Operation | Location | None,
    message: str,
    notes: Iterable[Diagnostic],
    prefix: bool,
) -> Diagnostic:
    if not isinstance(where, Operation):
        return diagnostic(severity, message, where, notes=notes)
    op_name = name_of(where) if prefix else None
    return diagnostic(severity, message, location_of(where), op_name=op_name, notes=notes)


def note(where: Operation | Location | None, message: str) -> Diagnostic:
    """A note to attach to another diagnostic, for example where a value was defined."""
    return _report(Severity.NOTE, where, message, (), prefix=False)


def op_error(
    where: Operation | Location | None,
    message: str,
    notes: Iterable[Diagnostic] = (),
    *,
    prefix: bool = True,
) -> OpError:
    """A located error to raise in a verifier or a pass: `raise op_error(op, "...")`."""
    return OpError(_report(Severity.ERROR, where, message, notes, prefix))


def emit_error(
    where: Operation | Location | None, message: str, notes: Iterable[Diagnostic] = ()
) -> None:
    """Report an error and go on; the tool finishes its work and exits with 1."""
    emit(_report(Severity.ERROR, where, message, notes, prefix=True))


def emit_warning(where: Operation | Location | None, message: str, *, prefix: bool = True) -> None:
    """Report something suspicious and go on."""
    emit(_report(Severity.WARNING, where, message, (), prefix))


def emit_remark(where: Operation | Location | None, message: str, *, prefix: bool = True) -> None:
    """Report what was done, or why something was not, and go on."""
    emit(_report(Severity.REMARK, where, message, (), prefix))


@dataclass
class DiagnosticLog:
    """The diagnostics collected so far, in the order in which they were emitted."""

    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])

    @property
    def has_errors(self) -> bool:
        """Did anything emit an error?"""
        return any(report.severity is Severity.ERROR for report in self.diagnostics)

    def add(self, report: Diagnostic) -> None:
        """Add one diagnostic."""
        self.diagnostics.append(report)


def _print_to_stderr(report: Diagnostic) -> None:
    sys.stderr.write(render(report))


_sink: ContextVar[Callable[[Diagnostic], None]] = ContextVar(
    "diagnostic_sink", default=_print_to_stderr
)


def emit(report: Diagnostic) -> None:
    """Give a diagnostic to the innermost `collecting_diagnostics`, else print it to stderr."""
    _sink.get()(report)


@contextmanager
def collecting_diagnostics() -> Generator[DiagnosticLog]:
    """Collect what is emitted inside the `with` block instead of printing it."""
    log = DiagnosticLog()
    token = _sink.set(log.add)
    try:
        yield log
    finally:
        _sink.reset(token)
