"""A compiled kernel on the PTX emulator, with the arguments of the kernel of tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.backend.ptx.abi import BoundTensorMap, KernelAbi
from tileas_xdsl.interpreters.ptx import Finding, Report, TensorMapArg, load, run
from tileas_xdsl.interpreters.ptx.launch import Progress, Shape
from tileas_xdsl.interpreters.ptx.state import Order

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Emulation:
    """What a run of PTX gave."""

    arrays: Sequence[Any]
    """The arguments afterwards; scalars as they were."""
    findings: Sequence[Finding]
    """What is wrong with the program; nothing if it is right."""
    instructions: int
    """Of gangs: one that a warpgroup executes together counts once."""
    finished: bool
    """Whether all blocks came to their end."""


def emulate(
    ptx: str,
    abi: KernelAbi,
    args: Sequence[Any],
    grid: Shape = 1,
    *,
    order: Order = "eager",
    seed: int = 0,
    checks: bool = True,
    jobs: int = 1,
    progress: Progress | None = None,
    limit: float = inf,
) -> Emulation:
    """Run PTX that was compiled from a kernel of tiles; the arrays stay as they are.

    Each argument has memory of its own, also where one array is given twice.  `order` says when
    asynchronous operations complete: eager, lazy, or random by `seed`.  A run is given up when a
    cluster has executed `limit` instructions.  Raises `LaunchError` for what does not fit,
    `PtxError` for instructions the emulator does not know.
    """
    own = _apart(args)
    report = run(
        load(ptx, f"{abi.name}.ptx"),
        abi.name,
        [_argument(value, own) for value in abi.bind(own)],
        grid,
        dynamic_shared=abi.shared_bytes,
        order=order,
        seed=seed,
        checks=checks,
        jobs=jobs,
        progress=progress,
        limit=limit,
    )
    arrays = _arrays(report, abi, own)
    return Emulation(arrays, report.findings, report.instructions, report.finished)


def _apart(args: Sequence[Any]) -> list[Any]:
    """Contiguous arrays, each its own: an array that is given twice becomes two."""
    found: list[Any] = []
    for value in args:
        own = value
        if isinstance(value, np.ndarray):
            own = np.ascontiguousarray(cast("Array", value))
            own = own.copy() if any(own is other for other in found) else own
        found.append(own)
    return found


def _argument(value: Any, args: Sequence[Any]) -> Any:
    if isinstance(value, BoundTensorMap):
        return TensorMapArg(value.tensor_map, args[value.argument])
    return value


def _arrays(report: Report, abi: KernelAbi, args: Sequence[Any]) -> Sequence[Any]:
    """What the parameters hold, by the arguments they came from."""
    found = list(args)
    for name, array in zip(abi.parameters, report.arrays, strict=True):
        kind, position, *_ = [*name.split(), ""]
        if kind == "ptr" and array is not None:
            found[int(position)] = array
    return found
