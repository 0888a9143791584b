"""How well predicted times rank configurations: 30 kernels x 20 configurations, measured on a GPU.

    python benchmarks/prediction.py --json prediction.json
    python benchmarks/prediction.py --predict            without measuring, on any machine
    python benchmarks/prediction.py --only attention --configs 8
    python benchmarks/prediction.py --replay prediction.json   the model of today, times of that run

Configurations are sampled from spaces of tiles and hints, each of other code.  They are predicted
and compiled in processes; one process measures, and is replaced if a launch fails or hangs.  What
fails costs its own row only.  At the end: Spearman's correlation of each kernel, and whether the
fastest is among the eight that are fastest by prediction.
"""

from __future__ import annotations

import argparse
import multiprocessing as mp
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.prediction_cases import CASES, Arrays, all_configs, distinct
from benchmarks.results import Results, Row
from benchmarks.running import end, run_benchmark
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.executors import executor_named
from tileas_xdsl.target.arch import DEFAULT_TARGET
from tileas_xdsl.tuning.candidates import Built, build, predict
from tileas_xdsl.tuning.prediction.launch_time import Predicted
from tileas_xdsl.tuning.results import rank_correlation
from tileas_xdsl.tuning.space import Config
from tileas_xdsl.tuning.tuner import SAME, TOP, Request, Trial

WORKER_SECONDS = 60
"""Of a prediction or a compilation."""

LAUNCH_SECONDS = 30
"""Of all launches of a configuration, and the copies of the first one."""

PREDICTED = ": predicted"
"""Behind the name of a kernel, the group of the rows of its configurations."""

CORRELATION, SHARE_IN_TOP, MEDIAN_ERROR = 0.8, 0.95, 0.05
"""What is wanted."""

CLOSE = 0.1
"""An error of a prediction that is small."""


@dataclass(frozen=True)
class Measured:
    """What is known of a configuration."""

    config: Config
    predicted: Predicted
    microseconds: float | None = None
    registers: int | None = None
    problem: str = ""


# In workers.


@cache
def _request(name: str, target: str, is_random: bool = False) -> Request:
    return CASES[name].request(Arrays(is_random), target)


def _timed(work: Callable[[], Any]) -> Any:
    """What a function returns, or in words why it does not."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"takes more than {WORKER_SECONDS} s")

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, WORKER_SECONDS)
    try:
        return work()
    except DiagnosticError as error:
        return error.diagnostics[0].text
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def predicted_in_worker(name: str, config: Config, target: str) -> Predicted | str:
    """Predict a configuration; say why it is refused."""
    return _timed(lambda: predict(_request(name, target).task(config)))


def built_in_worker(name: str, config: Config, target: str) -> Built:
    """Compile a configuration."""
    found = _timed(lambda: build(_request(name, target).task(config)))
    return found if isinstance(found, Built) else Built(found)


# Measurements.


def measure_for_ever(connection: Connection) -> None:
    """Answer each name, configuration and code with microseconds, or with what failed."""
    from tileas_xdsl.tuning.measuring import gpu_measure

    measures: dict[str, Any] = {}
    while True:
        name, config, target, code = connection.recv()
        try:
            request = _request(name, target, is_random=True)
            if name not in measures:
                measures = {name: gpu_measure()}  # arrays of the kernel before are given back
            grid, arguments = request.grid_of(config), request.with_config(config)
            trial = Trial(request.kernel_of(config), grid, arguments, code)
            connection.send(measures[name](trial))
        except Exception as error:
            connection.send(f"{type(error).__name__}: {error}")


class Measurer:
    """A process that has the GPU; started anew after a failure, which may end its context."""

    def __init__(self) -> None:
        self._process: Any = None
        self._connection: Any = None

    def measure(self, name: str, config: Config, target: str, code: bytes) -> float | str:
        """Return microseconds, or what failed."""
        if self._process is None:
            context = mp.get_context("spawn")
            self._connection, other = context.Pipe()
            self._process = context.Process(target=measure_for_ever, args=(other,), daemon=True)
            self._process.start()
            other.close()
        try:
            self._connection.send((name, config, target, code))
            is_there = self._connection.poll(LAUNCH_SECONDS)
            answer = self._connection.recv() if is_there else f"hangs for {LAUNCH_SECONDS} s"
        except (EOFError, OSError) as error:
            answer = f"the process that measures ended: {error}"
        if isinstance(answer, str):
            self.close()
        return answer

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = None


# The benchmark.


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _chosen_names(options: argparse.Namespace) -> Sequence[str]:
    return [name for name in CASES if not options.only or any(one in name for one in options.only)]


def _predictions(
    options: argparse.Namespace, target: str, executor: Executor, until: float
) -> Iterator[tuple[str, Sequence[tuple[Config, Predicted]]]]:
    """Yield the configurations of each kernel that are looked at."""
    waiting: dict[str, list[tuple[Config, Future[Any]]]] = {}
    for name in _chosen_names(options):
        configs = all_configs(_request(name, target), options.seed)[: 2 * options.configs]
        waiting[name] = [
            (config, executor.submit(predicted_in_worker, name, config, target))
            for config in configs
        ]
    for name, futures in waiting.items():
        found = [(config, _answer(future, until)) for config, future in futures]
        refused = [answer for _, answer in found if isinstance(answer, str)]
        kept = distinct(found, options.configs)
        said = f"; refused: {len(refused)}, {refused[0].splitlines()[0]}" if refused else ""
        _say(f"{name}: {len(kept)} configurations of {len(found)}{said}")
        yield name, kept


def _answer(future: Future[Any], until: float) -> Any:
    try:
        return future.result(max(until - time.monotonic(), 0.1))
    except Exception as error:
        future.cancel()
        return f"{type(error).__name__}: {error}"


def _measure_all(
    chosen: Mapping[str, Sequence[tuple[Config, Predicted]]],
    target: str,
    executor: Executor,
    until: float,
) -> Mapping[str, Sequence[Measured]]:
    """Compile everything at once, measure kernel after kernel."""
    building = {
        name: [executor.submit(built_in_worker, name, config, target) for config, _ in found]
        for name, found in chosen.items()
    }
    measurer, measured = Measurer(), dict[str, Sequence[Measured]]()
    try:
        for name, found in chosen.items():
            answers = zip(found, building[name], strict=True)
            rows = [
                _measured(measurer, name, target, *pair, _answer(future, until))
                for pair, future in answers
            ]
            measured[name] = rows
            failed = [row.problem for row in rows if row.problem]
            said = f"; {len(failed)} failed, {failed[0].splitlines()[0]}" if failed else ""
            found_rho = _rank(rows)
            rho = "-" if found_rho is None else f"{found_rho:.2f}"
            _say(f"{name}: {len(rows) - len(failed)} measured, rank correlation {rho}{said}")
    finally:
        measurer.close()
    return measured


def _measured(
    measurer: Measurer, name: str, target: str, config: Config, one: Predicted, built: object
) -> Measured:
    row = Measured(config, one)
    if not isinstance(built, Built):
        return replace(row, problem=str(built))
    row = replace(row, registers=built.registers, problem=built.problem)
    if row.problem:
        return row
    answer = measurer.measure(name, config, target, built.code)
    if isinstance(answer, str):
        return replace(row, problem=answer)
    return replace(row, microseconds=answer)


def _replayed(
    options: argparse.Namespace, executor: Executor, until: float
) -> Mapping[str, Sequence[Measured]]:
    """Predict the configurations that another run measured, beside their times of that run."""
    waiting: dict[str, list[tuple[Config, Row, Future[Any]]]] = {}
    target, names = options.target or DEFAULT_TARGET, _chosen_names(options)
    for row in Results.read(options.replay).rows:
        name = row.group.removesuffix(PREDICTED)
        if name != row.group and name in names and "measured" in row.others:
            config = {key: int(value) for key, _, value in map(_split, row.name.split())}
            future = executor.submit(predicted_in_worker, name, config, target)
            waiting.setdefault(name, []).append((config, row, future))
    found: dict[str, list[Measured]] = {}
    for name, rows in waiting.items():
        for config, row, future in rows:
            answer = _answer(future, until)
            if isinstance(answer, Predicted):
                registers = int(row.facts.get("registers", 0)) or None
                one = Measured(config, answer, row.others["measured"], registers)
                found.setdefault(name, []).append(one)
    return found


def _split(text: str) -> tuple[str, str, str]:
    return text.partition("=")


def _pairs(rows: Sequence[Measured]) -> Sequence[tuple[float, float]]:
    known = [(row.predicted.microseconds, row.microseconds) for row in rows]
    return [(p, m) for p, m in known if m is not None]


def _rank(rows: Sequence[Measured]) -> float | None:
    return rank_correlation(_pairs(rows))


def loss_of_top(pairs: Sequence[tuple[float, float]], top: int = TOP) -> float:
    """Return how much longer than the fastest the best of the first by prediction takes."""
    best = min(measured for _, measured in pairs)
    return min(measured for _, measured in sorted(pairs)[:top]) / best - 1


def _text(config: Config) -> str:
    return " ".join(f"{name}={value}" for name, value in config.items())


def _config_rows(name: str, rows: Sequence[Measured]) -> Iterator[Row]:
    for row in sorted(rows, key=lambda one: one.predicted.microseconds):
        others = {} if row.microseconds is None else {"measured": row.microseconds}
        facts: dict[str, float | str] = {"bound": row.predicted.bound}
        if row.registers is not None:
            facts["registers"] = row.registers
        if row.problem:
            facts["problem"] = row.problem.splitlines()[0]
        yield Row(
            f"{name}{PREDICTED}",
            _text(row.config),
            row.predicted.microseconds,
            "us",
            others,
            facts=facts,
        )


def _summary(measured: Mapping[str, Sequence[Measured]]) -> Iterator[Row]:
    """The correlation of each kernel and of all, and whether the fastest is among the eight."""
    by_name = {name: pairs for name, rows in measured.items() if len(pairs := _pairs(rows)) > 1}
    ranks: list[float] = []
    for name, pairs in by_name.items():
        found = rank_correlation(pairs)
        loss = loss_of_top(pairs)
        facts: dict[str, float | str] = {
            "measured": len(pairs),
            "best of 8 is slower by": f"{100 * loss:.1f} %",
        }
        if found is not None:
            ranks.append(found)
            yield Row("rank correlation", name, found, "rho", bar=CORRELATION, facts=facts)
    if not ranks:
        return
    together = rank_correlation([pair for pairs in by_name.values() for pair in pairs])
    lost = [loss_of_top(pairs) <= SAME for pairs in by_name.values()]
    yield Row("all", "mean of kernels", statistics.mean(ranks), "rho", bar=CORRELATION)
    yield Row("all", "median of kernels", statistics.median(ranks), "rho", bar=CORRELATION)
    if together is not None:
        yield Row("all", "all pairs together", together, "rho", bar=CORRELATION)
    share = sum(lost) / len(lost)
    yield Row("all", "the fastest is among the eight", share, "share", bar=SHARE_IN_TOP)
    fastest = [min(pairs, key=lambda pair: pair[1]) for pairs in by_name.values()]
    every = [pair for pairs in by_name.values() for pair in pairs]
    for what, pairs in (("the fastest of each kernel", fastest), ("all configurations", every)):
        yield from _error_rows(what, [abs(p / m - 1) for p, m in pairs])


def _error_rows(what: str, errors: Sequence[float]) -> Iterator[Row]:
    """How far predicted times are off: the median, and how many are close."""
    near = sum(error <= CLOSE for error in errors) / len(errors)
    median = 100 * statistics.median(errors)
    yield Row("errors", f"{what}: median", median, "%", bar=100 * MEDIAN_ERROR)
    yield Row("errors", f"{what}: within {100 * CLOSE:.0f} %", near, "share", bar=1.0)


def _rows_of(measured: Mapping[str, Sequence[Measured]]) -> Iterator[Row]:
    for name, rows in measured.items():
        yield from _config_rows(name, rows)
    yield from _summary(measured)


def _target(options: argparse.Namespace) -> str:
    """The target that is asked for, or the GPU's; in a process of its own, which may have one."""
    if options.target or options.predict:
        return options.target or DEFAULT_TARGET
    with executor_named("processes:1") as executor:
        return executor.submit(_gpu_target).result()


def _gpu_target() -> str:
    from tileas_xdsl.runtime.cutile.settings import has_gpu
    from tileas_xdsl.tuning.measuring import launch_target

    return launch_target() if has_gpu() else ""


def _run(options: argparse.Namespace) -> Iterator[Row]:
    start = time.monotonic()
    until = start + options.limit
    if options.replay is not None:
        with executor_named(options.executor) as executor:
            measured = _replayed(options, executor, until)
        yield from _rows_of(measured)
        return
    target = _target(options)
    with executor_named(options.executor) as executor:
        predictions = _predictions(options, target or DEFAULT_TARGET, executor, until)
        chosen = {name: found for name, found in predictions if found}
        _say(f"predicted in {time.monotonic() - start:.0f} s")
        if target and not options.predict:
            measured = _measure_all(chosen, target, executor, until)
        else:
            measured = {name: [Measured(*one) for one in kept] for name, kept in chosen.items()}
    yield from _rows_of(measured)
    _say(f"all in {time.monotonic() - start:.0f} s")
    if not options.predict and not target:
        sys.exit("nothing is measured: there is no GPU (--predict asks for predictions alone)")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", action="append", metavar="TEXT", help="kernels with this in them")
    parser.add_argument("--configs", type=int, default=20, help="of a kernel (20)")
    parser.add_argument("--seed", type=int, default=0, help="draws other ones (0)")
    parser.add_argument("--predict", action="store_true", help="measure nothing")
    parser.add_argument("--replay", type=Path, metavar="FILE.json", help="times that it measured")
    parser.add_argument("--target", help="the GPU's, or sm_90a")
    parser.add_argument("--executor", help="what predicts and compiles: processes:16, serial")
    parser.add_argument("--limit", type=float, default=280, help="seconds, then what is left fails")


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    return run_benchmark(__doc__ or "", lambda o: list(_run(o)), _add_options, words)


if __name__ == "__main__":
    end(main)
