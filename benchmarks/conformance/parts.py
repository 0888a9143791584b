"""A suite in parts that any executor carries: each is this command on its share of the tests.

A part runs in a process of its own, with a scheduler for its tests, so that crashes and time limits
stay in it; an executor that repeats lost work repeats the part.  All parts collect the whole suite.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

from benchmarks.conformance.outcomes import Result, Run
from benchmarks.conformance.suites import SuiteError
from tileas_xdsl.executors import executor_named

ROOT = Path(__file__).parents[2]
LEFT = "did not run"
"""What a run says where its time limit left tests."""


@dataclass(frozen=True)
class Share:
    """Every `count`-th test from this index on."""

    index: int
    count: int

    @staticmethod
    def of(text: str) -> Share:
        """Return the share `INDEX/COUNT`; raises `ArgumentTypeError`."""
        index, _, count = text.partition("/")
        if index.isdigit() and count.isdigit() and int(index) < int(count):
            return Share(int(index), int(count))
        raise argparse.ArgumentTypeError(f"'{text}' is no INDEX/COUNT, such as 0/4 to 3/4")

    def of_all(self, names: Sequence[str]) -> Sequence[str]:
        """Return the tests of the share."""
        return names[self.index :: self.count]


@dataclass(frozen=True)
class Part:
    """A run of the command line in another process."""

    words: tuple[str, ...]
    environment: str
    preload: tuple[str, ...]

    def run(self, share: str) -> tuple[Run, str]:
        """Run a share of the tests; the text says what the time limit left.

        Raises `SuiteError` if the suite cannot be run.
        """
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "results.json")
            words = [*self.words, "--part", share, "--json", str(path)]
            code = (
                "import sys; from benchmarks.conformance.command import main; "
                f"sys.exit(main('', {words!r}, environment={self.environment!r}, "
                f"preload={self.preload!r}))"
            )
            ran = subprocess.run(
                [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
            )
            if ran.returncode:
                raise SuiteError(f"part {share}: {ran.stderr.strip()}")
            said = next((line for line in ran.stdout.splitlines() if LEFT in line), "")
            return Run.read(path), said and f"part {share}: {said}"


def results_of_parts(part: Part, count: int, executor: str) -> Iterator[Result]:
    """Yield the results of all parts as they end; what all report, as a broken file, once.

    Raises `SuiteError` and `ExecutorError`.
    """
    seen: set[str] = set()
    with executor_named(executor) as pool:
        shares = [f"{index}/{count}" for index in range(count)]
        for done in as_completed(pool.submit(_run, *one) for one in zip(repeat(part), shares)):
            run, left = done.result()
            if left:
                print(left, flush=True)
            for result in run.results:
                if result.id not in seen:
                    seen.add(result.id)
                    yield result


def _run(part: Part, share: str) -> tuple[Run, str]:
    return part.run(share)
