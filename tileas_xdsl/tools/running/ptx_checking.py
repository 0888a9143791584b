"""Check a kernel of a file under several orders, and print the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

from tileas_xdsl.check.formats import to_github, to_json, to_sarif
from tileas_xdsl.check.reports import distinct
from tileas_xdsl.check.suppressions import Suppression, split, unused
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.deep_stack import with_deep_stack
from tileas_xdsl.diagnostics.emission import note
from tileas_xdsl.diagnostics.report import Diagnostic, Location, Severity, diagnostic
from tileas_xdsl.executors import Workers
from tileas_xdsl.interpreters.ptx import KINDS, Finding
from tileas_xdsl.interpreters.ptx import Severity as FindingSeverity
from tileas_xdsl.tools.console import print_text
from tileas_xdsl.tools.inputs.programs import print_diagnostics
from tileas_xdsl.tools.running.ptx_runs import (
    PtxLaunch,
    PtxProgram,
    compiled_program,
    orders_of,
    run_once,
)
from tileas_xdsl.tools.running.ptx_text_programs import text_program
from tileas_xdsl.tools.running.scheduled_runs import Bar

_SEVERITY = {
    FindingSeverity.ERROR: Severity.ERROR,
    FindingSeverity.ISA: Severity.WARNING,
    FindingSeverity.NOTE: Severity.REMARK,
}
"""How diagnostics call the severities of findings."""


@dataclass(frozen=True)
class CheckedProgram:
    """What was found in a program, over all orders."""

    findings: Sequence[Finding]
    accepted: Sequence[Finding]
    unused: Sequence[Suppression]
    instructions: int
    schedules: int
    printed: str

    @property
    def failures(self) -> Sequence[Finding]:
        """The findings that are more than notes."""
        return [finding for finding in self.findings if finding.severity.fails]


def read_program(path: str, specs: Sequence[str], launch: PtxLaunch) -> PtxProgram:
    """Read PTX, or compile a kernel of tiles; raises `DiagnosticError`, `BindingError`."""
    if path.endswith(".ptx"):
        return text_program(path, specs, launch)
    return with_deep_stack(lambda: compiled_program(path, specs, launch))


def check_program(
    program: PtxProgram,
    allow: Sequence[Suppression],
    schedules: int,
    seed: int,
    limit: int,
    jobs: Workers,
    bar: Bar,
) -> CheckedProgram:
    """Run a program under all orders; each must end within `limit` instructions of a cluster."""
    orders = orders_of(schedules, seed)
    runs = [run_once(program, order, jobs, bar, limit) for order in orders]
    left, accepted = split(distinct(f for run in runs for f in run.findings), allow)
    return CheckedProgram(
        left, accepted, unused(allow, accepted),
        sum(run.instructions for run in runs), schedules, runs[0].printed,
    )  # fmt: skip


def print_report(found: CheckedProgram, format_: str) -> None:
    """Print findings: text to stderr and a summary to stdout; other formats to stdout alone."""
    if format_ == "json":
        facts: dict[str, Any] = {"instructions": found.instructions, "schedules": found.schedules}
        typer.echo(to_json(found.findings, found.accepted, facts))
    elif format_ == "sarif":
        from importlib.metadata import version

        typer.echo(to_sarif(found.findings, found.accepted, version("tileas-xdsl")))
    elif format_ == "github":
        typer.echo(to_github(found.findings), nl=False)
    else:
        _print_text(found)


def _print_text(found: CheckedProgram) -> None:
    print_text(found.printed)
    print_diagnostics([as_diagnostic(finding) for finding in found.findings])
    counts = [
        (len(found.failures), "finding"),
        (len(found.findings) - len(found.failures), "note"),
        (len(found.accepted), "accepted finding"),
    ]
    shown = ", ".join(
        f"{count} {what}{'' if count == 1 else 's'}" for count, what in counts if count
    )
    order = "order" if found.schedules == 1 else "orders"
    typer.echo(f"{shown or 'no findings'}; {found.instructions} instructions, "
               f"{found.schedules} {order} of completion")  # fmt: skip
    for suppression in found.unused:
        typer.echo(f"--allow {suppression} accepted nothing", err=True)


def as_diagnostic(finding: Finding) -> Diagnostic:
    """Return a finding as a diagnostic at its PTX, with its source and its trace as notes."""
    place = Location(finding.path, finding.line, max(1, finding.column))
    notes = [note(place, line) for line in finding.notes]
    if finding.origin is not None:
        at = finding.origin
        source = Location(at.path, at.line, max(1, at.column))
        notes.insert(0, note(source, "compiled from here"))
    message = f"{finding.message} [{finding.kind}: {KINDS[finding.kind].meaning}]"
    return diagnostic(_SEVERITY[finding.severity], message, place, notes=notes)
