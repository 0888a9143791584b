"""Races on global memory between parts of a launch that run apart.

Clusters of different parts never meet: kernels whose clusters exchange data run in one part.  So a
unit of memory that one part writes and another one reads or writes is a race; values that are the
same are a note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.checking.global_memory.shadow import AccessPlane, GlobalShadow
from tileas_xdsl.interpreters.ptx.checking.reports.findings import Findings
from tileas_xdsl.interpreters.ptx.checking.vector_clocks import TICK
from tileas_xdsl.interpreters.ptx.memory.global_memory import Buffer

Array = NDArray[Any]


@dataclass(frozen=True)
class Footprint:
    """What a part has accessed in a buffer: by unit of so many bytes, the instruction that wrote
    it last and one that read it, plus 1; 0 for none."""

    unit: int
    writes: Array
    reads: Array

    def of_unit(self, unit: int) -> Footprint:
        """Return the same in smaller units."""
        times = self.unit // unit
        return Footprint(unit, np.repeat(self.writes, times), np.repeat(self.reads, times))


def footprint_of(shadow: GlobalShadow) -> Footprint:
    """Return what a shadow knows, the accesses of all clusters joined."""
    writes, reads = np.zeros(shadow.count, np.int32), np.zeros(shadow.count, np.int32)
    if shadow.writer is not None:
        _put(writes, shadow.writer)
    for plane in shadow.readers or ():
        _put(reads, plane)
    for units, _, stamps in shadow.pending:
        reads[units] = (stamps & _INSTRUCTION) + 1
    return Footprint(shadow.unit, writes, reads)


_INSTRUCTION = TICK - 1
"""The bits of a stamp that are the instruction."""


def _put(found: Array, plane: AccessPlane) -> None:
    there = np.flatnonzero(plane.who)
    found[there] = (plane.stamp[there] & _INSTRUCTION) + 1


@dataclass
class PartRaces:
    """The footprints of the parts so far, joined."""

    findings: Findings
    _joined: dict[int, Footprint] = field(default_factory=dict[int, Footprint])

    def add(
        self, buffers: Sequence[Buffer], found: Mapping[int, Footprint], after: Sequence[Array]
    ) -> None:
        """Compare a part with those before; `after` is what it left in the buffers, whose data are
        what the others have left."""
        for buffer, data in zip(buffers, after, strict=True):
            mine, others = found.get(buffer.base), self._joined.get(buffer.base)
            if mine is None:
                continue
            if others is None:
                self._joined[buffer.base] = mine
                continue
            unit = min(mine.unit, others.unit)
            mine, others = mine.of_unit(unit), others.of_unit(unit)
            self._compare(buffer, data, mine, others)
            joined = (np.maximum(a, b) for a, b in
                      ((mine.writes, others.writes), (mine.reads, others.reads)))  # fmt: skip
            self._joined[buffer.base] = Footprint(unit, *joined)

    def _compare(self, buffer: Buffer, data: Array, mine: Footprint, others: Footprint) -> None:
        both = np.flatnonzero((mine.writes > 0) & (others.writes > 0))
        if both.size:
            start = both * mine.unit
            bytes_ = (start[:, None] + np.arange(mine.unit)).clip(max=len(data) - 1)
            differ = (data[bytes_] != buffer.data[bytes_]).any(1)
            kind = "race-WAW" if differ.any() else "same-value"
            unit = int(both[np.flatnonzero(differ)[0] if differ.any() else 0])
            self._report(kind, buffer, unit * mine.unit, mine.writes[unit], others.writes[unit])
        for reads, writes in ((mine.reads, others.writes), (others.reads, mine.writes)):
            crossed = np.flatnonzero((reads > 0) & (writes > 0))
            if crossed.size:
                unit = int(crossed[0])
                self._report("race-RAW", buffer, unit * mine.unit, reads[unit], writes[unit])

    def _report(self, kind: str, buffer: Buffer, offset: int, here: int, there: int) -> None:
        if self.findings.has(kind, int(here) - 1):
            return
        does = "reads" if kind == "race-RAW" else "writes"
        text = (
            f"{does} {buffer.name}+{offset:#x}, which another block wrote; nothing orders the two"
        )
        text += "; the value is the same" if kind == "same-value" else ""
        notes = [
            f"the other block was there at {self.findings.line_of(int(there) - 1)}",
            "hint: blocks are ordered by a release (of scope gpu) on a flag, and an acquire by "
            "those who read it",
        ]
        self.findings.add(kind, int(here) - 1, f"a block {text}", notes)
