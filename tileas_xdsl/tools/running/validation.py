"""Is a pass right?  A kernel is run before and after it, and must give the same results.

Passes are applied one after another; every step is compared with the program as it was read, so
that small deviations cannot add up unseen.  Where a pass has made tiles the work of threads, passes
are applied and their IR is verified, but there is nothing left to run.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tileas_xdsl.compilation.pass_execution import run_pass
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import collecting_diagnostics
from tileas_xdsl.diagnostics.errors import ArgumentError, DiagnosticError
from tileas_xdsl.diagnostics.report import Diagnostic
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.interpreters.cuda_tile.faults import UndefinedError
from tileas_xdsl.interpreters.cuda_tile.launch import Evaluation
from tileas_xdsl.interpreters.tile.launch import Simulation
from tileas_xdsl.runtime.levels import difference_of
from tileas_xdsl.tools.inputs.programs import Program
from tileas_xdsl.tools.running.scheduled_runs import (
    Bar,
    FailedRunError,
    Trial,
    UnequalRunError,
    options_of,
)

INPUT = "(input)"
"""The name of the step before all passes."""

TILE_IR = "(Tile IR)"
"""That of what the input means, where it is Tile IR."""

_OF_THREADS = ("cute", "cute_nvgpu", "ptx")
"""Dialects of kernels that are no longer of tiles."""


@dataclass(frozen=True)
class Complaint:
    """A failed step: a sentence, and the diagnostics with the details."""

    message: str
    diagnostics: Sequence[Diagnostic] = ()


@dataclass(frozen=True)
class Step:
    """The program after a pass.  `cycles` is None if it did not run, or not to its end."""

    name: str
    cycles: int | None
    complaint: Complaint | None = None
    reports: Sequence[Diagnostic] = ()
    """Warnings and remarks of the pass."""
    is_meaning: bool = False
    """Whether it is what Tile IR means, which has no cycles."""

    @property
    def is_of_threads(self) -> bool:
        """Whether the kernel is valid, but no longer one of tiles, which could be run."""
        return self.complaint is None and self.cycles is None and not self.is_meaning


class _PassError(Exception):
    """A pass failed, or left a module that is not valid."""

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics


def validate(
    program: Program, passes: Sequence[ModulePass], trial: Trial, bar: Bar
) -> Generator[Step]:
    """The program as it is and after each pass; the first step with a complaint is the last.

    The tiles that Tile IR became are compared with what it means, as far as rounding allows.
    """
    meaning: Evaluation | None = None
    if program.tile_ir is not None:
        step, meaning = _meaning(program.tile_ir, trial)
        yield step
        if step.complaint is not None:
            return
    reference: Simulation | None = None
    for module_pass in (None, *passes):
        step, found = _step(program, module_pass, trial, bar, reference)
        if meaning is not None and reference is None and found is not None:
            step = _as_it_means(step, found, meaning, trial)
        yield step
        if step.complaint is not None:
            return
        reference = reference or found


def _meaning(tile_ir: ModuleOp, trial: Trial) -> tuple[Step, Evaluation | None]:
    try:
        found = trial.launch.evaluate(tile_ir)
    except UndefinedError as error:
        complaint = Complaint("what the kernel does is undefined in Tile IR", error.diagnostics)
        return Step(TILE_IR, None, complaint, is_meaning=True), None
    return Step(TILE_IR, None, is_meaning=True), found


def _as_it_means(step: Step, found: Simulation, meaning: Evaluation, trial: Trial) -> Step:
    """The step of the input, with a complaint where its tiles do not compute what it means."""
    difference = difference_of(meaning.arrays, found.arrays, trial.tolerance or None)
    if difference is None:
        return step
    what = f"{trial.launch.parameter(difference.argument)}: {difference}"
    return replace(step, complaint=Complaint(f"the lowering of Tile IR changes {what}"))


def _step(
    program: Program,
    module_pass: ModulePass | None,
    trial: Trial,
    bar: Bar,
    reference: Simulation | None,
) -> tuple[Step, Simulation | None]:
    name = INPUT if module_pass is None else module_pass.name
    reports: Sequence[Diagnostic] = ()
    try:
        if module_pass is not None:
            reports = _apply(module_pass, program)
            if _is_of_threads(program.module):
                return Step(name, None, None, reports), None
        found = trial.run(program.module, bar, reference)
    except _PassError as error:
        return Step(name, None, Complaint(str(error), error.diagnostics)), None
    except FailedRunError as run:
        return Step(name, None, _failed(name, run, trial), reports), None
    except ArgumentError as error:
        message = f"{_after(name)} the arguments do not fit the kernel: {error}"
        return Step(name, None, Complaint(message), reports), None
    except UnequalRunError as run:
        cycles = run.simulation.cycles
        return Step(name, cycles, _unequal(name, run, trial, reference), reports), None
    return Step(name, found.cycles, None, reports), found


def _is_of_threads(module: ModuleOp) -> bool:
    return any(op.name.partition(".")[0] in _OF_THREADS for op in module.walk())


def _after(name: str) -> str:
    return "before any pass" if name == INPUT else f"after pass '{name}'"


def _apply(module_pass: ModulePass, program: Program) -> Sequence[Diagnostic]:
    """Run a pass and verify what it leaves; its warnings and remarks."""
    name = module_pass.name
    with collecting_diagnostics() as log:
        try:
            run_pass(module_pass, program.ctx, program.module)
        except DiagnosticError as error:
            reports = (*log.diagnostics, *error.diagnostics)
            raise _PassError(f"pass '{name}' fails", reports) from error
    if log.has_errors:
        raise _PassError(f"pass '{name}' fails", log.diagnostics)
    try:
        verify_module(program.module, after=name)
    except DiagnosticError as error:
        raise _PassError(
            f"pass '{name}' leaves a module that is not valid", error.diagnostics
        ) from error
    return log.diagnostics


def _failed(name: str, run: FailedRunError, trial: Trial) -> Complaint:
    message = f"{_after(name)} the simulation fails{_schedule(run, trial)}"
    return Complaint(message, run.error.diagnostics)


def _schedule(run: FailedRunError | UnequalRunError, trial: Trial) -> str:
    """Which schedule, if there are several."""
    if len(trial.schedules) == 1:
        return ""
    return f" with {' '.join(options_of(run.schedule))}"


def _unequal(
    name: str, run: UnequalRunError, trial: Trial, reference: Simulation | None
) -> Complaint:
    if reference is None:
        which = " ".join(options_of(run.schedule))
        return Complaint(
            f"before any pass {run.argument} depends on the schedule ({which}): {run.difference}"
        )
    what = f"{run.argument}{_schedule(run, trial)}: {run.difference}"
    cycles = f"{reference.cycles} cycles before, {run.simulation.cycles} after"
    return Complaint(f"pass '{name}' changes {what} ({cycles})")
