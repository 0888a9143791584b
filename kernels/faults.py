"""The interpreter's diagnostics of wrong kernels, by schedule.

`python -m kernels.faults` runs them all and prints the table (fault, found by, message).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from kernels.simulating import parse, schedules
from kernels.wrong_kernels import FAULTS, Fault
from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.diagnostics.report import Diagnostic
from tileas_xdsl.interpreters.tile.launch import Schedule, simulate
from tileas_xdsl.tools.failures import ends_with_its_reader

SEEDS = 20


@dataclass(frozen=True)
class Finding:
    """The diagnostic of a fault under one schedule; empty if undetected."""

    schedule: Schedule
    diagnostics: Sequence[Diagnostic] = ()

    @property
    def story(self) -> str:
        """The message and its notes."""
        return "\n".join(
            line
            for diagnostic in self.diagnostics
            for line in (diagnostic.message, *(note.message for note in diagnostic.notes))
        )

    @property
    def places(self) -> Sequence[int]:
        """The lines that the message points to; for a deadlock those of the waiting agents too."""
        found = [
            (d, *d.notes) if d.message.startswith("deadlock") else (d,) for d in self.diagnostics
        ]
        locations = [one.location for several in found for one in several]
        return [location.line for location in locations if location is not None]


def find(fault: Fault, schedule: Schedule, module: ModuleOp | None = None) -> Finding:
    """Run the wrong kernel on random arguments; `module` is its parsed text, if it is at hand."""
    module = module or parse(fault.text, verified=not fault.refused)
    kernel, sizes = fault.kernel, fault.problem
    inputs = kernel.make_inputs(np.random.default_rng(0), sizes)
    try:
        simulate(module, list(inputs), grid=kernel.grid(sizes), schedule=schedule)
    except OpError as error:
        return Finding(schedule, error.diagnostics)
    return Finding(schedule)


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    fault: Fault
    found: Sequence[Finding]
    """The findings of the schedules that find it, the fixed ones first."""
    tried: int

    @property
    def found_by(self) -> str:
        """Which schedules find it, and whether the verifier does."""
        verifier = "the verifier, " if self.fault.refused else ""
        if len(self.found) == self.tried:
            return f"{verifier}every schedule"
        return f"{verifier}{len(self.found)} of {self.tried} schedules"

    @property
    def message(self) -> str:
        """The message of the first that finds it; of a deadlock also what the barriers miss."""
        if not self.found:
            return "not found"
        first = self.found[0].diagnostics[0]
        missing = [note.message for note in first.notes if " misses " in note.message]
        return "; ".join(dict.fromkeys([first.message, *missing]))


def row(fault: Fault, seeds: int = SEEDS) -> Row:
    """Try a fault under round robin, the adversary and random schedules."""
    tried = schedules(seeds)
    module = parse(fault.text, verified=not fault.refused)
    findings = [find(fault, schedule, module) for schedule in tried]
    return Row(fault, [finding for finding in findings if finding.diagnostics], len(tried))


def table(faults: Sequence[Fault] = FAULTS, seeds: int = SEEDS) -> str:
    """The table in Markdown."""
    rows = [row(fault, seeds) for fault in faults]
    lines = [f"| {r.fault.name} | {r.found_by} | `{r.message}` |" for r in rows]
    return "\n".join(["| fault | found by | message |", "|---|---|---|", *lines]) + "\n"


if __name__ == "__main__":
    with ends_with_its_reader():
        sys.stdout.write(table())
