"""TileGym's own benchmarks with our compiler, beside torch and Triton, in the units they report.

    python benchmarks/tilegym_benchmarks.py CHECKOUT [--only TEXT]... [--configs 2] [--tries 4]
                                            [--limit 20] [--seconds 600] [--warm] [--part 0/1]
                                            [--json FILE] [--compare OLD.json]

CHECKOUT is one of NVIDIA/TileGym, whose `tests/benchmark` are run through the drop-in: of each
function that reports, so many of its configurations, at the largest size but one.  The suite itself
compares results with torch's, and chooses tiles.  Launches are timed by events, one after another
with a cold level-2 cache; medians count.  A tuner tries the first `--tries` of its configurations,
and what takes longer than `--limit` seconds, of all implementations of a row, is left.  With `--warm`
each is launched once and nothing is timed, so that caches of compilers are full: as many processes
as there are processors, each with a `--part` of the rows, take about 80 s for what one needs minutes.
Needs a GPU, cuda-tile, torch and Triton; neither the closed assembler nor nvcc.
"""

from __future__ import annotations

import argparse
import signal
import statistics
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.gpu_timing import COLD_BYTES
from benchmarks.results import Row
from benchmarks.running import end, run_benchmark

OURS = "cutile"
"""What labels of kernels that we compile contain."""

OTHERS = ("torch", "triton")

ROUNDS = 7

DELAY = 400_000
"""Cycles that the GPU is busy before each launch, so that the host's work is not timed."""

Report = tuple[Callable[..., Any], Sequence[Any]]
"""A function that measures, and the configurations of `triton.testing.Benchmark` it is for."""


class Timer:
    """Stands for `triton.testing.do_bench` and its like."""

    def __init__(self, rounds: int) -> None:
        import torch

        self._rounds = rounds
        self._cold = torch.empty(COLD_BYTES, dtype=torch.uint8, device="cuda")

    def __call__(self, launch: Callable[[], object], *_: Any, **options: Any) -> Any:
        """Milliseconds of a launch, 1 if it is not timed; three times where quantiles are wanted."""
        launch()
        if not self._rounds:
            return 1.0 if options.get("quantiles") is None else (1.0, 1.0, 1.0)
        found = statistics.median(self._milliseconds(launch) for _ in range(self._rounds))
        return found if options.get("quantiles") is None else (found, found, found)

    def _milliseconds(self, launch: Callable[[], object]) -> float:
        import torch

        self._cold.zero_()
        torch.cuda._sleep(DELAY)
        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        before.record()
        launch()
        after.record()
        after.synchronize()
        return float(before.elapsed_time(after))


@contextmanager
def limited(seconds: float) -> Generator[None]:
    """Raise `TimeoutError` in what takes longer; between two operations of Python only."""

    def ring(number: int, frame: object) -> None:
        raise TimeoutError(f"more than {seconds:g} seconds")

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def try_few(tries: int) -> None:
    """Let cuTile's tuner try the first configurations only; before the suite imports it."""
    import cuda.tile.tune as tuner

    search = tuner.exhaustive_search

    def few(space: Sequence[Any], *rest: Any, **options: Any) -> Any:
        return search(list(space)[:tries], *rest, **options)

    tuner.exhaustive_search = few


class Unstarted:
    """What a module of the suite starts at its end: not now."""

    def run(self, *_: Any, **__: Any) -> None:
        """Do nothing."""


def reports_of(path: Path, timer: Timer) -> Sequence[Report]:
    """The functions of a module of the suite that measure, timed by `timer`."""
    import triton.testing

    found: list[Report] = []

    def perf_report(configurations: Any) -> Callable[[Callable[..., Any]], Unstarted]:
        each = configurations if isinstance(configurations, list | tuple) else [configurations]

        def collect(function: Callable[..., Any]) -> Unstarted:
            found.append((function, [one for one in each if one is not None]))
            return Unstarted()

        return collect

    triton.testing.perf_report = perf_report
    triton.testing.do_bench = triton.testing.do_bench_cudagraph = timer
    sys.path.insert(0, str(path.parent))
    utilities = sys.modules.get("bench_utils") or __import__("bench_utils")
    utilities.profile_with_l2flush = timer
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    words, sys.argv = sys.argv, [str(path)]
    try:
        spec.loader.exec_module(module_from_spec(spec))
    finally:
        sys.argv = words
    return found


def spread(values: Sequence[Any], count: int) -> Sequence[Any]:
    """So many of the values, the first and the last among them."""
    if len(values) <= count:
        return values
    return [values[k * (len(values) - 1) // max(count - 1, 1)] for k in range(count)]


def row_of(module: str, function: Callable[..., Any], configuration: Any) -> Row | None:
    """Measure all implementations at one size; None where ours is not among those that ran."""
    sizes = list(configuration.x_vals)
    size = sizes[-2] if len(sizes) > 2 else sizes[-1]
    names = configuration.x_names
    each = size if isinstance(size, list | tuple) else [size] * len(names)
    at = dict(zip(names, each, strict=True))
    found: dict[str, float] = {}
    for value, label in zip(configuration.line_vals, configuration.line_names, strict=True):
        if not any(text in label.lower() for text in (OURS, *OTHERS)):
            continue
        try:
            rate = function(**configuration.args, **at, **{configuration.line_arg: value})
        except TimeoutError:
            raise
        except Exception as error:
            reason = " ".join(str(error).split())[:120]
            print(f"{module}: {label}: {type(error).__name__}: {reason}", file=sys.stderr)
            continue
        found[label] = float(rate[0] if isinstance(rate, tuple) else rate)
    ours = {label: rate for label, rate in found.items() if OURS in label.lower()}
    if not ours:
        return None
    best = max(ours, key=lambda label: ours[label])
    said = ", ".join(f"{name}={value}" for name, value in {**configuration.args, **at}.items())
    others = {label: rate for label, rate in found.items() if label not in ours}
    return Row(module, said.replace("torch.", ""), ours[best], configuration.ylabel, others)


def measure(options: argparse.Namespace) -> Iterator[Row]:
    """Rows of all modules, until there is no time left."""
    from benchmarks.conformance.environment import GPU, prepare

    folder = options.checkout / "tests" / "benchmark"
    sys.path[:0] = [str(folder), str(options.checkout / "src"), str(options.checkout)]
    prepare(GPU)
    try_few(options.tries)
    timer, start = Timer(0 if options.warm else ROUNDS), perf_counter()
    part, parts = map(int, options.part.split("/"))
    count = 0
    for path in sorted(folder.rglob("bench_*.py")):
        module = path.stem.removeprefix("bench_")
        chosen = not options.only or any(text in str(path) for text in options.only)
        if path.stem == "bench_utils" or not chosen:
            continue
        try:
            reports = reports_of(path, timer)
        except ImportError as error:
            print(f"{module}: {error}", file=sys.stderr)
            continue
        for function, configurations in reports:
            for configuration in spread(configurations, options.configs):
                count += 1
                if count % parts != part:
                    continue
                if perf_counter() - start > options.seconds:
                    return
                try:
                    with limited(options.limit):
                        row = row_of(module, function, configuration)
                except TimeoutError as error:
                    print(f"{module}: {error}", file=sys.stderr)
                    continue
                if row is not None and not options.warm:
                    print(f"{row.group}, {row.name}: {row.value:.4g} {row.unit}", flush=True)
                    yield row


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("checkout", type=Path, metavar="CHECKOUT", help="of NVIDIA/TileGym")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT")
    parser.add_argument("--configs", type=int, default=2, help="of each function (default 2)")
    parser.add_argument(
        "--tries", type=int, default=4, help="configurations of a tuner (default 4)"
    )
    parser.add_argument("--limit", type=float, default=20.0, help="seconds of a row (default 20)")
    parser.add_argument("--seconds", type=float, default=600.0, help="of all rows (default 600)")
    parser.add_argument(
        "--part", default="0/1", metavar="I/N", help="every N-th row, from the I-th"
    )
    parser.add_argument("--warm", action="store_true", help="compile, and time nothing")


if __name__ == "__main__":
    end(lambda: run_benchmark(__doc__ or "", measure, add_options))
