"""Times of launches on a GPU, and the target of where launches run."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np

from tileas_xdsl.interpreters.tile.numerics.element_types import Array
from tileas_xdsl.runtime.cutile import dispatch, settings
from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.runtime.gpu.device import gpu
from tileas_xdsl.runtime.gpu.device_arrays import DeviceArray, row_major_strides
from tileas_xdsl.target.arch import target_of_capability
from tileas_xdsl.tuning.tuner import Measure, Trial

WARM_UP, ROUNDS = 3, 5
"""Launches that are not timed, and those that are, each with a cold L2 cache."""
ALL_ROUNDS = WARM_UP + ROUNDS

DEFAULT_STREAM = 0
"""The handle of the driver's default stream."""


def launch_target() -> str:
    """Return the target of kernels where launches run: the GPU's, or that of the emulator."""
    if settings.current.emulates:
        return settings.current.target
    major, minor = gpu().capability
    found = target_of_capability(10 * major + minor)
    return settings.current.target if found is None else found.name


def gpu_measure(stream: Any = None) -> Measure | None:
    """Return what times launches of candidates; None without a GPU.

    Launches go to the default stream where none is given.  Arrays of numpy are copied to the GPU
    once; what kernels write stays there.  Nothing is compiled: candidates bring their code.
    """
    if settings.current.emulates:
        return None
    copies: dict[int, DeviceArray] = {}

    def measure(trial: Trial) -> float:
        """Return the median of launches, in microseconds."""
        given = tuple(_on_gpu(value, copies) for value in trial.arguments)
        dispatch.provide(trial.kernel, given, Executable.from_bytes(trial.code))
        used = DEFAULT_STREAM if stream is None else stream
        launch = (used, trial.grid, trial.kernel, given, True)
        return statistics.median([dispatch.measure(*launch) for _ in range(ALL_ROUNDS)][WARM_UP:])

    return measure


def _on_gpu(value: Any, copies: dict[int, DeviceArray]) -> Any:
    """An array of numpy as one in the memory of the GPU; other values as they are."""
    seen: object = value
    if not isinstance(seen, np.ndarray):
        return value
    array: Array = value
    if id(array) not in copies:
        memory = gpu().memory(max(array.nbytes, 1))
        memory.write(np.ascontiguousarray(array))
        strides = row_major_strides(array.shape, array.dtype.itemsize)
        copies[id(array)] = DeviceArray(
            memory.pointer, array.shape, strides, array.dtype, 0, read_only=False, owner=memory
        )
    return copies[id(array)]
