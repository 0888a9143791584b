"""`tileas validate` without passes: does a kernel compute on every level what it means?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tileas_xdsl.deep_stack import with_deep_stack
from tileas_xdsl.runtime.levels import LevelResult, compare_levels
from tileas_xdsl.tools.console import fail, print_table
from tileas_xdsl.tools.inputs.programs import print_diagnostics
from tileas_xdsl.tools.running.ptx_runs import CompiledProgram, PtxLaunch, compiled_program

if TYPE_CHECKING:
    from tileas_xdsl.tools.running.scheduled_runs import Extents

TARGETS = ("sm_90a", "sm_100a")
"""Those that a kernel is validated for, where none is named."""


def validate_levels(
    path: str,
    specs: Sequence[str],
    kernel: str | None,
    signature: str | None,
    grid: Extents,
    target: str | None,
    tolerance: float,
) -> None:
    """Print a row for each target and level; end the program at the first that is wrong.

    Raises `DiagnosticError` for what is refused, `BindingError`.
    """
    rows: list[tuple[str, str, str]] = []
    for name in (target,) if target else TARGETS:
        launch = PtxLaunch(kernel, grid, None, None, name, 0, signature=signature)
        for program, result in with_deep_stack(
            lambda launch=launch: list(_results(path, specs, launch, tolerance))
        ):
            rows.append((name, result.level, "yes" if result.is_right else "no"))
            if not result.is_right:
                print_table(("target", "level", "ok"), rows)
                _tell(program, name, result)
    print_table(("target", "level", "ok"), rows)


def _results(
    path: str, specs: Sequence[str], launch: PtxLaunch, tolerance: float
) -> Iterator[tuple[CompiledProgram, LevelResult]]:
    program = compiled_program(path, specs, launch)
    values = [argument.value for argument in program.arguments]
    for result in compare_levels(program.kernel, values, launch.grid, tolerance or None):
        yield program, result


def _tell(program: CompiledProgram, target: str, result: LevelResult) -> None:
    """What is wrong with a level."""
    print_diagnostics(result.diagnostics)
    where = f"at level {result.level} for {target}"
    if result.difference is None:
        fail(f"{where}: {result.problem}")
    argument = program.arguments[result.difference.argument]
    shown = f"argument {result.difference.argument} (%{argument.name}: {argument.type})"
    fail(f"{where} {shown} differs: {result.difference}")
