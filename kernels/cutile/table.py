"""A row for each kernel of cuTile: how long it takes to compile, what it needs, how right it is."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter

from kernels.cutile import Problem, emulated
from tileas_xdsl.backend.nvidia_tools import find_tool
from tileas_xdsl.compiler import CompiledKernel
from tileas_xdsl.diagnostics.errors import DiagnosticError

HEADER = (
    *("kernel", "target", "ops", "to PTX", "ptxas"),
    *("registers", "shared", "spills", "error", "of its bound", "right"),
)


@dataclass(frozen=True)
class Row:
    """What became of a problem for a target."""

    cells: Sequence[str]
    is_right: bool


def row(problem: Problem, target: str) -> Row:
    """Compile, assemble and run a problem; compiled twice, the second time with warm caches."""
    try:
        problem.compiled(target)
        start = perf_counter()
        kernel = problem.compiled(target)
        _ = kernel.ptx
        seconds = perf_counter() - start
        assembled, spills = _assembled(kernel)
    except DiagnosticError as error:
        return Row((problem.name, target, f"refused: {_first_line(error)}"), False)
    found = emulated(problem, kernel)
    error, share = found.deviation.error, found.deviation.share
    cells = (
        *(problem.name, target, str(_operations(kernel)), f"{1000 * seconds:.0f} ms"),
        *(*assembled, f"{error:.1e}", f"{100 * share:.0f} %"),
        "yes" if found.is_right else str(found),
    )
    return Row(cells, found.is_right and not spills)


def _operations(kernel: CompiledKernel) -> int:
    """The operations that the kernel has as tiles, without the module and the function."""
    return sum(1 for _ in kernel.source.walk()) - 2


def _assembled(kernel: CompiledKernel) -> tuple[Sequence[str], int]:
    """The cells that `ptxas` fills, and the bytes that it spills."""
    shared = f"{kernel.abi.shared_bytes} B"
    if find_tool("ptxas") is None:
        return ("-", "-", shared, "-"), 0
    start = perf_counter()
    made = kernel.assemble()
    seconds = perf_counter() - start
    return (f"{1000 * seconds:.0f} ms", str(made.registers), shared, str(made.spills)), made.spills


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def print_rows(chosen: Iterable[Problem]) -> Sequence[Row]:
    """Print the table in Markdown, each row when it is known; gives the rows."""
    _print_cells(HEADER)
    _print_cells(("---",) * len(HEADER))
    return [_printed(row(problem, target)) for problem in chosen for target in problem.targets]


def _printed(found: Row) -> Row:
    _print_cells(found.cells)
    return found


def _print_cells(cells: Sequence[str]) -> None:
    sys.stdout.write(f"| {' | '.join(cells)} |\n")
    sys.stdout.flush()
