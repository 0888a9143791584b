"""Check that passes preserve a program's results under several schedules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.utils.exceptions import DiagnosticException

from tests.support.ir import parse
from tests.support.random_programs.program import Program
from tileas_xdsl.diagnostics.emission import collecting_diagnostics
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.report import render
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.installed import installed_universe, registered_context
from tileas_xdsl.interpreters.tile.launch import Schedule, simulate
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.runtime.array_comparison import first_difference

SCHEDULES = (Schedule(), Schedule("adversarial"), Schedule("random", 1))


class WrongError(AssertionError):
    """Passes changed a program's results or made it invalid; the message has the module's text."""


def passes_named(spec: str) -> Sequence[ModulePass]:
    """Return the passes of a `-p` string or of a named pipeline."""
    multiverse = installed_universe()
    listed = PIPELINES[spec].spec if spec in PIPELINES else spec
    return PassPipeline.parse_spec(multiverse.all_passes, listed).passes


def check(program: Program, *passes: ModulePass) -> bool:
    """Return whether passes accept the program; raise `WrongError` if they change its results.

    A pass that refuses a program must leave it valid and with the same results.
    """
    wanted = results_before(program)
    module = _module_of(program.text).clone()
    names = ",".join(one.name for one in passes)
    accepted = _apply(passes, module)
    what = f"after {names}" if accepted else f"after {names}, which refused it"
    try:
        verify_module(module)
    except DiagnosticError as error:
        raise _wrong(f"{what} the module is not valid: {error}", module) from error
    found = _run(program, module, SCHEDULES[:2], what)
    if (wrong := first_difference(wanted, found)) is not None:
        raise _wrong(f"{what} argument {wrong.argument} is another: {wrong}", module)
    return accepted


def results_before(program: Program) -> Sequence[Any]:
    """Return the arguments after a run of the original program, equal under every schedule."""
    return _results_before(_Launched(program))


class _Launched:
    """A launch of a program, used as the cache key of its results."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._key = (program.text, program.grid, program.seed, program.scalars)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Launched) and self._key == other._key


@lru_cache(maxsize=512)
def _results_before(launched: _Launched) -> Sequence[Any]:
    program = launched.program
    return _run(program, _module_of(program.text), SCHEDULES, "before any pass")


@lru_cache(maxsize=512)
def _module_of(text: str) -> ModuleOp:
    try:
        return parse(text)
    except DiagnosticError as error:
        reports = "".join(map(render, error.diagnostics))
        raise WrongError(f"the program is not valid\n{reports}") from error


def _apply(passes: Sequence[ModulePass], module: ModuleOp) -> bool:
    """Apply passes; return whether all of them accept the module."""
    ctx = registered_context()
    with collecting_diagnostics() as log:
        try:
            for one in passes:
                one.apply(ctx, module)
        except (DiagnosticError, DiagnosticException):
            return False
    return not log.has_errors


def _run(
    program: Program, module: ModuleOp, schedules: Sequence[Schedule], what: str
) -> Sequence[Any]:
    """Return the arguments after a run, equal under every schedule."""
    first: Sequence[Any] | None = None
    for schedule in schedules:
        try:
            found = simulate(module, program.arguments, grid=program.grid, schedule=schedule)
        except DiagnosticError as error:
            reports = "".join(map(render, error.diagnostics))
            raise _wrong(f"{what} a run with {schedule} fails\n{reports}", module) from error
        first = found.arrays if first is None else first
        if (wrong := first_difference(first, found.arrays)) is not None:
            raise _wrong(f"{what} the schedule {schedule} tells: {wrong}", module)
    assert first is not None
    return first


def _wrong(what: str, module: ModuleOp) -> WrongError:
    return WrongError(f"{what}\n{module}")


def stored_by(program: Program) -> int:
    """Return the number of argument elements that a program changes."""
    pairs = zip(program.arguments, results_before(program), strict=True)
    return sum(int(np.count_nonzero(np.asarray(a) != np.asarray(b))) for a, b in pairs)
