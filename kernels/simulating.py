"""Kernels on the tile interpreter: parse, run, compare with numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from kernels.elements import Array
from kernels.kernel import Deviation, Kernel, Sizes
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.installed import registered_context
from tileas_xdsl.interpreters.tile.launch import Schedule, Simulation, simulate


@dataclass(frozen=True)
class Run:
    """A simulated launch and how far its results are from numpy's."""

    simulation: Simulation
    deviation: Deviation


def parse(text: str, *, verified: bool = True) -> ModuleOp:
    """The module of a kernel's text."""
    ctx = registered_context()
    module = parse_module(ctx, text, "kernel.mlir")
    if verified:
        verify_module(module)
    return module


def run(
    kernel: Kernel,
    sizes: Sizes | None = None,
    schedule: Schedule | None = None,
    *,
    data: int = 0,
    module: ModuleOp | None = None,
    trace: bool = False,
    resident: int | None = None,
) -> Run:
    """The kernel on random arguments made from `data`, in the order that `schedule` says.

    `module` is its parsed text, if it is at hand; `resident` clusters run at once.
    """
    sizes = kernel.sizes if sizes is None else sizes
    inputs = kernel.make_inputs(np.random.default_rng(data), sizes)
    simulation = simulate(
        parse(kernel.text()) if module is None else module,
        list(inputs),
        grid=kernel.grid(sizes),
        schedule=schedule or Schedule(),
        target=kernel.target,
        trace=trace,
        resident=resident,
    )
    arrays = cast("Sequence[Array]", simulation.arrays)
    return Run(simulation, kernel.check(inputs, arrays))


def schedules(seeds: int) -> Sequence[Schedule]:
    """Round robin, the adversary, and so many random orders."""
    fixed = (Schedule("round-robin"), Schedule("adversarial"))
    return (*fixed, *(Schedule("random", seed) for seed in range(seeds)))
