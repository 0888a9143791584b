"""`tileas simulate` at the level of PTX: run a program, print what it did, write its arrays."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from tileas_xdsl.deep_stack import with_deep_stack
from tileas_xdsl.executors import Workers
from tileas_xdsl.tools.console import print_facts, print_text
from tileas_xdsl.tools.inputs.array_table import Shown, print_arrays, write_arrays
from tileas_xdsl.tools.running.ptx_runs import (
    OrderOfEvents,
    PtxLaunch,
    PtxProgram,
    PtxRun,
    compiled_program,
    run_all,
)
from tileas_xdsl.tools.running.ptx_text_programs import text_program
from tileas_xdsl.tools.running.scheduled_runs import progress_bar


def run_ptx(
    path: str,
    specs: Sequence[str],
    launch: PtxLaunch,
    orders: Sequence[OrderOfEvents],
    tolerance: float,
    jobs: Workers,
    folder: Path | None,
) -> None:
    """Run the kernel of a file under some orders; arrays go to `folder`.

    Raises `DiagnosticError` and `BindingError`.
    """
    program: PtxProgram
    if path.endswith(".ptx"):
        program = text_program(path, specs, launch)
    else:
        program = with_deep_stack(lambda: compiled_program(path, specs, launch))
    start = time.perf_counter()
    with progress_bar() as bar:
        done = run_all(program, orders, tolerance, jobs, bar)
    seconds = time.perf_counter() - start
    shown = _shown(program, done)
    if folder is not None:
        write_arrays(folder, shown)
    print_text(done.printed)
    _print_facts(launch, done, seconds, len(orders))
    print_arrays(shown)


def _shown(program: PtxProgram, done: PtxRun) -> Sequence[Shown]:
    pairs = enumerate(zip(program.arguments, done.values, strict=True))
    return [
        Shown(position, given.name, given.type, given.value, np.asarray(after))
        for position, (given, after) in pairs
        if _is_array(given.value)
    ]


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0


def _print_facts(launch: PtxLaunch, done: PtxRun, seconds: float, orders: int) -> None:
    facts = [
        ("blocks", str(prod(launch.grid))),
        ("instructions", f"{done.instructions}, those of a warpgroup together counted once"),
        ("wall time", f"{seconds:.3f} s"),
    ]
    if orders > 1:
        facts.append(("orders", f"{orders}, all with the same results"))
    print_facts(facts)
