"""What the PTX emulator says of compiled kernels with one wrong line each.

`python -m kernels.ptx_faults` runs them all and prints the table (fault, found by, message).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from kernels import Kernel
from kernels.ptx_wrong_kernels import NUMBERS, PTX_FAULTS, PtxFault
from tileas_xdsl.compiler import CompiledKernel, compile
from tileas_xdsl.interpreters.ptx import Finding
from tileas_xdsl.interpreters.ptx.state import Order
from tileas_xdsl.runtime.emulation import emulate

RANDOM_ORDERS = 4
"""Random orders of a row, besides the eager and the lazy one."""


@dataclass(frozen=True)
class Verdict:
    """What one order of asynchronous operations shows."""

    findings: Sequence[Finding]
    is_right: bool
    """Whether the results are those of numpy, and the inputs as before."""

    @property
    def is_clean(self) -> bool:
        """Whether nothing tells that the kernel is wrong."""
        return self.is_right and not self.findings

    @property
    def kinds(self) -> Sequence[str]:
        """What tells: kinds of findings, or the numbers alone."""
        kinds = [*dict.fromkeys(finding.kind for finding in self.findings)]
        return kinds or ([] if self.is_right else [NUMBERS])


@cache
def compiled(kernel: Kernel) -> CompiledKernel:
    """The kernel as PTX; the same object every time."""
    return compile(kernel.text())


def judge(fault: PtxFault, order: Order, seed: int = 0) -> Verdict:
    """Run the wrong kernel on random arguments."""
    kernel, sizes = fault.kernel, fault.problem
    right = compiled(kernel)
    abi = fault.call(right.abi) if fault.call else right.abi
    inputs = kernel.make_inputs(np.random.default_rng(seed), sizes)
    run = emulate(
        fault.edit(right.ptx), abi, inputs, kernel.grid(sizes), order=order, seed=seed
    )
    return Verdict(run.findings, kernel.check(inputs, run.arrays).is_right)
