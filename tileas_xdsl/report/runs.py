"""Runs of a kernel for its report: a timeline of its agents, and what the checkers find."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.report import Diagnostic, Location, Severity, diagnostic
from tileas_xdsl.interpreters.ptx import Finding, PtxError
from tileas_xdsl.interpreters.ptx.execution.state import Order
from tileas_xdsl.interpreters.tile.faults import SimulationError
from tileas_xdsl.interpreters.tile.tracing.timeline import draw_timeline

ORDERS: Sequence[Order] = ("eager", "lazy")
"""When asynchronous operations complete: a run of each."""

MAX_INSTRUCTIONS = 20_000_000
"""Instructions of a cluster after which a run of PTX is given up."""


@dataclass(frozen=True)
class Arguments:
    """The arguments of a launch, as `CompiledKernel.emulate` takes them, and its grid."""

    values: Sequence[Any]
    grid: int | Sequence[int]

    @property
    def extents(self) -> tuple[int, int, int]:
        """The grid in three dimensions."""
        given = (self.grid,) if isinstance(self.grid, int) else tuple(self.grid)
        x, y, z = (*given, 1, 1, 1)[:3]
        return x, y, z


@dataclass(frozen=True)
class Found:
    """Something that is wrong, or that a compiler or checker remarks."""

    level: str
    """Where it was found: the compiler, the tiles, the PTX."""
    severity: str
    message: str
    place: Location | None = None
    trace: Sequence[str] = ()
    """The events that led to it."""

    @property
    def diagnostic(self) -> Diagnostic:
        """The diagnostic without its event trace, as a tool prints it."""
        known = {*Severity}
        severity = Severity(self.severity) if self.severity in known else Severity.WARNING
        return diagnostic(severity, self.message, self.place)


@dataclass
class Runs:
    """What runs of a kernel showed."""

    notes: list[str] = field(default_factory=list[str])
    """What ran, a sentence each."""
    timeline: str = ""
    """SVG of the agents and engines of the run on tiles."""
    findings: list[Found] = field(default_factory=list[Found])


def runs_of(kernel: CompiledKernel, tiles: ModuleOp | None, arguments: Arguments) -> Runs:
    """Run a kernel as tiles, and as PTX in each order; what is wrong becomes a finding.

    `tiles` has agents and pipelines, if the kernel went through them.
    """
    found = Runs()
    if not kernel.is_for_threads:
        _run_tiles(replace(kernel, source=tiles or kernel.source), arguments, found)
    for order in ORDERS:
        _run_ptx(kernel, arguments, order, found)
    found.findings = list(dict.fromkeys(found.findings))
    return found


def _run_tiles(kernel: CompiledKernel, arguments: Arguments, runs: Runs) -> None:
    try:
        run = kernel.simulate(*arguments.values, grid=arguments.grid, trace=True)
    except SimulationError as error:
        runs.findings += diagnosed("tiles", error)
        if error.trace is not None:
            runs.timeline = draw_timeline(error.trace)
        runs.notes.append("The interpreter of tiles stopped at an error.")
        return
    except DiagnosticError as error:
        runs.findings += diagnosed("tiles", error)
        return
    runs.timeline = draw_timeline(run.trace)
    runs.notes.append(f"The tiles ran for {run.trace.end} cycles of the interpreter's clock.")


def _run_ptx(kernel: CompiledKernel, arguments: Arguments, order: Order, runs: Runs) -> None:
    try:
        run = kernel.emulate(
            *arguments.values, grid=arguments.grid, order=order, limit=MAX_INSTRUCTIONS
        )
    except PtxError as error:
        runs.findings.append(Found("PTX", "error", str(error)))
        return
    runs.findings += map(_of_ptx, run.findings)
    ended = "" if run.finished else "; some blocks do not end"
    what = f"asynchronous operations {order}: {run.instructions} instructions"
    runs.notes.append(f"The PTX ran with {what}, {len(run.findings)} findings{ended}.")


def diagnosed(level: str, error: DiagnosticError) -> Iterator[Found]:
    """Yield the diagnostics of an error as findings, their notes as the trace."""
    for one in error.diagnostics:
        yield of_diagnostic(level, one)


def of_diagnostic(level: str, one: Diagnostic) -> Found:
    """Return a diagnostic as a finding."""
    trace = tuple(_with_place(part) for part in one.notes)
    return Found(level, one.severity, one.text, one.location, trace)


def _with_place(note: Diagnostic) -> str:
    return note.text if note.location is None else f"{note.location}: {note.text}"


def _of_ptx(one: Finding) -> Found:
    origin = one.origin
    place = None if origin is None else Location(origin.path, origin.line, origin.column)
    message = f"{one.message} [{one.kind}]"
    return Found("PTX", one.severity, message, place, one.notes)
