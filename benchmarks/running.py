"""Common parts of the benchmarks: describe the machine, measure, print tables, compare results."""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.results import Results, Row, comparison, tables
from tileas_xdsl.tools.failures import ends_with_its_reader

PACKAGES = ("tileas-xdsl", "xdsl", "numpy", "cuda-tile", "torch", "triton", "nvidia-cuda-nvcc")
"""Whose versions matter, where they are installed."""


def machine() -> Mapping[str, str]:
    """The processor, and versions of what is installed."""
    found = {"machine": _processor(), "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    model = platform.machine()
    path = Path("/proc/cpuinfo")
    if path.exists():
        names = [line for line in path.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return f"{model}, {os.cpu_count()} processors"


def median_seconds(repeat: int, run: Callable[[], object]) -> float:
    """Seconds of the median of some runs, after one more that warms up."""
    run()
    times: list[float] = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


Measure = Callable[[argparse.Namespace], Iterable[Row]]
"""What a benchmark does with its options."""


def options_of(
    description: str, add_options: Callable[[argparse.ArgumentParser], object]
) -> argparse.ArgumentParser:
    """A command line with `--json` and `--compare`, and the options of the benchmark."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    add_options(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there")
    parser.add_argument(
        "--compare", type=Path, metavar="OLD.json", help="print what changed since then"
    )
    return parser


def run_benchmark(
    description: str,
    measure: Measure,
    add_options: Callable[[argparse.ArgumentParser], object] = lambda parser: None,
    words: Sequence[str] | None = None,
    more: Callable[[], Mapping[str, str]] = dict,
) -> int:
    """Measure and print; return 1 if a result to compare with cannot be read.

    `more` are further facts about the machine; tables are printed last, then the comparison.
    """
    options = options_of(description, add_options).parse_args(words)
    try:
        old = None if options.compare is None else Results.read(options.compare)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    facts = {**machine(), **more()}
    print(*(f"{name}: {value}" for name, value in facts.items()), sep="\n", flush=True)
    results = Results(facts, list(measure(options)))
    print(f"\n{tables(results.rows)}")
    if options.json is not None:
        results.write(options.json)
    if old is not None:
        print(f"\n{comparison(old, results)}")
    return 0


def end(main: Callable[[], int]) -> None:
    """Run a script to its end."""
    with ends_with_its_reader():
        code = main()
    sys.exit(code)
