"""One launch on every level of IR: what Tile IR means, its tiles, its PTX on the emulator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.report import Diagnostic
from tileas_xdsl.interpreters.ptx import LaunchError, PtxError
from tileas_xdsl.runtime.array_comparison import Difference, first_difference

TILE_IR, TILES, PTX = "tileir", "tile", "ptx"
"""The levels, as `tileas simulate --level` names them."""

_TOLERANCES: Mapping[str, float] = {
    "float64": 2.0**-30,
    "float32": 2.0**-12,
    "float16": 2.0**-7,
    "bfloat16": 2.0**-5,
}
"""How much sums in another order and functions within their errors may change elements."""
_COARSEST = 2.0**-2
"""Of narrower floats: one step."""


@dataclass(frozen=True)
class LevelResult:
    """What a launch computes on a level, beside the first level that it ran on."""

    level: str
    difference: Difference | None = None
    problem: str = ""
    """What is wrong with the run: a finding, a fault, a refusal."""
    diagnostics: Sequence[Diagnostic] = ()

    @property
    def is_right(self) -> bool:
        """Whether it ran, and computed the same."""
        return self.difference is None and not self.problem


class Levels(Protocol):
    """A kernel that runs on several levels, as `CompiledKernel` does."""

    tile_ir: ModuleOp | None

    def evaluate(self, *args: Any, grid: int | Sequence[int]) -> Any:
        """Run the Tile IR."""
        ...

    def simulate(self, *args: Any, grid: int | Sequence[int]) -> Any:
        """Run the tiles."""
        ...

    def emulate(self, *args: Any, grid: int | Sequence[int]) -> Any:
        """Run the PTX."""
        ...


def compare_levels(
    kernel: Levels,
    args: Sequence[Any],
    grid: int | Sequence[int],
    tolerance: float | None,
) -> Iterator[LevelResult]:
    """Run a kernel on its levels, and compare each with the first that ran.

    Without a tolerance it depends on the element type; 0 is bit for bit.
    """
    levels: dict[str, Callable[..., Any]] = {TILES: kernel.simulate, PTX: kernel.emulate}
    if kernel.tile_ir is not None:
        levels = {TILE_IR: kernel.evaluate, **levels}
    reference: Sequence[Any] | None = None
    for level, run in levels.items():
        try:
            found = run(*args, grid=grid)
        except DiagnosticError as error:
            yield LevelResult(level, problem="the run fails", diagnostics=error.diagnostics)
            continue
        except (LaunchError, PtxError) as error:
            yield LevelResult(level, problem=str(error))
            continue
        if findings := getattr(found, "findings", ()):
            yield LevelResult(level, problem=str(findings[0]))
            continue
        arrays = list(_leaves(found.arrays))
        reference = arrays if reference is None else reference
        yield LevelResult(level, difference_of(reference, arrays, tolerance))


def difference_of(
    expected: Sequence[Any], found: Sequence[Any], tolerance: float | None
) -> Difference | None:
    """The first argument that differs between two levels."""
    for index, (old, new) in enumerate(zip(expected, found, strict=True)):
        limit = tolerance_of(old) if tolerance is None else tolerance
        difference = first_difference([old], [new], limit)
        if difference is not None:
            return replace(difference, argument=index)
    return None


def tolerance_of(value: Any) -> float:
    """How far elements may be apart on two levels, relative to those larger than 1."""
    dtype = np.asarray(value).dtype
    return 0.0 if dtype.kind in "iub" else _TOLERANCES.get(dtype.name, _COARSEST)


def _leaves(values: Sequence[Any]) -> Iterator[Any]:
    """The arrays and numbers of arguments, some of which are lists and tuples of them."""
    for value in values:
        if isinstance(value, list | tuple):
            yield from _leaves(cast("Sequence[Any]", value))
        elif isinstance(value, np.ndarray | np.generic | int | float):
            yield value
