"""A launch on several processes: each runs some of the clusters on shared arrays.

Blocks that exchange data run in one process; others can only conflict by a race, which is checked
when all have ended.
"""

from __future__ import annotations

import multiprocessing
import signal
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from mmap import mmap
from typing import Any, Protocol

import numpy as np
from xdsl.dialects import func
from xdsl.ir import Operation

from tileas_xdsl.diagnostics.emission import note
from tileas_xdsl.interpreters.tile.arguments import Arguments
from tileas_xdsl.interpreters.tile.faults import SimulationError, fault
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Memory, Record
from tileas_xdsl.interpreters.tile.numerics.element_types import Array
from tileas_xdsl.interpreters.tile.simulation import Grid, Progress, Simulation
from tileas_xdsl.interpreters.tile.tracing.trace import Trace


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


def can_fork() -> bool:
    """Return whether this platform can fork processes for a launch."""
    return "fork" in multiprocessing.get_all_start_methods()


def run_in_processes(launch: Launch, jobs: int, progress: Progress | None) -> Simulation:
    """Run all clusters in at most `jobs` processes; the first fault in block order is raised."""
    jobs = min(jobs, len(launch.clusters))
    if jobs < 2 or not can_fork():
        return launch.run(launch.clusters, progress)
    for memory in launch.arguments.memories:
        memory.replace(_shared_copy(memory.data))
    shares = _run_shares(launch, jobs, progress)
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


def _shared_copy(data: Array) -> Array:
    """Move the array to memory that forked processes share."""
    shared = np.frombuffer(mmap(-1, max(data.nbytes, 1)), dtype=np.uint8, count=data.nbytes)
    copy = shared.view(data.dtype).reshape(data.shape)
    copy[...] = data
    return copy


def _run_shares(launch: Launch, jobs: int, progress: Progress | None) -> list[_Share]:
    context: Any = multiprocessing.get_context("fork")
    _inherited["launch"] = launch
    clusters = launch.clusters
    size = max(1, len(clusters) // (4 * jobs))
    chunks = [clusters[k : k + size] for k in range(0, len(clusters), size)]
    shares: list[_Share] = []
    done, total = 0, len(clusters) * prod(launch.cluster)
    with _pool(context, jobs) as pool:
        for share in pool.imap(_run_share, chunks):
            if isinstance(share, SimulationError):
                raise share
            shares.append(share)
            done += share.blocks
            if progress is not None:
                progress(done, total)
    return shares


def _pool(context: Any, jobs: int) -> Any:
    """Return a pool of processes that ignore keyboard interrupts, which this one handles.

    They run nothing but this interpreter, so that forking in a thread is safe.
    """
    old = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return context.Pool(jobs)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)


_inherited: dict[str, Launch] = {}
"""The launch that forked processes inherit, since IR is not sent through pipes."""


def _run_share(clusters: Sequence[tuple[int, Grid]]) -> _Share | SimulationError:
    launch = _inherited["launch"]
    for memory in launch.arguments.memories:
        memory.forget()
    try:
        run = launch.run(clusters, None)
    except SimulationError as error:
        told = SimulationError(*error.diagnostics)
        told.printed = error.printed
        return told
    numbers = {op: number for number, op in enumerate(launch.kernel.walk())}
    records = [_records_of(memory, numbers) for memory in launch.arguments.memories]
    return _Share(run.cycles, run.operations, run.blocks, run.trace, run.printed, records)


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
    for number, memory in enumerate(launch.arguments.memories):
        shares = [share[number] for share in records]
        for mine, share in enumerate(shares):
            writes = [pair for pair in share if pair[0].is_write]
            for other, there in enumerate(shares):
                if writes and other != mine:
                    _check_pair(memory, operations, writes, there)


def _check_pair(
    memory: Memory,
    operations: Sequence[Operation],
    writes: Sequence[tuple[Record, int | None]],
    others: Sequence[tuple[Record, int | None]],
) -> None:
    for write, at in writes:
        for other, there in others:
            if not write.region.meets(other.region) or (write.is_strong and other.is_strong):
                continue
            place = memory.place(write.region.first_common(other.region))
            did = "wrote" if other.is_write else "read"
            here = None if there is None else operations[there]
            raise fault(
                None if at is None else operations[at],
                f"race on {memory.name}{place}: {write.owner} overwrites what {other.owner} {did}, "
                f"and nothing orders the two",
                notes=[note(here, f"{other.owner} {did} it here")],
            )
