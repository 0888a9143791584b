"""Kernels on their way to the GPU: compile, run the PTX on the emulator, compare with numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from kernels.kernel import Deviation, Kernel, Sizes
from tileas_xdsl import CompiledKernel, compile
from tileas_xdsl.pipelines import PIPELINES

if TYPE_CHECKING:
    from tileas_xdsl.runtime.emulation import Emulation

ORDERS: Sequence[tuple[str, int]] = (
    *(("eager", 0), ("lazy", 0), ("random", 0), ("random", 1)),
    *(("drift", 0), ("drift", 1)),
)
"""When asynchronous operations complete; and with warps that fall behind."""

TWO_ORDERS = ORDERS[1:3]
"""For tests that run many kernels."""


@dataclass(frozen=True)
class EmulatedRun:
    """A run of a kernel's PTX and how far its results are from numpy's."""

    emulation: Emulation
    deviation: Deviation

    @property
    def is_right(self) -> bool:
        """Whether nothing was found and rounding explains every error."""
        found = self.emulation
        return not found.findings and found.finished and self.deviation.is_right


@lru_cache(maxsize=128)
def compiled(kernel: Kernel) -> CompiledKernel:
    """The kernel for its target; the same one is compiled once."""
    return compile(kernel.text(), kernel.target, passes=PIPELINES[kernel.pipeline].passes)


def emulated(
    kernel: Kernel, sizes: Sizes, order: tuple[str, int] = ("eager", 0), **options: Any
) -> EmulatedRun:
    """The kernel's PTX on random arguments, in an order of asynchronous operations."""
    inputs = kernel.make_inputs(np.random.default_rng(0), sizes)
    name, number = order
    emulation = compiled(kernel).emulate(
        *inputs, grid=kernel.grid(sizes), order=name, seed=number, **options
    )
    return EmulatedRun(emulation, kernel.check(inputs, emulation.arrays))
