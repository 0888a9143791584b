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
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from math import gcd
from typing import Any

from tileas_xdsl.frontend.array_arguments import array_facts
from tileas_xdsl.tuning.space import Config, Space, SpaceError
from tileas_xdsl.tuning.tuner import TOP, Request, TuningResult, tune

GridOfArguments = Callable[..., Sequence[int]]
"""Of a config and the arguments of a launch."""


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
    ) -> None:
        """Raises `SpaceError` for constants that are no parameters of the kernel."""
        self.kernel, self.space, self.grid = kernel, space, grid
        self.top, self.executor, self.target = top, executor, target
        self.names = list(inspect.signature(kernel._annotated_function.pyfunc).parameters)
        if wrong := [name for name in space if name not in self.names]:
            raise SpaceError(f"'{wrong[0]}' is no parameter; there are {', '.join(self.names)}")
        self.results: dict[object, TuningResult] = {}
        """By class of shapes, what was found in this process."""

    def tune(self, *arguments: Any, stream: Any = None) -> TuningResult:
        """Return the best constants for the arguments, which are all but the constants.

        They are measured where launches run on a GPU, else ranked by prediction.
        """
        from tileas_xdsl.tuning.measuring import gpu_measure, launch_target

        key = tuple(map(_class_of, arguments))
        if key not in self.results:
            request = Request(
                self.kernel,
                self._named(arguments),
                self.space,
                lambda config: self.grid(config, *arguments),
                self.target or launch_target(),
                self.top,
            )
            measure = gpu_measure(self.kernel, stream)
            self.results[key] = tune(request, executor=self.executor, measure=measure)
        return self.results[key]

    def __call__(self, *arguments: Any, stream: Any = None) -> None:
        """Launch with the best constants; raises as `tileas.launch`."""
        from tileas_xdsl.runtime.cutile.dispatch import launch

        best = self.tune(*arguments, stream=stream).best
        values = tuple({**self._named(arguments), **best}.values())
        launch(stream, tuple(self.grid(best, *arguments)), self.kernel, values)

    def _named(self, arguments: Sequence[Any]) -> dict[str, Any]:
        """All parameters in order: arguments, and the default of each constant."""
        free = [name for name in self.names if name not in self.space]
        if len(free) != len(arguments):
            raise TypeError(f"{len(arguments)} arguments; the kernel takes {', '.join(free)}")
        default: Config = {name: values[0] for name, values in self.space.items()}
        given = {**dict(zip(free, arguments, strict=True)), **default}
        return {name: given[name] for name in self.names}


def autotune(
    *,
    space: Space,
    grid: GridOfArguments,
    top: int = TOP,
    executor: Executor | str | None = None,
    target: str | None = None,
) -> Callable[[Any], AutotunedKernel]:
    """Tune the constants of a `@ct.kernel` when it is launched.

    `space` has the values of each constant, `grid` the grid for a config and the arguments of a
    launch.  The best `top` by prediction are compiled, through `executor`: one of
    `concurrent.futures`, or a name as `executors.executor_named` takes it.
    """
    return lambda kernel: AutotunedKernel(
        kernel, space, grid, top=top, executor=executor, target=target
    )


def _class_of(value: Any) -> object:
    """What arguments of one result have in common: type and extents by powers of two."""
    name = type(value).__name__
    if isinstance(value, int):
        return name, value.bit_length()
    found = array_facts(value)
    if found is None:
        return name
    counts = (*found.shape, *found.strides)
    return found.element, tuple((n.bit_length(), gcd(n, DIVISORS)) for n in counts)
