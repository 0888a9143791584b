"""Tune the constants of a cuTile kernel for the arguments of a launch.

All candidates are predicted, without code; the best by prediction, and the constants that the
kernel has, are compiled; those that compile without spills are measured on a GPU, or ranked by
prediction.  Results are kept on disk by class of shapes: extents by powers of two.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias

from tileas_xdsl.cache import build_id, disk_cache, entry_key
from tileas_xdsl.executors import executor_named
from tileas_xdsl.frontend.cutile import export_bytecode, parameters_of
from tileas_xdsl.runtime.cutile_arguments import flattened
from tileas_xdsl.target.arch import DEFAULT_TARGET
from tileas_xdsl.tuning.candidates import Built, Task, build, predict
from tileas_xdsl.tuning.prediction import Grid, Predicted
from tileas_xdsl.tuning.scalar_values import numbers_of
from tileas_xdsl.tuning.space import Config, Space, configs_of

TOP = 8
"""Candidates that are compiled."""

SAME = 0.01
"""Times that differ by less are equal: then the constants that the kernel has are kept."""

GridOf: TypeAlias = Callable[[Config], Sequence[int]]
Measure: TypeAlias = Callable[[Grid, Sequence[Any]], float]
"""Launch a kernel with a grid and all its arguments; return microseconds."""


@dataclass(frozen=True)
class Candidate:
    """What is known of one choice of constants."""

    config: Config
    predicted: float | None = None
    """Microseconds."""
    bound: str = ""
    built: bool = False
    registers: int | None = None
    measured: float | None = None
    """Microseconds, the median of launches."""
    problem: str = ""
    """Why it is out of the question."""

    @property
    def time(self) -> float:
        """Microseconds: measured if it was, else predicted; infinite if neither."""
        found = self.predicted if self.measured is None else self.measured
        return float("inf") if found is None else found


@dataclass(frozen=True)
class TuningResult:
    """The candidates, the fastest first, and the constants to use."""

    kernel: str
    target: str
    best: Config
    candidates: tuple[Candidate, ...]
    default: Config
    """The constants that the kernel had."""

    @property
    def works(self) -> bool:
        """Whether some candidate compiles without spills."""
        return any(map(_is_usable, self.candidates))

    @property
    def correlation(self) -> float | None:
        """Spearman's rank correlation of predicted and measured times; None below two of them."""
        pairs = [(one.predicted, one.measured) for one in self.candidates]
        known = [(p, m) for p, m in pairs if p is not None and m is not None]
        return None if len(known) < 2 else _rank_correlation(known)

    def table(self) -> str:
        """Return the candidates as text: constants, predicted, measured, what became of them."""
        header = ("", *self.best, "predicted", "bound", "measured", "registers", "")
        rows = [header, *(self._row(one) for one in self.candidates)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = (
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )
        found = self.correlation
        said = [] if found is None else [f"rank correlation {found:.2f}"]
        return "\n".join([f"@{self.kernel} on {self.target}", *lines, *said])

    def _row(self, one: Candidate) -> Sequence[str]:
        mark = "*" if one.config == self.best else ""
        state = one.problem or ("" if one.built else "not compiled")
        return (
            mark,
            *(str(one.config[name]) for name in self.best),
            _microseconds(one.predicted),
            one.bound,
            _microseconds(one.measured),
            "" if one.registers is None else str(one.registers),
            state,
        )


def _microseconds(time: float | None) -> str:
    return "" if time is None else f"{time:.1f} us"


def _rank_correlation(pairs: Sequence[tuple[float, float]]) -> float:
    count = len(pairs)
    ranks = [_ranks([pair[side] for pair in pairs]) for side in (0, 1)]
    apart = sum((a - b) ** 2 for a, b in zip(*ranks, strict=True))
    return 1 - 6 * apart / (count * (count * count - 1))


def _ranks(values: Sequence[float]) -> Sequence[int]:
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0] * len(values)
    for rank, index in enumerate(order):
        ranks[index] = rank
    return ranks


@dataclass(frozen=True)
class Request:
    """A kernel with the arguments of a launch, in which constants are searched."""

    kernel: Any
    """`@ct.kernel`."""
    arguments: Mapping[str, Any]
    """By parameter; those of the space have the constants of today."""
    space: Space
    grid: GridOf
    target: str = DEFAULT_TARGET
    top: int = TOP

    def with_config(self, config: Config) -> Sequence[Any]:
        """Return all arguments, in the order of the parameters, with these constants."""
        return [*{**self.arguments, **config}.values()]

    def grid_of(self, config: Config) -> Grid:
        """Return the three extents of the grid."""
        x, y, z = (*map(int, self.grid(config)), 1, 1)[:3]
        return x, y, z

    @property
    def constants(self) -> Config:
        """The arguments that may be searched: whole numbers."""
        found = self.arguments.items()
        return {name: value for name, value in found if _is_number(value)}

    @property
    def default(self) -> Config:
        """The constants of today."""
        return {name: self.constants[name] for name in self.space}

    def task(self, config: Config) -> Task:
        """Return a candidate as Tile IR for workers; raises `DiagnosticError` for a wrong one."""
        values = self.with_config(config)
        parameters = parameters_of(self.kernel, values)
        flat = tuple(numbers_of(flattened(parameters, values)))
        content = export_bytecode(self.kernel, parameters)
        return Task(content, self.target, flat, self.grid_of(config))


def tune(
    request: Request,
    *,
    executor: Executor | str | None = None,
    measure: Measure | None = None,
    cached: bool = True,
) -> TuningResult:
    """Return the best constants of a kernel.

    `measure` times launches on a GPU; without it the prediction decides.  `executor` carries
    predictions and compilations, by default processes.  Raises `SpaceError`, `ExecutorError` and
    `DiagnosticError` if the kernel as it is cannot be read.
    """
    configs = configs_of(request.space, request.constants)
    key = _key(request, measure is not None)
    known = _known(key) if cached else None
    if known is not None:
        return known
    if isinstance(executor, Executor):
        result = _tuned(request, configs, executor, measure)
    else:
        with executor_named(executor) as opened:
            result = _tuned(request, configs, opened, measure)
    _keep(key, result)
    return result


def _tuned(
    request: Request, configs: Sequence[Config], executor: Executor, measure: Measure | None
) -> TuningResult:
    tasks = [_task(request, config) for config in configs]
    waiting = [task if isinstance(task, str) else executor.submit(predict, task) for task in tasks]
    answers = [one if isinstance(one, str) else one.result() for one in waiting]
    found = [_predicted(*pair) for pair in zip(configs, answers, strict=True)]
    chosen = _chosen(found, request)
    _build(found, chosen, tasks, executor)
    while chosen and not any(map(_is_usable, found)):
        chosen = _chosen(found, request)
        _build(found, chosen, tasks, executor)
    if measure is not None:
        for index in chosen:
            if not found[index].problem:
                found[index] = _measured(found[index], request, measure)
    best = _best([one for one in found if _is_usable(one)], request.default)
    ranked = sorted(found, key=lambda one: (bool(one.problem), not one.built, one.time))
    name = request.kernel._annotated_function.pyfunc.__name__
    return TuningResult(name, request.target, best, tuple(ranked), request.default)


def _build(
    found: list[Candidate],
    chosen: Sequence[int],
    tasks: Sequence[Task | str],
    executor: Executor,
) -> None:
    """Compile the candidates of these indices, all at once."""
    building = [(index, executor.submit(build, _is_task(tasks[index]))) for index in chosen]
    for index, future in building:
        found[index] = _built(found[index], future.result())


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_usable(one: Candidate) -> bool:
    return one.built and not one.problem


def _task(request: Request, config: Config) -> Task | str:
    from tileas_xdsl.diagnostics.emission import DiagnosticError

    try:
        return request.task(config)
    except DiagnosticError as error:
        return error.diagnostics[0].text


def _is_task(task: Task | str) -> Task:
    assert isinstance(task, Task)
    return task


def _predicted(config: Config, answer: Predicted | str) -> Candidate:
    if isinstance(answer, str):
        return Candidate(config, problem=answer)
    return Candidate(config, answer.microseconds, answer.bound)


def _chosen(found: Sequence[Candidate], request: Request) -> Sequence[int]:
    """The indices of the best by prediction, and of the constants of today, which come first."""
    possible = [k for k, one in enumerate(found) if not one.problem and not one.built]
    ranked = sorted(possible, key=lambda index: found[index].time)[: request.top]
    if possible[:1] == [0] and 0 not in ranked:
        ranked[-1:] = [0]
    return ranked


def _built(one: Candidate, result: Built) -> Candidate:
    return replace(one, built=True, registers=result.registers, problem=result.problem)


def _measured(one: Candidate, request: Request, measure: Measure) -> Candidate:
    time = measure(request.grid_of(one.config), request.with_config(one.config))
    return replace(one, measured=time)


def _best(usable: Sequence[Candidate], default: Config) -> Config:
    """The fastest; the constants of today if they are as fast, or nothing else works."""
    if not usable:
        return default
    best = min(usable, key=lambda one: one.time)
    today = [one for one in usable if one.config == default]
    is_kept = any(one.time <= best.time * (1 + SAME) for one in today)
    return default if is_kept else best.config


# What is kept on disk


def _key(request: Request, is_measured: bool) -> str:
    """By kernel, types, divisibility, classes of extents, space, target and compiler."""
    task = _task(request, request.default)
    content = task if isinstance(task, str) else task.content
    numbers = () if isinstance(task, str) else task.arguments
    classes = [None if n is None else n.bit_length() for n in numbers]
    words = (str(classes), str(dict(request.space)), request.target, str(is_measured), build_id())
    return entry_key("tuning", content, *words)


def _known(key: str) -> TuningResult | None:
    store = disk_cache()
    data = None if store is None else store.get(key)
    if data is None:
        return None
    found: Any = json.loads(data)
    candidates = tuple(Candidate(**one) for one in found.pop("candidates"))
    return TuningResult(candidates=candidates, **found)


def _keep(key: str, result: TuningResult) -> None:
    store = disk_cache()
    if store is not None:
        store.put(key, json.dumps(asdict(result)).encode())
