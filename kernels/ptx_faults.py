"""The PTX emulator's diagnostics of compiled kernels with one fault each.

`python -m kernels.ptx_faults` runs them all and prints the table (fault, found by, wrong results,
message).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kernels import Kernel, Sizes
from kernels.compiled import compiled
from kernels.ptx_mutations import NUMBERS, REFUSED, Call, PtxFault
from kernels.ptx_wrong_data import COPIES, PRODUCTS
from kernels.ptx_wrong_order import FENCES, PIPELINES
from kernels.ptx_wrong_scales import SCALES
from tileas_xdsl.interpreters.ptx import Finding
from tileas_xdsl.interpreters.ptx.errors import LaunchError
from tileas_xdsl.interpreters.ptx.execution.state import Order
from tileas_xdsl.runtime.emulation import emulate
from tileas_xdsl.target.kernel_abi import KernelAbi
from tileas_xdsl.tools.failures import ends_with_its_reader

PTX_FAULTS: Sequence[PtxFault] = (*FENCES, *PIPELINES, *COPIES, *PRODUCTS, *SCALES)
"""All faults, in the order of the table."""

Ordering: TypeAlias = tuple[Order, int]
"""An order of asynchronous operations, and the seed if it is a random one."""

ORDERS: Sequence[Ordering] = (
    *(("eager", 0), ("lazy", 0)),
    *(("random", k) for k in range(1, 5)),
    *(("drift", k) for k in range(1, 3)),
)
"""The orders that a row of the table tries."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of a run under one order of asynchronous operations."""

    findings: Sequence[Finding]
    is_right: bool
    """Whether the results are those of numpy, and the inputs as they were."""
    refusal: str = ""
    """Why the launch was refused, if it was."""

    @property
    def kinds(self) -> Sequence[str]:
        """The kinds of evidence that the kernel is wrong; empty if it is correct."""
        if self.refusal:
            return [REFUSED]
        if self.findings:
            return [*dict.fromkeys(finding.kind for finding in self.findings)]
        return [] if self.is_right else [NUMBERS]

    @property
    def story(self) -> str:
        """The messages and their notes."""
        lines = [line for found in self.findings for line in (found.message, *found.notes)]
        return "\n".join([self.refusal, *lines])

    def message(self, kinds: Sequence[str]) -> str:
        """The first message of one of some kinds; of a deadlock also what the barriers miss."""
        if self.refusal:
            return self.refusal
        found = next((one for one in self.findings if one.kind in kinds), None)
        if found is None:
            return ""
        return "; ".join([found.message, *(_reasons(found) if found.kind == "deadlock" else ())])


def _reasons(deadlock: Finding) -> Sequence[str]:
    """Return what keeps barriers from completing, or else what is waited for."""
    story = deadlock.notes
    short = [line for line in story if " registers; " in line]
    hints = [line for line in story if line.startswith("hint: ")]
    return [*dict.fromkeys(short or hints or story[:1])]


def judge(kernel: Kernel, sizes: Sizes, order: Ordering, ptx: str, abi: KernelAbi) -> Verdict:
    """Run PTX that stands for a kernel, on random arguments."""
    kind, seed = order
    inputs = kernel.make_inputs(np.random.default_rng(seed), sizes)
    try:
        run = emulate(ptx, abi, inputs, kernel.grid(sizes), order=kind, seed=seed)
    except LaunchError as error:
        return Verdict((), is_right=False, refusal=str(error))
    with np.errstate(all="ignore"):
        is_right = run.finished and kernel.check(inputs, run.arrays).is_right
    return Verdict(run.findings, is_right)


def judge_right(kernel: Kernel, sizes: Sizes, order: Ordering) -> Verdict:
    """Run a kernel as it was compiled."""
    right = compiled(kernel)
    return judge(kernel, sizes, order, right.ptx, right.abi)


def judge_wrong(fault: PtxFault, order: Ordering) -> Verdict:
    """Run the wrong kernel."""
    right = compiled(fault.kernel)
    abi = _changed(right.abi, fault.call)
    return judge(fault.kernel, fault.problem, order, fault.edit(right.ptx), abi)


def _changed(abi: KernelAbi, call: Call | None) -> KernelAbi:
    return abi if call is None else call(abi)


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    fault: PtxFault
    verdicts: Sequence[Verdict]

    @property
    def found(self) -> Sequence[Verdict]:
        """The verdicts of the orders that find the fault."""
        return [verdict for verdict in self.verdicts if verdict.kinds]

    @property
    def found_by(self) -> str:
        """The kinds of findings, and in how many orders if not in all."""
        counts = Counter(kind for verdict in self.verdicts for kind in verdict.kinds)
        kinds = sorted(counts, key=lambda kind: (kind not in self.fault.kinds, -counts[kind]))
        tried = len(self.verdicts)
        return ", ".join(
            kind if counts[kind] == tried else f"{kind} ({counts[kind]} of {tried})"
            for kind in kinds
        )

    @property
    def wrong_results(self) -> str:
        """In how many orders numpy computes something else."""
        wrong = sum(not verdict.is_right for verdict in self.verdicts)
        return f"{wrong} of {len(self.verdicts)}"

    @property
    def message(self) -> str:
        """The first message of the kinds that the fault is known by."""
        messages = [verdict.message(self.fault.kinds) for verdict in self.found]
        return next((f"`{message}`" for message in messages if message), "")


def row(fault: PtxFault, orders: Sequence[Ordering] = ORDERS) -> Row:
    """Try a fault under some orders."""
    return Row(fault, [judge_wrong(fault, order) for order in orders])


def table(faults: Sequence[PtxFault] = PTX_FAULTS, orders: Sequence[Ordering] = ORDERS) -> str:
    """The table in Markdown."""
    rows = [row(fault, orders) for fault in faults]
    lines = [f"| {r.fault.name} | {r.found_by} | {r.wrong_results} | {r.message} |" for r in rows]
    head = ["| fault | found by | wrong results | message |", "|---|---|---|---|"]
    return "\n".join([*head, *lines]) + "\n"


if __name__ == "__main__":
    with ends_with_its_reader():
        sys.stdout.write(table())
