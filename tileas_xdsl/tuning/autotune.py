"""`@tileas.autotune`: a cuTile kernel that finds its constants when it is launched.

@tileas.autotune(
    space={"tm": (64, 128), "tn": (64, 128, 256)},
    grid=lambda config, a, b, c: (cdiv(c.shape[0], config["tm"]), cdiv(c.shape[1], config["tn"])),
)
@ct.kernel
def matmul(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int]): ...

matmul(a, b, c)                        tunes once for each class of shapes, and launches
matmul.tune(a, b, c).best              {"tm": 128, "tn": 256}: constants for `ct.launch`
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Executor
from math import gcd
from typing import Any

from tileas_xdsl.frontend.array_arguments import array_facts
from tileas_xdsl.tuning.hints import HINTS, HintedKernels, check_hints
from tileas_xdsl.tuning.results import TuningResult
from tileas_xdsl.tuning.space import Config, Space, SpaceError
from tileas_xdsl.tuning.tuner import TOP, Request, tune

GridOfArguments = Callable[..., Sequence[int]]
"""Of a config and the arguments of a launch."""

KeyOf = Callable[..., Hashable]
"""Of the arguments of a launch: launches of the same key share their constants."""

DIVISORS = 16
"""Extents and strides that are alike in what they share with this are of one class."""


class AutotunedKernel:
    """A kernel with a space of constants; the first value of each is the default."""

    def __init__(
        self,
        kernel: Any,
        space: Space,
        grid: GridOfArguments,
        *,
        top: int = TOP,
        executor: Executor | str | None = None,
        target: str | None = None,
        key: KeyOf | None = None,
    ) -> None:
        """Raises `SpaceError` for constants that are no parameters of the kernel."""
        self.kernel, self.space, self.grid = kernel, space, grid
        self.top, self.executor, self.target = top, executor, target
        self.names = list(inspect.signature(kernel._annotated_function.pyfunc).parameters)
        self.key = key or _classes_of
        hints = dict.fromkeys((name for name in space if name not in self.names), 0)
        check_hints(hints)
        if wrong := [name for name in hints if name not in HINTS]:
            known = ", ".join((*self.names, *HINTS))
            raise SpaceError(f"'{wrong[0]}' is no parameter and no hint; there are {known}")
        self.is_keyed = key is not None
        self.kernels: dict[str, HintedKernels] = {}
        """By target, the kernel with the hints that were tried."""
        self.results: dict[object, TuningResult] = {}
        """By class of shapes, what was found in this process."""

    def tune(self, *arguments: Any, stream: Any = None) -> TuningResult:
        """Return the best constants for the arguments, which are all but the constants.

        They are measured where launches run on a GPU, else ranked by prediction.
        """
        from tileas_xdsl.tuning.measuring import gpu_measure, launch_target

        key = self.key(*arguments)
        if key not in self.results:
            target = self.target or launch_target()
            request = Request(
                self.kernel,
                self._named(arguments),
                self.space,
                lambda config: self.grid(config, *arguments),
                target,
                self.top,
                key if self.is_keyed else None,
                self.kernels.setdefault(target, HintedKernels(self.kernel, target)),
            )
            measure = gpu_measure(stream)
            self.results[key] = tune(request, executor=self.executor, measure=measure)
        return self.results[key]

    def __call__(self, *arguments: Any, stream: Any = None) -> None:
        """Launch with the best constants; raises as `tileas.launch`."""
        from tileas_xdsl.runtime.cutile.dispatch import launch

        found = self.tune(*arguments, stream=stream)
        named = {**self._named(arguments), **found.best}
        values = tuple(named[name] for name in self.names)
        hints = {name: value for name, value in found.best.items() if name not in self.names}
        kernels = self.kernels.setdefault(found.target, HintedKernels(self.kernel, found.target))
        grid = tuple(self.grid(found.best, *arguments))
        launch(stream, grid, kernels.of(hints), values)

    def _named(self, arguments: Sequence[Any]) -> dict[str, Any]:
        """All parameters in order: arguments, and the default of each constant."""
        free = [name for name in self.names if name not in self.space]
        if len(free) != len(arguments):
            raise TypeError(f"{len(arguments)} arguments; the kernel takes {', '.join(free)}")
        constants = [name for name in self.names if name in self.space]
        default: Config = {name: self.space[name][0] for name in constants}
        given = {**dict(zip(free, arguments, strict=True)), **default}
        return {name: given[name] for name in self.names}


def autotune(
    *,
    space: Space,
    grid: GridOfArguments,
    top: int = TOP,
    executor: Executor | str | None = None,
    target: str | None = None,
    key: KeyOf | None = None,
) -> Callable[[Any], AutotunedKernel]:
    """Tune the constants and hints of a `@ct.kernel` when it is launched.

    `space` has the values of each constant and hint (`tuning.hints`), `grid` the grid for a config
    and the arguments of a launch.  Launches of the same `key`, a hashable function of the
    arguments, share one search: by default extents and strides by powers of two.  The best `top` by
    prediction are compiled, through `executor`: one of `concurrent.futures`, or a name as
    `executors.executor_named` takes it.
    """
    return lambda kernel: AutotunedKernel(
        kernel, space, grid, top=top, executor=executor, target=target, key=key
    )


def _classes_of(*arguments: Any) -> Hashable:
    return tuple(map(_class_of, arguments))


def _class_of(value: Any) -> Hashable:
    """The key of a cached choice: argument types, and extents rounded to powers of two."""
    name = type(value).__name__
    if isinstance(value, int):
        return name, value.bit_length()
    found = array_facts(value)
    if found is None:
        return name
    counts = (*found.shape, *found.strides)
    return found.element, tuple((n.bit_length(), gcd(n, DIVISORS)) for n in counts)
