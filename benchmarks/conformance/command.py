"""The command line: run a suite, print tables, write and compare results."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.conformance.outcomes import Outcome, Result, Run, Writer
from benchmarks.conformance.parts import Part, Share, results_of_parts
from benchmarks.conformance.private_tests import as_private
from benchmarks.conformance.sampling import sampled
from benchmarks.conformance.scheduler import Scheduler, default_jobs
from benchmarks.conformance.suites import Suite, SuiteError, find_suite
from benchmarks.conformance.tables import by_file, comparison, reasons, summary
from benchmarks.conformance.worker import Task
from benchmarks.running import machine
from tileas_xdsl.executors import PARTS, ExecutorError

ENVIRONMENT = "benchmarks.conformance.environment"
PRELOADED = (ENVIRONMENT, "pytest")
PROGRESS = 15.0
"""Seconds between lines about how far it is."""

TEST_LIMITS = {"gpu": 60.0, "emulator": 120.0, "assembler": 120.0}


def parser_of(description: str) -> argparse.ArgumentParser:
    """Return the options."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("suite", type=Path, metavar="SUITE", help="a checkout of cutile-python or TileGym")
    add(
        "--on",
        choices=tuple(TEST_LIMITS),
        default="gpu",
        help="where kernels run: through the drop-in, or (assembler) as cuTile launches them",
    )
    add("--target", default="sm_90a", help="of the emulator (sm_90a)")
    add("--sample", type=int, metavar="N", help="run N tests of each file, always the same")
    add("--only", action="append", default=[], metavar="TEXT", help="tests with TEXT in their ids")
    add("--again", type=Path, metavar="OLD.json", help="tests that failed or were refused there")
    add("-j", "--jobs", type=int, metavar="N", help="processes (as processors; of a part 1)")
    add("--executor", metavar="NAME", help="what carries parts: processes:4, dask://HOST:PORT")
    add("--parts", type=int, default=PARTS, metavar="N", help=f"for the executor ({PARTS})")
    add("--part", type=Share.of, metavar="I/N", help="run this part only, of 0/N to N-1/N")
    add("--test-limit", type=float, metavar="SECONDS", help="of each test (60, emulator 120)")
    add("--time-limit", type=float, metavar="SECONDS", help="of all; what is left is counted")
    add("--reasons", type=int, default=40, metavar="N", help="rows of the tables of reasons (40)")
    add("--details", action="store_true", help="print the ends of tracebacks")
    add("--json", type=Path, metavar="FILE", help="write each result there at once, a line each")
    add("--compare", type=Path, metavar="OLD.json", help="print what changed since then")
    return parser


@dataclass
class _Progress:
    """Keeps results, and says now and then how far the run is."""

    suite: Suite
    writer: Writer
    total: int = 0
    _said: float = field(default_factory=time.monotonic)

    def choose(self, names: Sequence[str], options: argparse.Namespace) -> Sequence[str]:
        """Return the tests that run."""
        tests = [name for name in names if not any(text in name for text in self.suite.ignored)]
        chosen = sampled([name for name in tests if _is_wanted(name, options)], options.sample)
        if options.part is not None:
            chosen = options.part.of_all(chosen)
        self.total = len(chosen)
        print(f"{len(chosen)} of {len(names)} tests", flush=True)
        return chosen

    def add(self, result: Result) -> None:
        """Keep a result, of a test or of a file that cannot be imported."""
        self.writer.add(as_private(self.suite.name, result))
        if time.monotonic() - self._said > PROGRESS:
            self._said = time.monotonic()
            print(f"of {self.total}: {summary(self.writer.results)}", flush=True)


def _is_wanted(name: str, options: argparse.Namespace) -> bool:
    is_named = not options.only or any(text in name for text in options.only)
    return is_named and (options.again is None or name in options.again)


def _not_passed(path: Path) -> frozenset[str]:
    """Return the tests that failed or were refused in an older run."""
    wanted = (Outcome.FAILED, Outcome.REFUSED)
    return frozenset(one.id for one in Run.read(path).results if one.outcome in wanted)


def run_suite(
    suite: Suite, options: argparse.Namespace, environment: str, preload: Sequence[str]
) -> Run:
    """Run the tests that the options ask for, and print how far it is; may raise `SuiteError`."""
    facts = _facts(suite, options)
    print(*(f"{name}: {value}" for name, value in facts.items()), sep="\n", flush=True)
    limit = options.test_limit or TEST_LIMITS[options.on]
    device = options.target if options.on == "emulator" else options.on
    jobs = options.jobs or (default_jobs() if options.executor is None else 1)
    with ExitStack() as stack:
        file = options.json and stack.enter_context(options.json.open("w", encoding="utf-8"))
        progress = _Progress(suite, Writer(file or None))
        progress.writer.begin(facts)
        if options.executor is not None:
            part = Part(tuple(_words_of_part(options, jobs)), environment, tuple(preload))
            for result in results_of_parts(part, options.parts, options.executor):
                progress.add(result)
            return Run(facts, progress.writer.results)
        scheduler = Scheduler(
            Task(suite, environment, device, limit),
            jobs,
            lambda names: progress.choose(names, options),
            lambda result: _is_wanted(result.id, options) and progress.add(result),
            options.time_limit,
            preload,
        )
        _run(scheduler)
    return Run(facts, progress.writer.results)


def _words_of_part(options: argparse.Namespace, jobs: int) -> Iterator[str]:
    """Yield the command line of a part, without its share."""
    yield str(options.suite.resolve())
    yield from ("--on", options.on, "--target", options.target, "-j", str(jobs))
    yield from (word for text in options.only for word in ("--only", text))
    named = {
        "--sample": options.sample,
        "--again": options.again_file,
        "--test-limit": options.test_limit,
        "--time-limit": options.time_limit,
    }
    yield from (str(w) for name, one in named.items() if one is not None for w in (name, one))


def _run(scheduler: Scheduler) -> None:
    """Run until the end, the limit or an interrupt; say how long it took and what is left."""
    start = time.monotonic()
    try:
        scheduler.run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    seconds = time.monotonic() - start
    left = f"; {scheduler.unfinished} tests did not run" if scheduler.unfinished else ""
    print(f"{seconds:.0f} s with {scheduler.jobs} processes{left}", flush=True)


def _facts(suite: Suite, options: argparse.Namespace) -> Mapping[str, str]:
    chosen = {
        "suite": suite.name,
        "on": f"emulator of {options.target}" if options.on == "emulator" else options.on,
        "sample": f"{options.sample} of each file" if options.sample else "",
        "only": ", ".join(options.only),
    }
    return {**{name: value for name, value in chosen.items() if value}, **machine()}


def main(
    description: str,
    words: Sequence[str] | None = None,
    *,
    environment: str = ENVIRONMENT,
    preload: Sequence[str] = PRELOADED,
) -> int:
    """Run a suite; 1 for a suite that cannot be run or results that cannot be read."""
    options = parser_of(description).parse_args(words)
    os.environ.setdefault("PYTHONHASHSEED", "0")  # ids made from sets are the same in each run
    os.environ.setdefault("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    try:
        options.again_file = options.again and options.again.resolve()
        options.again = None if options.again is None else _not_passed(options.again)
        old = None if options.compare is None else Run.read(options.compare)
        run = run_suite(find_suite(options.suite), options, environment, preload)
    except (OSError, ValueError, SuiteError, ExecutorError) as error:
        print(error, file=sys.stderr)
        return 1
    if options.details:
        print(*(f"\n{one.id}\n{one.detail}" for one in run.results if one.detail))
    print(f"\n{by_file(run.results)}\n\n{reasons(run.results, options.reasons)}")
    print(f"\n{summary(run.results)}")
    if old is not None:
        print(f"\n{comparison(old, run, options.reasons)}")
    return 0
