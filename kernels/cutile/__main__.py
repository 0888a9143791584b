"""`python -m kernels.cutile [MODULE ...]`: every kernel compiled, assembled and run, as a table.

It fails where a kernel is refused, spills, or is not what numpy computes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from kernels.cutile import Problem, emulated, problems
from tileas_xdsl.backend.nvidia_tools import find_tool
from tileas_xdsl.compiler import CompiledKernel
from tileas_xdsl.diagnostics.emission import DiagnosticError
from tileas_xdsl.tools.failures import ends_with_its_reader

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


def main(modules: Sequence[str]) -> int:
    """Print the table in Markdown; 1 where a row is not right, 2 for names that are none."""
    try:
        chosen = list(problems(*modules))
    except KeyError as error:
        sys.stderr.write(f"python -m kernels.cutile: {error.args[0]}\n")
        return 2
    except ModuleNotFoundError as error:
        sys.stderr.write(f"python -m kernels.cutile: {error}; install 'tileas-xdsl[cutile]'\n")
        return 2
    _write(HEADER)
    _write(("---",) * len(HEADER))
    rights = [_shown(row(problem, target)) for problem in chosen for target in problem.targets]
    sys.stderr.write(f"{sum(rights)} of {len(rights)} are right\n")
    return 0 if all(rights) else 1


def _shown(found: Row) -> bool:
    _write(found.cells)
    return found.is_right


def _write(cells: Sequence[str]) -> None:
    sys.stdout.write(f"| {' | '.join(cells)} |\n")
    sys.stdout.flush()


if __name__ == "__main__":
    with ends_with_its_reader():
        code = main(sys.argv[1:])
    sys.exit(code)
