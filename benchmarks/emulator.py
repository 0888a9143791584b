"""How fast kernels run without a GPU: their PTX on the emulator, their tiles on the interpreter.

    python benchmarks/emulator.py [--size 1024] [--repeat 3] [--json FILE] [--compare OLD.json]

Medians in one process, with all checks.  Bars, for a GEMM of 1024^3 of f16: 2 s on the emulator with
two processes, 1 s on the interpreter.  Every result is compared with numpy's.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.results import Row
from benchmarks.running import end, median_seconds, run_benchmark
from kernels import make
from kernels.compiled import compiled
from kernels.kernel import Deviation, Kernel
from kernels.simulating import parse
from tileas_xdsl.interpreters.tile.launch import Schedule, simulate

EMULATOR_BAR, INTERPRETER_BAR = 2.0, 1.0
"""Seconds."""

SIZE = 1024
"""Of the bars."""

TILE = {"bm": 128, "bn": 128, "bk": 64}
FORMS: Sequence[tuple[str, str, Schedule, int]] = (
    ("f16", "region", Schedule(), 1),
    ("f16", "scalar", Schedule(), 1),
    ("bf16", "region", Schedule(), 1),
    ("e4m3", "region", Schedule(), 1),
    ("f16", "region", Schedule("adversarial"), 1),
    ("f16", "region", Schedule("random", 1), 1),
    ("f16", "region", Schedule(), 2),
)
"""Elements, form, schedule and processes of a simulated GEMM."""

CUTILE = ("vector_add", "softmax", "layer_norm", "transpose", "matmul", "attention")
"""The first launch of each of these is emulated too."""


class WrongResultError(Exception):
    """A run whose result is not numpy's."""


def _facts(name: str, seconds: float, instructions: int, deviation: Deviation) -> dict[str, Any]:
    if not deviation.is_right:
        raise WrongResultError(f"{name}: {deviation}")
    share = f"{100 * deviation.share:.1f} %"
    return {"instructions": instructions, "a second": instructions / seconds, "of bound": share}


def emulated_row(kernel: Kernel, size: int, jobs: int, repeat: int) -> Row:
    """Measure the PTX of a kernel on a problem of equal extents."""
    sizes = dict.fromkeys(kernel.sizes, size)
    inputs = list(kernel.make_inputs(np.random.default_rng(0), sizes))
    made, found = compiled(kernel), list[Any]()
    grid = kernel.grid(sizes)
    seconds = median_seconds(
        repeat, lambda: found.append(made.emulate(*inputs, grid=grid, jobs=jobs))
    )
    run = found[-1]
    if run.findings or not run.finished:
        raise WrongResultError(f"{kernel}: {run.findings}")
    name = f"{kernel} {size}^3, {jobs} process{'es' * (jobs > 1)}"
    facts = _facts(name, seconds, run.instructions, kernel.check(inputs, run.arrays))
    bar = EMULATOR_BAR if (size, jobs) == (SIZE, 2) else None
    return Row("emulator of PTX", name, seconds, "s", bar=bar, facts=facts)


def cutile_emulated(name: str, repeat: int) -> Row:
    """The PTX of the first launch of a kernel of cuTile."""
    from kernels.cutile import problems

    problem = next(iter(problems(name)))
    made, arguments, found = problem.compiled("sm_90a"), problem.arguments(), list[Any]()
    seconds = median_seconds(
        repeat, lambda: found.append(made.emulate(*arguments, grid=problem.grid))
    )
    run = found[-1]
    if run.findings or not run.finished:
        raise WrongResultError(f"{problem}: {run.findings}")
    facts = _facts(str(problem), seconds, run.instructions, problem.check(arguments, run.arrays))
    return Row("emulator of PTX, cuTile", str(problem), 1000 * seconds, "ms", facts=facts)


def simulated_row(
    element: str, form: str, schedule: Schedule, jobs: int, size: int, repeat: int
) -> Row:
    """A GEMM of tiles."""
    kernel = make("gemm", element=element, form=form, **TILE)
    sizes = dict.fromkeys(kernel.sizes, size)
    inputs = list(kernel.make_inputs(np.random.default_rng(0), sizes))
    module, found, grid = parse(kernel.text()), list[Any](), kernel.grid(sizes)
    seconds = median_seconds(
        repeat,
        lambda: found.append(simulate(module, inputs, grid=grid, schedule=schedule, jobs=jobs)),
    )
    run = found[-1]
    name = f"{element} {form} {size}^3, {schedule.policy}, {jobs} process{'es' * (jobs > 1)}"
    deviation = kernel.check(inputs, run.arrays)
    if not deviation.is_right:
        raise WrongResultError(f"{name}: {deviation}")
    facts = {"operations/s": run.operations / seconds, "cycles": float(run.cycles)}
    is_of_bar = size == SIZE and (element, form, schedule, jobs) == FORMS[0]
    bar = INTERPRETER_BAR if is_of_bar else None
    return Row("interpreter of tiles", name, seconds, "s", bar=bar, facts=facts)


def measure(options: argparse.Namespace) -> Iterator[Row]:
    """Rows of all."""
    kernel = make("gemm", stages=4, **TILE)
    for jobs in (1, 2):
        yield emulated_row(kernel, options.size, jobs, options.repeat)
    for name in CUTILE if find_spec("cuda.tile") is not None else ():
        yield cutile_emulated(name, options.repeat)
    for form in FORMS:
        yield simulated_row(*form, options.size, options.repeat)


def add_options(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    parser.add_argument("--size", type=int, default=SIZE)
    parser.add_argument("--repeat", type=int, default=3)


def main(words: Sequence[str] | None = None) -> int:
    """Measure; 1 where a result is wrong."""
    try:
        return run_benchmark(__doc__, measure, add_options, words)
    except WrongResultError as error:
        print(f"benchmarks/emulator.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    end(main)
