"""Tune the constants and hints of a cuTile kernel for the arguments of a launch.

All candidates are predicted, without code; the best by prediction, and the constants that the
kernel has, are compiled; those that compile without spills are measured on a GPU, or ranked by
prediction.  Results are kept on disk by class of shapes: extents by powers of two.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any, TypeAlias

from tileas_xdsl.cache import build_id, disk_cache, entry_key
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.executors import executor_named
from tileas_xdsl.frontend.cutile.kernels import parameters_of
from tileas_xdsl.frontend.cutile.tile_ir import export_bytecode
from tileas_xdsl.runtime.arguments.cutile_arguments import flattened
from tileas_xdsl.runtime.gpu.driver import DriverError
from tileas_xdsl.target.arch import DEFAULT_TARGET
from tileas_xdsl.tuning.candidates import Built, Task, build, predict
from tileas_xdsl.tuning.hints import HintedKernels, check_hints, hints_of
from tileas_xdsl.tuning.prediction.launch_time import Grid, Predicted
from tileas_xdsl.tuning.prediction.scalar_values import numbers_of
from tileas_xdsl.tuning.results import Candidate, TuningResult
from tileas_xdsl.tuning.space import Config, Space, configs_of

TOP = 8
"""Candidates that are compiled."""

SAME = 0.01
"""Times that differ by less are equal: then the constants that the kernel has are kept."""

GridOf: TypeAlias = Callable[[Config], Sequence[int]]


@dataclass(frozen=True)
class Trial:
    """A compiled candidate as it is launched."""

    kernel: Any
    """`@ct.kernel`, with the hints of the candidate."""
    grid: Grid
    arguments: Sequence[Any]
    code: bytes
    """What workers compiled, as `Executable.from_bytes` reads it."""


Measure: TypeAlias = Callable[[Trial], float]
"""Launches a candidate; returns microseconds."""


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
    shape_class: object = None
    """Results are kept by its `repr`; None for classes of extents by powers of two."""
    kernels: HintedKernels | None = None
    """Kernels with other hints that are there already."""

    @cached_property
    def _hinted(self) -> HintedKernels:
        return self.kernels or HintedKernels(self.kernel, self.target)

    def kernel_of(self, config: Config) -> Any:
        """Return the kernel with the hints of a config; raises `ValueError` for wrong ones."""
        return self._hinted.of({name: config[name] for name in self.hints if name in config})

    def with_config(self, config: Config) -> Sequence[Any]:
        """Return all arguments, in the order of the parameters, with these constants."""
        found = {**self.arguments, **config}
        return [found[name] for name in self.arguments]

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
    def hints(self) -> Config:
        """The hints that may be searched, of which 0 is the compiler's choice."""
        found = hints_of(self.kernel, self.target).items()
        return {name: value for name, value in found if name not in self.arguments}

    @property
    def default(self) -> Config:
        """The constants and hints of today."""
        today = {**self.constants, **self.hints}
        return {name: today[name] for name in self.space}

    def task(self, config: Config) -> Task:
        """Return a candidate as Tile IR for workers; raises `DiagnosticError` for a wrong one."""
        kernel, values = self.kernel_of(config), self.with_config(config)
        parameters = parameters_of(kernel, values, is_dispatched=True)
        flat = tuple(numbers_of(flattened(parameters, values)))
        content = export_bytecode(kernel, parameters)
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
    if missing := [name for name in request.space if name not in request.arguments]:
        check_hints(dict.fromkeys(missing, 0))
    configs = configs_of(request.space, {**request.constants, **request.hints})
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
    # To build and to measure takes longest: only what is predicted best is built, and the next
    # configurations only if none of those is usable.
    while not any(one.is_usable for one in found) and (chosen := _chosen(found, request)):
        code = _build(found, chosen, tasks, executor)
        for index in chosen:
            if measure is not None and not found[index].problem:
                found[index] = _measured(found[index], request, measure, code[index])
    best = _best([one for one in found if one.is_usable], request.default)
    ranked = sorted(found, key=lambda one: (bool(one.problem), not one.built, one.time))
    name = request.kernel._annotated_function.pyfunc.__name__
    return TuningResult(name, request.target, best, tuple(ranked), request.default)


def _build(
    found: list[Candidate],
    chosen: Sequence[int],
    tasks: Sequence[Task | str],
    executor: Executor,
) -> Mapping[int, bytes]:
    """Compile the candidates of these indices, all at once; return the code of each."""
    building = [(index, executor.submit(build, _is_task(tasks[index]))) for index in chosen]
    made = {index: future.result() for index, future in building}
    for index, result in made.items():
        found[index] = _built(found[index], result)
    return {index: result.code for index, result in made.items()}


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _task(request: Request, config: Config) -> Task | str:
    try:
        return request.task(config)
    except DiagnosticError as error:
        return error.diagnostics[0].text
    except ValueError as error:  # of cuTile, for a value that a hint does not take
        return str(error)


def _is_task(task: Task | str) -> Task:
    assert isinstance(task, Task)
    return task


def _predicted(config: Config, answer: Predicted | str) -> Candidate:
    if isinstance(answer, str):
        return Candidate(config, problem=answer)
    return Candidate(config, answer.microseconds, answer.bound, answer.code)


def _chosen(found: Sequence[Candidate], request: Request) -> Sequence[int]:
    """The indices of the best by prediction, and of the constants of today, which come first.

    Of candidates with the same code it is the first.
    """
    unbuilt = [k for k, one in enumerate(found) if not one.problem and not one.built]
    codes = {one.code for one in found if one.built} - {""}
    first = {found[k].code or str(k): k for k in reversed(unbuilt) if found[k].code not in codes}
    possible = sorted(first.values())
    ranked = sorted(possible, key=lambda index: found[index].time)[: request.top]
    if possible[:1] == [0] and 0 not in ranked:
        ranked[-1:] = [0]
    return ranked


def _built(one: Candidate, result: Built) -> Candidate:
    return replace(one, built=True, registers=result.registers, problem=result.problem)


def _measured(one: Candidate, request: Request, measure: Measure, code: bytes) -> Candidate:
    """A candidate that cannot be launched is out of the question."""
    config = one.config
    trial = Trial(
        request.kernel_of(config), request.grid_of(config), request.with_config(config), code
    )
    try:
        return replace(one, measured=measure(trial))
    except DriverError as error:
        return replace(one, problem=str(error))


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
    classes: object = [None if n is None else n.bit_length() for n in numbers]
    if request.shape_class is not None:
        classes = request.shape_class
    words = (repr(classes), str(dict(request.space)), request.target, str(is_measured), build_id())
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
