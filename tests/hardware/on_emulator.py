"""Run cases on the emulator, one process per CPU."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor

from hardware.cases.case import Array, Case

from tileas_xdsl.interpreters.ptx import LaunchError, PtxError, load, run

Found = Sequence[Array | None] | str
"""Final contents of a case's arguments, or an error message."""


def run_on_emulator(cases: Sequence[Case], jobs: int | None = None) -> Iterator[Found]:
    """Return the outputs of each case."""
    with ProcessPoolExecutor(jobs or os.cpu_count()) as pool:
        yield from pool.map(emulate, cases, chunksize=4)


def emulate(case: Case) -> Found:
    """Return the outputs of one case, with all emulator checks enabled."""
    try:
        report = run(
            load(case.text, f"{case.name}.ptx"),
            None,
            case.arguments,
            case.grid,
            case.block,
            case.cluster,
            dynamic_shared=case.shared,
        )
    except (LaunchError, PtxError) as error:
        return f"{type(error).__name__}: {error}"
    wrong = [finding for finding in report.findings if finding.kind not in case.allowed]
    if wrong:
        return f"found: {wrong[0].message}"
    return report.arrays if report.finished else "did not end"
