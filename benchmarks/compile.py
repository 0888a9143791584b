"""How long compiling takes: IR, passes, kernels to PTX and machine code, warm and cold.

    python benchmarks/compile.py [--repeat 5] [--only TEXT]... [--passes] [--seconds 75] [--json FILE]

Kernels that Triton has too come first; what is not begun when the time is over is named.  Medians in one process, after a run that warms up; cold is a new process, with its imports.  Bars:
150 ms from the IR of a GEMM of 128x256x64 to PTX, 500 ms for the import of the package, 1.5 s for
the first kernel of a new process.  Triton's
kernels are compiled to machine code without its cache, where it is installed; its attention, for
whole tiles of keys alone, is what `attention d128, whole tiles` is.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))


from benchmarks.compiled_kernels import SUBJECTS, TARGET, Subject, tile_kernels
from benchmarks.ir_steps import ir_rows
from benchmarks.results import Row
from benchmarks.running import end, median_seconds, run_benchmark
from kernels.kernel import Kernel
from kernels.simulating import parse
from tileas_xdsl.backend.nvidia_tools import find_tool
from tileas_xdsl.backend.waiting_ptxas import waiting_ptxas
from tileas_xdsl.compiler import CompiledKernel, compile_module
from tileas_xdsl.installed import registered_context

COMPILE_BAR, IMPORT_BAR, FIRST_BAR = 150.0, 500.0, 1500.0
"""Milliseconds."""

SLOWEST = 3
"""So many passes are named."""

Times = Counter[str]
"""Milliseconds by pass."""


def times_of(made: Sequence[CompiledKernel]) -> Times:
    """Of several compilations of one kernel, the medians of what its passes took."""
    found: Times = Counter()
    for stages in zip(*(kernel.stages for kernel in made), strict=True):
        found[stages[0].name] += 1000 * statistics.median(stage.seconds for stage in stages)
    return found


def tile_row(kernel: Kernel, repeat: int) -> tuple[Row, Times]:
    """From the IR of tiles, parsed, to PTX."""
    ctx, module, made = registered_context(), parse(kernel.text()), list[CompiledKernel]()

    def once() -> None:
        made.append(compile_module(module, ctx, kernel.target))
        assert made[-1].ptx

    seconds, times = median_seconds(repeat, once), times_of(made)
    bar = COMPILE_BAR if kernel.name == "gemm" and "bn=256" in str(kernel) else None
    facts = {"slowest passes": _slowest(times)}
    return Row("tiles to PTX, warm", str(kernel), 1000 * seconds, "ms", bar=bar, facts=facts), times


def cutile_rows(subject: Subject, repeat: int) -> tuple[Sequence[Row], Times]:
    """From Python to PTX; and to machine code, beside Triton."""
    made = list[CompiledKernel]()
    seconds = median_seconds(repeat, lambda: made.append(subject.compile()))
    times = times_of(made)
    facts = {"slowest passes": _slowest(times)}
    rows = [Row("cuTile to PTX, warm", subject.name, 1000 * seconds, "ms", facts=facts)]
    if find_tool("ptxas") is not None:
        total = 1000 * median_seconds(repeat, partial(machine_code, subject))
        alone = 1000 * median_seconds(repeat, made[-1].assemble)
        others: dict[str, float] = {}
        if subject.triton is not None and find_spec("triton") is not None:
            others["Triton"] = 1000 * median_seconds(repeat, subject.triton.compile)
        shown = {"ptxas alone": alone}
        rows.append(
            Row("cuTile to machine code, warm", subject.name, total, "ms", others, facts=shown)
        )
    return rows, times


def machine_code(subject: Subject) -> None:
    """Compile a kernel to machine code, as a launch does."""
    with waiting_ptxas(TARGET) as waiting:
        assert subject.compile().assemble(waiting=waiting).cubin


def _slowest(times: Times) -> str:
    return ", ".join(f"{name} {ms:.1f}" for name, ms in times.most_common(SLOWEST))


def _passes(kernel: str, times: Times) -> Iterator[Row]:
    for name, milliseconds in times.most_common():
        yield Row(f"passes of {kernel}", name, milliseconds, "ms")


COLD = {
    "import tileas_xdsl": ("import tileas_xdsl", ""),
    "vector_add to PTX": (
        "from kernels import make; from kernels.compiled import compiled;"
        "assert compiled(make('vector_add')).ptx",
        "from benchmarks.compiled_kernels import SUBJECTS; SUBJECTS[0].triton.compile()",
    ),
    "gemm 128x256x64 to PTX": (
        "from kernels import make; from kernels.compiled import compiled;"
        "assert compiled(make('gemm', bm=128, bn=256, bk=64)).ptx",
        "from benchmarks.compiled_kernels import SUBJECTS; SUBJECTS[5].triton.compile()",
    ),
}
"""What a new process does: ours, and Triton's, to machine code."""


def cold_rows(repeat: int) -> Iterator[Row]:
    """New processes, from their start to their end, that find bytecode as an installation has it."""
    with TemporaryDirectory() as bytecode:
        yield from _cold_rows(repeat, partial(_process, bytecode))


def _cold_rows(repeat: int, process: Callable[[str], None]) -> Iterator[Row]:
    nothing = 1000 * median_seconds(repeat, partial(process, "pass"))
    yield Row("new processes", "nothing", nothing, "ms")
    for name, (ours, theirs) in COLD.items():
        taken = 1000 * median_seconds(repeat, partial(process, ours))
        others: dict[str, float] = {}
        if theirs and find_spec("triton") is not None:
            others["Triton"] = 1000 * median_seconds(repeat, partial(process, theirs))
        bar = IMPORT_BAR if name.startswith("import") else FIRST_BAR
        yield Row("new processes", name, taken, "ms", others, bar)


def _process(bytecode: str, code: str) -> None:
    root, environment = str(Path(__file__).parents[1]), dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = bytecode
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root, env=environment)


def measure(options: argparse.Namespace) -> Iterator[Row]:
    """Rows of everything, or of the kernels whose names have one of the texts."""
    until, total, late = time.monotonic() + options.seconds, Counter[str](), list[str]()
    for name, rows_of in _parts(options, total):
        if options.only and not any(text in name for text in options.only):
            continue
        if time.monotonic() > until:
            late.append(name)
            continue
        yield from rows_of()
    yield from _passes("all kernels", total)
    if late:
        print(f"not measured in {options.seconds} s: {', '.join(late)}", flush=True)


Part = tuple[str, Callable[[], Iterator[Row]]]
"""A name, and what measures."""


def _parts(options: argparse.Namespace, total: Times) -> Iterator[Part]:
    """What is measured, the most telling first; `total` adds the passes of kernels up."""
    repeat, subjects = options.repeat, SUBJECTS if find_spec("cuda.tile") is not None else ()

    def of_subject(subject: Subject) -> Iterator[Row]:
        rows, times = cutile_rows(subject, repeat)
        yield from rows
        total.update(times)
        yield from _passes(f"cuTile {subject.name}", times) if options.passes else ()

    def of_kernel(kernel: Kernel) -> Iterator[Row]:
        row, times = tile_row(kernel, repeat)
        yield row
        total.update(times)
        yield from _passes(str(kernel), times) if options.passes else ()

    for subject in sorted(subjects, key=lambda one: one.triton is None):
        yield f"cuTile {subject.name}", partial(of_subject, subject)
    yield "new processes", partial(cold_rows, min(repeat, 3))
    for kernel in tile_kernels():
        yield str(kernel), partial(of_kernel, kernel)
    yield "IR", partial(ir_rows, repeat)


def add_options(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", action="append", default=[], metavar="TEXT")
    parser.add_argument("--seconds", type=float, default=75, help="no part begins later")
    parser.add_argument("--passes", action="store_true", help="the passes of every kernel too")


def main(words: Sequence[str] | None = None) -> int:
    """Measure."""
    return run_benchmark(__doc__, measure, add_options, words)


if __name__ == "__main__":
    end(main)
