"""A launch in parts: each runs some of the clusters on a copy of the arrays.

Any executor carries parts; what they have written is put together.  Blocks that exchange data run
in one process; others can only conflict by a race, which is checked when all have ended.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from math import prod
from typing import Protocol

import numpy as np
from xdsl.dialects import func
from xdsl.ir import Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import note
from tileas_xdsl.executors import Workers, opened, parts_for
from tileas_xdsl.interpreters.tile.arguments import Arguments
from tileas_xdsl.interpreters.tile.faults import SimulationError, fault
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Memory, Record
from tileas_xdsl.interpreters.tile.numerics.element_types import Array
from tileas_xdsl.interpreters.tile.simulation import Grid, Progress, Simulation
from tileas_xdsl.interpreters.tile.tracing.trace import Trace
from tileas_xdsl.layout.integers import ceil_div

CHUNKS = 2
"""Chunks of clusters for each worker: some take longer than others."""


class Launch(Protocol):
    """The launch to run: `launch.Launch`."""

    kernel: func.FuncOp
    arguments: Arguments
    cluster: Grid
    clusters: Sequence[tuple[int, Grid]]

    def run(self, clusters: Sequence[tuple[int, Grid]], progress: Progress | None) -> Simulation:
        """Run some of the clusters in this process."""
        ...


@dataclass(frozen=True)
class _Share:
    """The result of a process; operations are identified by their index in the kernel."""

    cycles: int
    operations: int
    blocks: int
    trace: Trace
    printed: str
    records: Sequence[Sequence[tuple[Record, int | None]]]
    """By argument, the accesses that must not conflict with those of other processes."""
    changes: Sequence[tuple[Array, Array]]
    """By argument, the indices of bytes that are different, and the bytes."""


def run_in_parts(launch: Launch, workers: Workers, progress: Progress | None) -> Simulation:
    """Run all clusters, in parts if workers are given; the first fault in block order is raised."""
    if parts_for(workers, len(launch.clusters)) < 2:
        return launch.run(launch.clusters, progress)
    shares = _run_shares(launch, workers, progress)
    # Each share wrote to a copy of memory. In block order, their changes leave what one run would,
    # unless blocks race, which is checked next.
    for share in shares:
        for memory, (indices, values) in zip(launch.arguments.memories, share.changes, strict=True):
            memory.bytes[indices] = values
    _check_races(launch, [share.records for share in shares])
    trace = Trace([span for share in shares for span in share.trace.spans])
    return Simulation(
        launch.arguments.results(),
        max(share.cycles for share in shares),
        sum(share.operations for share in shares),
        sum(share.blocks for share in shares),
        trace,
        "".join(share.printed for share in shares),
    )


def _run_shares(launch: Launch, workers: Workers, progress: Progress | None) -> list[_Share]:
    clusters = launch.clusters
    size = ceil_div(len(clusters), CHUNKS * parts_for(workers, len(clusters)))
    chunks = [clusters[k : k + size] for k in range(0, len(clusters), size)]
    shares: list[_Share] = []
    done, total = 0, len(clusters) * prod(launch.cluster)
    content = pickle.dumps(launch)
    with opened(workers) as executor:
        waiting = [executor.submit(_run_share, content, chunk) for chunk in chunks]
        for future in waiting:
            share = future.result()
            if isinstance(share, SimulationError):
                for other in waiting:
                    other.cancel()
                raise share
            shares.append(share)
            done += share.blocks
            if progress is not None:
                progress(done, total)
    return shares


def _run_share(content: bytes, clusters: Sequence[tuple[int, Grid]]) -> _Share | SimulationError:
    """Run clusters of a launch, which is a copy: memory is that before any cluster."""
    launch: Launch = pickle.loads(content)
    memories = launch.arguments.memories
    before = [memory.bytes.copy() for memory in memories]
    try:
        run = launch.run(clusters, None)
    except SimulationError as error:
        reported = SimulationError(*error.diagnostics)
        reported.printed = error.printed
        return reported
    numbers = {op: index for index, op in enumerate(launch.kernel.walk())}
    records = [_records_of(memory, numbers) for memory in memories]
    pairs = zip(before, memories, strict=True)
    changed = [(np.flatnonzero(old != memory.bytes), memory.bytes) for old, memory in pairs]
    changes = [(indices, data[indices]) for indices, data in changed]
    return _Share(run.cycles, run.operations, run.blocks, run.trace, run.printed, records, changes)


def _records_of(memory: Memory, numbers: dict[Operation, int]) -> list[tuple[Record, int | None]]:
    """Return the recorded accesses of a memory; reads matter only if some process writes."""
    return [
        (record.without_op(), None if record.op is None else numbers.get(record.op))
        for record in memory.records()
    ]


def _check_races(
    launch: Launch, records: Sequence[Sequence[Sequence[tuple[Record, int | None]]]]
) -> None:
    """Report a block that writes memory which a block of another process accesses."""
    operations = list(launch.kernel.walk())
    for position, memory in enumerate(launch.arguments.memories):
        shares = [share[position] for share in records]
        for index, share in enumerate(shares):
            writes = [pair for pair in share if pair[0].is_write]
            for other, there in enumerate(shares):
                if writes and other != index:
                    _check_pair(memory, operations, writes, there)


def _check_pair(
    memory: Memory,
    operations: Sequence[Operation],
    writes: Sequence[tuple[Record, int | None]],
    others: Sequence[tuple[Record, int | None]],
) -> None:
    for write, at in writes:
        for other, there in others:
            if not write.region.overlaps(other.region) or (write.is_strong and other.is_strong):
                continue
            byte = memory.coordinates_text(write.region.first_common(other.region))
            did = "wrote" if other.is_write else "read"
            here = None if there is None else operations[there]
            raise fault(
                None if at is None else operations[at],
                f"race on {memory.name}{byte}: {write.owner} overwrites what {other.owner} {did}, "
                f"and nothing orders the two",
                notes=[note(here, f"{other.owner} {did} it here")],
            )
