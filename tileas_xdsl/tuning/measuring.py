"""Times of launches on a GPU, and the target of where launches run."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from tileas_xdsl.runtime.cutile import dispatch, settings
from tileas_xdsl.runtime.gpu.device import gpu
from tileas_xdsl.target.arch import target_of_capability
from tileas_xdsl.tuning.prediction import Grid
from tileas_xdsl.tuning.tuner import Measure

WARM_UP, ROUNDS = 3, 5
"""Launches that are not timed, and those that are, each with a cold L2 cache."""


def launch_target() -> str:
    """Return the target of kernels where launches run: the GPU's, or that of the emulator."""
    if settings.current.emulates:
        return settings.current.target
    major, minor = gpu().capability
    found = target_of_capability(10 * major + minor)
    return settings.current.target if found is None else found.name


def gpu_measure(kernel: Any, stream: Any = None) -> Measure | None:
    """Return what times launches of a cuTile kernel; None without a GPU."""
    if settings.current.emulates:
        return None

    def measure(grid: Grid, arguments: Sequence[Any]) -> float:
        """Return the median of launches, in microseconds."""
        given = tuple(arguments)
        times = [
            dispatch.measure(stream, grid, kernel, given, True) for _ in range(WARM_UP + ROUNDS)
        ]
        return statistics.median(times[WARM_UP:])

    return measure
