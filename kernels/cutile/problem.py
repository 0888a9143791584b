"""A kernel of cuTile on arguments of one size, with what numpy computes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels.elements import Array
from kernels.kernel import Deviation, Grid, Reference, worst_deviation
from tileas_xdsl.compiler import CompiledKernel, compile

BOTH = ("sm_90a", "sm_100a")


@dataclass(frozen=True)
class Problem:
    """A launch: what is compiled for it, and what it should leave in its outputs."""

    name: str
    """The kernel, the sizes and the element types."""
    kernel: Any
    """A function of `cuda.tile.kernel`."""
    make: Callable[[np.random.Generator], Sequence[Any]]
    """Arguments as the kernel takes them: random inputs, outputs of NaN or noise, constants."""
    reference: Callable[[Sequence[Any]], Mapping[int, Reference]]
    """By the position of each output, what numpy computes of the arguments."""
    grid: Grid
    targets: Sequence[str] = BOTH

    def __str__(self) -> str:
        return self.name

    def arguments(self, seed: int = 0) -> Sequence[Any]:
        """Arguments of a launch; the same for the same seed."""
        return self.make(np.random.default_rng(seed))

    def compiled(self, target: str) -> CompiledKernel:
        """The kernel for the types, strides and constants of its arguments."""
        return compile(self.kernel, *self.arguments(), target=target)

    def check(self, arguments: Sequence[Any], outputs: Sequence[Any]) -> Deviation:
        """The worst deviation of the arrays after a run."""
        given = [as_array(value) for value in arguments]
        left = [as_array(value) for value in outputs]
        return worst_deviation(self.reference(arguments), given, left)


def as_array(value: Any) -> Array:
    """An argument, of which numbers may not change either."""
    return np.asarray(value)


@dataclass(frozen=True)
class Judged:
    """How far the results of a run are from numpy's, and what was found wrong with it."""

    deviation: Deviation
    findings: Sequence[object] = ()

    @property
    def is_right(self) -> bool:
        """Whether nothing was found and rounding explains every error."""
        return not self.findings and self.deviation.is_right

    def __str__(self) -> str:
        return "; ".join(map(str, self.findings)) or str(self.deviation)


def evaluated(problem: Problem, kernel: CompiledKernel, seed: int = 0) -> Judged:
    """A problem by the meaning of its Tile IR, which raises errors for what is undefined."""
    arguments = problem.arguments(seed)
    run = kernel.evaluate(*arguments, grid=problem.grid)
    return Judged(problem.check(arguments, run.arrays))


def simulated(problem: Problem, kernel: CompiledKernel, seed: int = 0) -> Judged:
    """A problem on the interpreter of tiles, which raises errors for what is wrong."""
    arguments = problem.arguments(seed)
    run = kernel.simulate(*arguments, grid=problem.grid)
    return Judged(problem.check(arguments, run.arrays))


def emulated(problem: Problem, kernel: CompiledKernel, seed: int = 0, **options: Any) -> Judged:
    """A problem on the emulator of PTX; the options are those of `CompiledKernel.emulate`."""
    arguments = problem.arguments(seed)
    run = kernel.emulate(*arguments, grid=problem.grid, **options)
    findings = run.findings if run.finished else (*run.findings, "some blocks do not end")
    return Judged(problem.check(arguments, run.arrays), findings)
