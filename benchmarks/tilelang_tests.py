# pyright: basic
"""Whether TileLang's own tests are right: `python -m benchmarks.tilelang_tests CHECKOUT`.

Every file of `testing/python` that compiles kernels runs under pytest in a process of its own: tensors of
torch on the CPU, kernels of sm_90a on the emulator, compared by the test with its own reference.  A row a
case (parametrised ones apart):

* `RIGHT`: it passed, after kernels and comparisons; `RAN`: it passed after kernels, comparing nothing here;
* `REFUSED`: a construct that has no counterpart, with file and line; `WRONG`: a comparison failed or the
  emulator found something; `FAILED`: anything else; `SLOW`: more seconds than a case has;
* `SOURCE`: it looks at CUDA that TileLang generates; `NONE`: it runs no kernel (of TileLang's own
  compiler, of another machine, skipped).
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.tilelang_suite import construct

FOLDERS = (
    "language",
    "issue",
    "kernel",
    "jit",
    "math",
    "debug",
    "tilelibrary",
    "fastmath",
    "autotune",
)
"""Of `testing/python`: programs.  The others test TileLang's passes, and other machines."""

CASE_SECONDS = 60

MARK = "@@"
"""Begins the line of a case."""


class SlowError(BaseException):
    """A case has no time left; no program catches it."""


def pytest_configure(config: pytest.Config) -> None:
    """Put the emulator under TileLang before any test is imported."""
    from benchmarks import tilelang_emulate

    config.stash[TARGET] = tilelang_emulate.on_emulator()
    _without_marks()


TARGET = pytest.StashKey[Any]()


def _without_marks() -> None:
    """Tests that ask for a GPU before Blackwell are run."""
    import tilelang.testing

    def of_version(major: int, minor: int = 0, mode: str = "ge") -> Any:
        holds = {
            "ge": (major, minor) <= (9, 0),
            "gt": (major, minor) < (9, 0),
            "le": (major, minor) >= (9, 0),
            "lt": (major, minor) > (9, 0),
            "eq": (major, minor) == (9, 0),
        }
        return pytest.mark.skipif(not holds[mode], reason="of another GPU")

    testing: Any = tilelang.testing
    testing.requires_cuda = testing.requires_cuda_or_cdna = lambda function: function
    testing.requires_cuda_compute_version = of_version
    for mode in ("ge", "gt", "le", "lt", "eq"):
        named = f"requires_cuda_compute_version_{mode}"
        setattr(testing, named, lambda a, b=0, mode=mode: of_version(a, b, mode))


def pytest_assertion_pass() -> None:
    """Count what a test asserts of what its kernels computed."""
    from benchmarks.tilelang_emulate import DONE

    DONE["comparisons"] += bool(DONE["kernels"])


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Run a case, with the seconds that it has."""
    from benchmarks.tilelang_emulate import DONE
    from benchmarks.tilelang_trace import OnCpu

    DONE.clear()

    def stop(*_: object) -> None:
        raise SlowError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(CASE_SECONDS)
    said = "RIGHT"
    try:
        with OnCpu(), pyfuncitem.config.stash[TARGET]:
            found = yield
        if DONE["unlike"]:
            said = "WRONG a comparison failed"
        return found
    except BaseException as error:
        said = _failure(error)
        return True
    finally:
        signal.alarm(0)
        if said == "RIGHT":
            said = _passed()
        elif DONE["source"] and said.split(" ")[0] in ("FAILED", "WRONG"):
            said = "SOURCE"
        print(f"\n{MARK}{pyfuncitem.name}\t{said}", file=sys.__stdout__, flush=True)


def _passed() -> str:
    from benchmarks.tilelang_emulate import DONE

    if not DONE["kernels"]:
        return "SOURCE" if DONE["source"] else "NONE"
    kind = "RIGHT" if DONE["comparisons"] else "RAN"
    return f"{kind} {DONE['kernels']} kernels {DONE['comparisons']} comparisons"


def _failure(error: BaseException) -> str:
    from benchmarks.tilelang_emulate import DONE, UnlikeError
    from tileas_xdsl.diagnostics.errors import DiagnosticError

    text = " ".join(str(error).split())[:300]
    if isinstance(error, SlowError):
        return f"SLOW more than {CASE_SECONDS} s"
    if isinstance(error, pytest.skip.Exception):
        return f"NONE skipped: {text}"
    if isinstance(error, DiagnosticError):
        line = str(error).splitlines()[0]
        return f"{'FAILED' if 'internal error' in line else 'REFUSED'} {line}"
    if isinstance(error, UnlikeError | AssertionError):
        is_wrong = DONE["kernels"] or isinstance(error, UnlikeError)
        return f"{'WRONG' if is_wrong else 'FAILED'} {type(error).__name__}: {text}"
    return f"FAILED {type(error).__name__}: {text}"


def programs(checkout: Path) -> Sequence[Path]:
    """The files of tests that compile kernels."""
    tests = checkout / "testing" / "python"
    found = [path for folder in FOLDERS for path in sorted((tests / folder).rglob("test_*.py"))]
    return [
        path
        for path in found
        if re.search("T.Kernel|tilelang.ops|import test_", path.read_text("utf-8"))
    ]


def rows(path: Path, seconds: int) -> list[tuple[str, str]]:
    """The cases of a file and what became of them."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "benchmarks.tilelang_tests",
        "--noconftest",
    ]
    command += [
        "-m",
        "not perf",
        "-p",
        "no:cacheprovider",
        "-s",
        "-o",
        "enable_assertion_pass_hook=true",
        "-c",
        os.devnull,
        str(path),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        said, ended = done.stdout, done.stdout.strip().splitlines()[-1:]
    except subprocess.TimeoutExpired as error:
        said = (error.stdout or b"").decode()
        ended = [f"SLOW more than {seconds} s"]
    marked = [line[len(MARK) :] for line in said.splitlines() if line.startswith(MARK)]
    found = [(name, line) for name, line in (row.split("\t", 1) for row in marked)]
    return found or [("", f"NONE {' '.join(ended)[:200]}")]


def summary(found: Sequence[tuple[str, str, str]]) -> str:
    """Cases and functions by outcome, and the reasons of what is not right."""
    outcomes = Counter(line.split(" ")[0] for _, _, line in found)
    by_function: dict[tuple[str, str], set[str]] = {}
    for file, case, line in found:
        by_function.setdefault((file, case.split("[")[0]), set()).add(line.split(" ")[0])
    whole = sum(kinds == {"RIGHT"} for kinds in by_function.values())
    quiet = ("RIGHT", "RAN", "SOURCE", "NONE")
    reasons = Counter(construct(line) for _, _, line in found if line.split(" ")[0] not in quiet)
    lines = [f"{len(found)} cases: {dict(outcomes)}"]
    lines += [f"functions of which every case is right: {whole} of {len(by_function)}"]
    return "\n".join(lines + [f"{count:5} {reason}" for reason, count in reasons.most_common(60)])


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--only", default="", help="files whose path contains this")
    parser.add_argument("--seconds", type=int, default=400, help="for one file")
    parser.add_argument("--log", type=Path, help="rows of files that it has are kept, not run")
    given = parser.parse_args()
    known: list[tuple[str, ...]] = []
    if given.log and given.log.exists():
        known = [tuple(line.split("\t", 2)) for line in given.log.read_text("utf-8").splitlines()]
    found: list[tuple[str, str, str]] = []
    for path in programs(given.checkout):
        name = str(path.relative_to(given.checkout / "testing" / "python"))
        if given.only not in name:
            continue
        old = [(row[1], row[2]) for row in known if row[0] == name]
        for case, line in old or rows(path, given.seconds):
            found.append((name, case, line))
            print(f"{name}::{case} {line}", flush=True)
            if given.log and not old:
                with given.log.open("a", encoding="utf-8") as file:
                    file.write(f"{name}\t{case}\t{line}\n")
    print(summary(found))


if __name__ == "__main__":
    main()
