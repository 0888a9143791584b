"""Mutate kernels of Triton: delete or change one synchronisation at a time, and check each mutant.

    pip install triton torch
    python benchmarks/foreign_mutants.py [--only NAME] [--jobs N] [--table FILE] sm_90a sm_100a

It needs no GPU.  A mutant is found if the checker reports what it does not report of the kernel
itself, or if the result differs; the others are listed, each with the reason why it is redundant
(`benchmarks/redundant_synchronization.py`).  The table has a line for each of them; those of other
versions of Triton stay in it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
import triton

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.foreign_kernels import CASES
from benchmarks.redundant_synchronization import reason
from benchmarks.synchronization_mutants import mutants
from tileas_xdsl import check
from tileas_xdsl.check.capture import launch_capture, triton_launches
from tileas_xdsl.check.reports import CheckReport
from tileas_xdsl.interpreters.ptx.errors import LaunchError, PtxError

SCHEDULES = 3


@dataclass
class Captured:
    """A launch as it goes to the checker."""

    text: str
    given: tuple[Any, ...]
    options: dict[str, Any]

    def check(self, text: str) -> CheckReport:
        """Check another text with the same arguments."""
        options = {**self.options, "schedules": SCHEDULES, "limit": 200_000}
        return check.ptx(text, *self.given, **options)


def captured(name: str, target: str) -> list[Captured]:
    """The launches of a case."""
    found: list[Captured] = []
    texts: dict[int, str] = {}
    original, load = launch_capture.ptx, triton_launches.load

    def loading(text: str, path: str) -> Any:
        module = load(text, path)
        texts[id(module)] = text
        return module

    def checking(module: Any, *given: Any, **options: Any) -> CheckReport:
        found.append(Captured(texts[id(module)], deepcopy(given), options))
        return original(module, *given, **options)

    torch.manual_seed(0)
    with (
        patch.object(launch_capture, "ptx", checking),
        patch.object(triton_launches, "load", loading),
        check.triton(target, schedules=1),
    ):
        CASES[name]()
    return found


def _known(report: CheckReport) -> set[tuple[str, int]]:
    return {(f.kind, f.line) for f in report.failures}


def _same(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return all(
        x is None or np.array_equal(np.asarray(x).view(np.uint8), np.asarray(y).view(np.uint8))
        for x, y in zip(a, b, strict=True)
    )


def verdict(launch: Captured, base: CheckReport, text: str) -> str:
    """How a mutant is found: `finding`, `refused`, `numbers`, or `nothing`."""
    try:
        report = launch.check(text)
    except (PtxError, LaunchError):
        return "refused"
    if _known(report) - _known(base):
        return "finding"
    return "nothing" if _same(base.arrays, report.arrays) else "numbers"


def _first_verdict(job: tuple[Captured, CheckReport, str]) -> str:
    return verdict(*job)


def rows(name: str, target: str, jobs: int = 1) -> Iterator[tuple[str, str, str]]:
    """Each mutant of a case, its verdict, and why one that is not found is redundant."""
    launch = captured(name, target)[0]
    base = launch.check(launch.text)
    made = list(mutants(launch.text))
    work = [(launch, base, text) for _, text in made]
    with ProcessPoolExecutor(jobs) as pool:
        verdicts = list((map if jobs == 1 else pool.map)(_first_verdict, work))
    for (what, _), how in zip(made, verdicts, strict=True):
        yield what, how, reason(launch.text, what) if how == "nothing" else ""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", action="append", default=[])
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--table", type=Path)
    options.add_argument("targets", nargs="*", default=["sm_90a", "sm_100a"])
    chosen = options.parse_args()
    totals: Counter[str] = Counter()
    version = ".".join(triton.__version__.split(".")[:2])
    lines: list[str] = []
    for target in chosen.targets:
        for name in CASES:
            if chosen.only and not any(part in name for part in chosen.only):
                continue
            began = time.monotonic()
            found = list(rows(name, target, chosen.jobs))
            counts = Counter(how for _, how, _ in found)
            totals += counts
            shown = ", ".join(f"{n} {how}" for how, n in counts.items())
            print(f"{target} {name}: {shown} ({time.monotonic() - began:.1f} s)", flush=True)
            missed = [(what, why) for what, how, why in found if how == "nothing"]
            lines += ["\t".join((version, target, name, " ".join(what.split()), why))
                      for what, why in missed]  # fmt: skip
            for what, why in missed if chosen.table is None else ():
                print(f"    {what}: {why}", flush=True)
    print(dict(totals))
    if chosen.table is not None:
        write(chosen.table, version, lines)


HEAD = "Triton\ttarget\tkernel\tmutant\twhy it is redundant for the launch"


def write(table: Path, version: str, lines: Sequence[str]) -> None:
    """Write the rows of a version of Triton; those of others stay."""
    before = table.read_text(encoding="utf-8").splitlines()[1:] if table.exists() else []
    others = [line for line in before if line.split("\t")[0] != version]
    rows = sorted([*others, *lines], key=lambda line: line.split("\t")[0])
    table.write_text("\n".join([HEAD, *rows, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
