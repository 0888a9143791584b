"""Kernels at the level of PTX: compiled from tiles or read as text, run under several orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple, Protocol

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import note
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.report import Diagnostic, Location, Severity, diagnostic
from tileas_xdsl.executors import Workers
from tileas_xdsl.frontend.signature import leaves
from tileas_xdsl.interpreters.ptx import (
    Finding,
    LaunchError,
    PtxError,
)
from tileas_xdsl.interpreters.ptx.execution.state import SEEDED, Order, order_of_run
from tileas_xdsl.runtime.array_comparison import first_difference
from tileas_xdsl.tools.console import print_text
from tileas_xdsl.tools.inputs.arguments import (
    BindingError,
    bind_arguments,
    parse_spec,
)
from tileas_xdsl.tools.inputs.cutile_parameters import bound, shown
from tileas_xdsl.tools.running.scheduled_runs import Bar, Extents, Progress

MAX_FINDINGS = 5
"""Number of findings of a run that are printed in full."""


class OrderOfEvents(NamedTuple):
    """When asynchronous operations complete, and whether warps fall behind."""

    order: Order
    seed: int = 0

    def __str__(self) -> str:
        """The run that the options specify."""
        return f"--order {self.order}" + (f" --seed {self.seed}" if self.order in SEEDED else "")


def orders_of(count: int, seed: int) -> Sequence[OrderOfEvents]:
    """`count` orders: at once, as late as possible, then random ones from `seed` on, with warps
    that fall behind in every other one."""
    fixed = (OrderOfEvents("eager"), OrderOfEvents("lazy"))
    others = (OrderOfEvents(order_of_run(n + 2), seed + n) for n in range(count - 2))
    return (*fixed, *others)[:count]


@dataclass(frozen=True)
class Argument:
    """An argument of a launch: its name, type and value."""

    name: str
    type: str
    value: Any


@dataclass(frozen=True)
class PtxRun:
    """What a run left in its arguments, and what was found."""

    values: Sequence[Any]
    findings: Sequence[Finding]
    instructions: int
    printed: str = ""


class PtxProgram(Protocol):
    """Something that runs as PTX."""

    @property
    def arguments(self) -> Sequence[Argument]:
        """Its arguments before a run."""
        ...

    def run(
        self, order: OrderOfEvents, jobs: Workers, progress: Progress | None, limit: float = inf
    ) -> PtxRun:
        """One run; raises `LaunchError` or `PtxError`."""
        ...


@dataclass(frozen=True)
class PtxLaunch:
    """How the command line launches a kernel as PTX; `shared` is bytes."""

    kernel: str | None
    grid: Extents
    block: Extents | None
    cluster: Extents | None
    target: str | None
    shared: int
    host_code: bool = False
    """Of a kernel of tiles: whether compiled host code encodes its tensor maps."""
    signature: str | None = None
    """Of a kernel of cuTile."""


@dataclass(frozen=True)
class CompiledProgram:
    """A kernel of tiles that was compiled, with its arguments."""

    kernel: Any
    grid: Extents
    arguments: Sequence[Argument]

    def run(
        self, order: OrderOfEvents, jobs: Workers, progress: Progress | None, limit: float = inf
    ) -> PtxRun:
        """One run of its PTX."""
        found = self.kernel.emulate(
            *(argument.value for argument in self.arguments),
            grid=self.grid,
            order=order.order,
            seed=order.seed,
            jobs=jobs,
            progress=progress,
            limit=limit,
        )
        return PtxRun(found.arrays, found.findings, found.instructions, found.printed)


def compiled_program(path: str, specs: Sequence[str], launch: PtxLaunch) -> CompiledProgram:
    """Compile the kernel of a file; raises `DiagnosticError`, `BindingError`."""
    from tileas_xdsl.compiler import compile_module
    from tileas_xdsl.interpreters.tile.launch import find_kernel
    from tileas_xdsl.runtime.arguments.view_arguments import parameters_of
    from tileas_xdsl.tools.inputs.programs import load_tiles

    program = load_tiles(path, launch.target, launch.signature)
    given, signature = [parse_spec(text) for text in specs], program.parameters
    if signature is None:
        parameters = parameters_of(find_kernel(program.module, launch.kernel))
        values = bind_arguments(given, parameters)
    else:
        parameters, values = [shown(p) for p in leaves(signature)], bound(signature, given)
    made = compile_module(
        program.module,
        program.ctx,
        launch.target,
        kernel=launch.kernel,
        host_code=launch.host_code,
    )
    arguments = [
        Argument(parameter.name, str(parameter.type), value)
        for parameter, value in zip(parameters, values, strict=True)
    ]
    return CompiledProgram(
        replace(made, parameters=signature, tile_ir=program.tile_ir), launch.grid, arguments
    )


def run_all(
    program: PtxProgram, orders: Sequence[OrderOfEvents], tolerance: float, jobs: Workers, bar: Bar
) -> PtxRun:
    """The first run; all must find nothing and leave the same.

    Raises `DiagnosticError` with what was found, or where two orders differ.
    """
    first: PtxRun | None = None
    for order in orders:
        found = run_once(program, order, jobs, bar)
        failures = [finding for finding in found.findings if finding.severity.fails]
        if failures:
            print_text(found.printed)
            raise DiagnosticError(*_diagnostics(failures, order))
        first = first or found
        different = first_difference(first.values, found.values, tolerance)
        if different is not None:
            name = program.arguments[different.argument].name
            message = f"'{name}' depends on the order: {different} ({orders[0]} and {order})"
            raise DiagnosticError(diagnostic(Severity.ERROR, message))
    assert first is not None
    return first


def run_once(
    program: PtxProgram, order: OrderOfEvents, jobs: Workers, bar: Bar, limit: float = inf
) -> PtxRun:
    """Run a program under one order; raises `DiagnosticError` and `BindingError`."""
    try:
        return program.run(order, jobs, bar(str(order)), limit)
    except PtxError as error:
        raise located(error) from error
    except LaunchError as error:
        raise BindingError(str(error)) from error


def located(error: PtxError) -> DiagnosticError:
    """An error of the emulator as ours."""
    place = Location(error.path, error.line, error.column)
    return DiagnosticError(diagnostic(Severity.ERROR, error.message, place))


def _diagnostics(findings: Sequence[Finding], order: OrderOfEvents) -> Sequence[Diagnostic]:
    """The first findings in full; the last line has their number, and how to repeat the run."""
    shown = [_diagnostic(finding) for finding in findings[:MAX_FINDINGS]]
    more = len(findings) - len(shown)
    tail = f"{more} more findings; " if more else ""
    end = note(shown[-1].location, f"{tail}found with {order}")
    return [*shown[:-1], replace(shown[-1], notes=(*shown[-1].notes, end))]


def _diagnostic(finding: Finding) -> Diagnostic:
    place = Location(finding.path, finding.line, max(1, finding.column))
    notes = [note(place, line) for line in finding.notes]
    message = f"{finding.message} [{finding.kind}]"
    return diagnostic(Severity.ERROR, message, place, notes=notes)
