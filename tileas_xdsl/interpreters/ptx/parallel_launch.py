"""A launch in parts: each runs some of the clusters on a copy of global memory.

Any executor carries parts; what they have written is put together.  Clusters that exchange data
run in one process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.executors import Workers, opened, parts_for
from tileas_xdsl.interpreters.ptx.checking.global_memory.conflicts import LaunchShadow
from tileas_xdsl.interpreters.ptx.checking.global_memory.part_races import Footprint, PartRaces
from tileas_xdsl.interpreters.ptx.checking.reports.findings import Finding, Findings
from tileas_xdsl.interpreters.ptx.memory.global_memory import GlobalMemory
from tileas_xdsl.interpreters.ptx.parsing.syntax import Instruction, Kernel

Array = NDArray[Any]
Progress = Callable[[int, int], None]


class Launch(Protocol):
    """What is run: `ptx.launch.Launch`."""

    kernel: Kernel
    memory: GlobalMemory
    findings: Findings
    printed: list[str]
    checks: bool
    shadow: LaunchShadow

    @property
    def clusters(self) -> int:
        """The number of clusters of the grid."""
        ...

    def execute(self, numbers: Sequence[int], progress: Progress | None = None) -> tuple[int, bool]:
        """Run clusters by linear index; return executed instructions, and whether all finished."""
        ...


SHARED_BY_BLOCKS = ("atom", "red", "multimem", "call")
"""Instructions by which blocks may update one address, or print: such kernels run in one
process."""

ORDERED = {"acquire", "release", "relaxed", "volatile"}
"""Orders of loads and stores by which blocks may wait for each other: those kernels too."""


@dataclass(frozen=True)
class _Share:
    """What became of some clusters."""

    instructions: int
    finished: bool
    findings: Sequence[Finding]
    printed: Sequence[str]
    changes: Sequence[tuple[Array, Array]]
    """By buffer of global memory, the indices of bytes that are different, and the bytes."""
    footprints: Mapping[int, Footprint]
    """By address of a buffer, what the clusters have accessed of it."""


def execute(launch: Launch, workers: Workers, progress: Progress | None) -> tuple[int, bool]:
    """Run all clusters; return the executed instructions, and whether all clusters finished."""
    count = parts_for(workers, launch.clusters)
    if count < 2 or any(_meets_blocks(i) for i in launch.kernel.code):
        return launch.execute(range(launch.clusters), progress)
    parts = [range(part, launch.clusters, count) for part in range(count)]
    instructions, finished, done = 0, True, 0
    races = PartRaces(launch.findings)
    before = [buffer.data.copy() for buffer in launch.memory.buffers]
    shares: list[_Share] = []
    with opened(workers) as executor:
        running = [executor.submit(_work, launch, part) for part in parts]
        for future, part in zip(running, parts, strict=True):
            shares.append(future.result())
            done += len(part)
            if progress is not None:
                progress(done, launch.clusters)
    # Executors pickle a part when a worker is free: memory stays as it was until all have run.
    for share in shares:
        _merge(launch, share, races, before)
        instructions += share.instructions
        finished = finished and share.finished
    return instructions, finished


def _meets_blocks(instruction: Instruction) -> bool:
    """Return whether blocks may exchange data by an instruction while they run."""
    name, parts = instruction.parts[0], instruction.parts
    if name in ("ld", "st") and "shared" not in " ".join(parts):
        return not ORDERED.isdisjoint(parts)
    if parts[:2] == ("cp", "reduce"):
        return True
    return name in SHARED_BY_BLOCKS


def _merge(launch: Launch, share: _Share, races: PartRaces, before: Sequence[Array]) -> None:
    """Bring what other clusters have done into the memory and the findings of a launch."""
    if share.footprints:
        after = [_changed(old, change) for old, change in zip(before, share.changes, strict=True)]
        races.add(launch.memory.buffers, share.footprints, after)
    launch.findings.merge(share.findings)
    launch.printed.extend(share.printed)
    for buffer, (indices, values) in zip(launch.memory.buffers, share.changes, strict=True):
        buffer.data[indices] = values


def _changed(data: Array, change: tuple[Array, Array]) -> Array:
    found = data.copy()
    found[change[0]] = change[1]
    return found


def _work(launch: Launch, numbers: Sequence[int]) -> _Share:
    """Run clusters of a launch, which is a copy: memory is that before any cluster."""
    before = [buffer.data.copy() for buffer in launch.memory.buffers]
    instructions, finished = launch.execute(numbers)
    pairs = zip(before, launch.memory.buffers, strict=True)
    changed = [(np.flatnonzero(old != buffer.data), buffer.data) for old, buffer in pairs]
    changes = [(indices, data[indices]) for indices, data in changed]
    footprints = launch.shadow.footprints() if launch.checks else {}
    found = launch.findings.all()
    return _Share(instructions, finished, found, launch.printed, changes, footprints)
