"""`cuda.tile.tune.exhaustive_search` where kernels are compiled here.

    every configuration -> its time by prediction (processes) -> on a GPU, the best eight
                                                                 are compiled and measured
                                                              -> without one, the prediction ranks

Configurations are whatever the program says they are: its functions give the kernel, the hints, the
grid and the arguments of each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, cast

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.executors import executor_named
from tileas_xdsl.frontend.cutile.kernels import parameters_of
from tileas_xdsl.frontend.cutile.tile_ir import export_bytecode
from tileas_xdsl.runtime.arguments.cutile_arguments import flattened
from tileas_xdsl.runtime.cutile import settings
from tileas_xdsl.tuning.candidates import Task, predict
from tileas_xdsl.tuning.prediction.launch_time import Predicted
from tileas_xdsl.tuning.prediction.scalar_values import numbers_of

TOP = 8
"""Configurations that are measured on a GPU."""

Failure = tuple[Any, type[BaseException], str]


@dataclass(frozen=True)
class Search:
    """The functions of a configuration that `exhaustive_search` is given."""

    grid: Callable[[Any], Sequence[int]]
    kernel: Any
    """A kernel, or the kernel of a configuration."""
    arguments: Callable[[Any], Sequence[Any]]
    hints: Callable[[Any], Mapping[str, Any]] | None

    def task(self, config: Any, target: str) -> Task:
        """Return a configuration for workers; raises what cuTile raises, and `DiagnosticError`."""
        is_kernel = hasattr(self.kernel, "_annotated_function")
        kernel = self.kernel if is_kernel else self.kernel(config)
        if self.hints is not None:
            kernel = kernel.replace_hints(**self.hints(config))
        values = self.arguments(config)
        parameters = parameters_of(kernel, values, is_dispatched=True)
        x, y, z = (*self.grid(config), 1, 1)[:3]
        flat = tuple(numbers_of(flattened(parameters, [_without_data(v) for v in values])))
        return Task(export_bytecode(kernel, parameters), target, flat, (int(x), int(y), int(z)))


def predicted_times(
    configs: Sequence[Any], search: Search, target: str
) -> tuple[Sequence[tuple[float, Any]], Sequence[Failure]]:
    """Return microseconds and configuration, the fastest first, and those that are refused."""
    times: list[tuple[float, Any]] = []
    failures: list[Failure] = []
    with executor_named(None) as executor:
        waiting: list[tuple[Any, Any]] = []
        for config in configs:
            try:
                waiting.append((config, executor.submit(predict, search.task(config, target))))
            except Exception as error:  # of cuTile, and of the functions of the program
                failures.append(_failure(config, error))
        for config, future in waiting:
            found = future.result()
            if isinstance(found, Predicted):
                times.append((found.microseconds, config))
            else:
                failures.append((config, DiagnosticError, found))
    return sorted(times, key=lambda pair: pair[0]), failures


def _without_data(value: Any) -> Any:
    """An argument whose arrays are as large, in memory of the host that nobody touches."""
    if isinstance(value, list | tuple):
        items = [_without_data(item) for item in cast("list[Any]", value)]
        return items if isinstance(value, list) else tuple(items)
    if not getattr(value, "is_cuda", False):
        return value
    torch: Any = import_module("torch")
    return torch.empty_strided(value.size(), value.stride(), dtype=value.dtype)


def _failure(config: Any, error: Exception) -> Failure:
    """What cuTile raised, where a diagnostic only says so."""
    found = error.__cause__ if isinstance(error, DiagnosticError) and error.__cause__ else error
    return config, type(found), str(error)


def search_by_prediction(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return `exhaustive_search` with predictions in front; `original` is cuTile's own."""

    def exhaustive_search(
        search_space: Sequence[Any],
        stream: Any,
        grid_fn: Callable[[Any], tuple[int, ...]],
        kernel: Any,
        args_fn: Callable[[Any], tuple[Any, ...]],
        hints_fn: Callable[[Any], dict[str, Any]] | None = None,
        *,
        quiet: bool = False,
        **options: Any,
    ) -> Any:
        """Search a space for the fastest configuration; without a GPU, by prediction alone."""
        from tileas_xdsl.tuning.measuring import launch_target

        emulates = settings.current.emulates
        configs = list(search_space)
        given = (stream, grid_fn, kernel, args_fn, hints_fn)
        if not configs or (not emulates and len(configs) <= TOP):
            return original(configs, *given, quiet=quiet, **options)
        search = Search(grid_fn, kernel, args_fn, hints_fn)
        times, failures = predicted_times(configs, search, launch_target())
        if emulates:
            return _ranked(times, failures, quiet=quiet)
        if not times:  # What cannot be predicted is measured, and cuTile says what it refuses.
            return original(configs, *given, quiet=quiet, **options)
        best = [config for _, config in times[:TOP]]
        found = original(best, *given, quiet=True, **options)
        joined = type(found)(
            best=found.best, successes=found.successes, failures=(*failures, *found.failures)
        )
        _show(joined, quiet=quiet)
        return joined

    return exhaustive_search


def _ranked(times: Sequence[tuple[float, Any]], failures: Sequence[Failure], *, quiet: bool) -> Any:
    """Return the result of a search whose times are predictions: of no sample."""
    if not times:
        config, kind, message = failures[0]
        raise ValueError(
            f"No valid config found in search space.\nConfig: {config}\n{kind.__name__}: {message}"
        )
    tune: Any = import_module("cuda.tile.tune")
    measured = [
        tune.Measurement(config=config, mean_us=time, num_samples=0, error_margin_us=0.0)
        for time, config in times
    ]
    found = tune.TuningResult(best=measured[0], successes=(*measured,), failures=(*failures,))
    _show(found, quiet=quiet)
    return found


def _show(result: Any, *, quiet: bool) -> None:
    if not quiet:
        sys.stdout.write(f"{result}\n")
