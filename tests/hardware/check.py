"""Run tiny kernels of every family on the emulator and on a GPU, and compare them bit for bit.

    python tests/hardware/check.py [--report FILE]... [--family NAME]... [--jobs N]

Without a GPU it runs the emulator only, and compares with numpy where numpy knows.  A report is
Markdown, or JSON by its name.  The exit code is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from hardware.cases.case import Array, Case
from hardware.cases.table import all_cases
from hardware.comparing import Check, checks
from hardware.on_emulator import run_on_emulator
from hardware.on_gpu import run_on_gpu
from hardware.report import table, write

from tileas_xdsl.runtime.gpu.device import gpu
from tileas_xdsl.runtime.gpu.driver import DriverError
from tileas_xdsl.runtime.kernel_launcher import target_of


def main(words: Sequence[str] | None = None) -> int:
    """Run the cases selected on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", action="append", type=Path, default=[], metavar="FILE")
    parser.add_argument("--family", action="append", default=[], metavar="NAME")
    parser.add_argument("--jobs", type=int, help="processes of the emulator")
    given = parser.parse_args(words)
    cases = [case for case in all_cases() if not given.family or case.family in given.family]
    start = time.perf_counter()
    emulated = list(run_on_emulator(cases, given.jobs))
    middle = time.perf_counter()
    print(f"{len(cases)} cases emulated in {middle - start:.1f} s", file=sys.stderr, flush=True)
    name, target = _gpu()
    facts = {"GPU": name, "emulator": f"{middle - start:.1f} s"}
    done = [check for of_case in all_checks(cases, emulated, target) for check in of_case]
    if target:
        facts["on the GPU"] = f"{time.perf_counter() - middle:.1f} s"
    print(*(f"{name}: {value}" for name, value in facts.items()), sep="\n")
    print(table(done))
    for path in given.report:
        write(path, facts, done)
    return int(any(check.difference for check in done))


def _gpu() -> tuple[str, str]:
    """Return the name of the GPU and its target; the target is empty without a GPU."""
    try:
        return gpu().name, target_of(gpu())
    except DriverError as error:
        return f"none: {error}", ""


Found = Sequence[Array | None] | str


def all_checks(
    cases: Sequence[Case], emulated: Sequence[Found], target: str
) -> Iterator[Sequence[Check]]:
    """Yield the checks of each case; cases of another target are compared with numpy."""
    on_gpu = run_on_gpu([case for case in cases if case.target == target])
    for case, found in zip(cases, emulated, strict=True):
        if case.target == target:
            yield compared(case, found, next(on_gpu))
        else:
            yield _against_numpy(case, found)


def _against_numpy(case: Case, emulated: Found) -> Sequence[Check]:
    if isinstance(emulated, str):
        return [Check(case.family, case.name, f"the emulator: {emulated}")]
    known = [case.wanted.get(number) for number in range(len(emulated))]
    return checks(case, emulated, known) or [Check(case.family, case.name)]


def compared(case: Case, emulated: Found, on_gpu: Found) -> Sequence[Check]:
    """Return the checks of a case that ran on both the emulator and the GPU."""
    for where, found in (("the emulator", emulated), ("the GPU", on_gpu)):
        if isinstance(found, str):
            return [Check(case.family, case.name, f"{where}: {found}")]
    assert not isinstance(emulated, str)
    assert not isinstance(on_gpu, str)
    return [*checks(case, emulated, on_gpu), *_numpy_differs(case, on_gpu)]


def _numpy_differs(case: Case, on_gpu: Sequence[Array | None]) -> Sequence[Check]:
    """Return failed comparisons of the GPU with numpy, which indicate a wrong test case."""
    known = [case.wanted.get(number) for number in range(len(on_gpu))]
    return [c for c in checks(case, on_gpu, known) if c.difference]


if __name__ == "__main__":
    sys.exit(main())
